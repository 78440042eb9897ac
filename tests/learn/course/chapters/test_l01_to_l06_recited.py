"""What a good recital says is heard in both languages, and silence is not."""

import pytest

from tests.learn.course.driving import chapter
from whybox.learn.course.reciting import hear

TOLD = {
    ("l01", "en"): (
        "The tokenizer cuts text into ids, and every id takes one row of the table. A row is the same wherever the "
        "token stands, so it is not a sentence vector. One-hot times table is the same, but nobody builds that. Text "
        "is a view; the ids are the truth."
    ),
    ("l01", "zh"): (
        "tokenizer 把文本切成 id，每个 id 从表里取一行。同一个 token 总是同一行，它不是句向量。one-hot "
        "乘以表结果相同，但没人这样建。文本只是视图，id 才是真相。"
    ),
    ("l02", "en"): (
        "Without a mask attention is equivariant: permute the inputs and the outputs are permuted. A causal mask "
        "tells the order from the second layer on. The code is added, and the original scales embeddings by the "
        "square root of c, or the code would drown them."
    ),
    ("l02", "zh"): (
        "没有 mask 时注意力是置换等变的，打乱输入，输出跟着打乱。causal mask 本身就带来顺序，从第二层起。"
        "位置编码是相加，不是拼接，原始做法先乘 √c。"
    ),
    ("l03", "en"): (
        "Queries and keys are rotated, values are not. Every pair turns at its own speed, so the product depends on "
        "the relative position. Long prompts bring new distances."
    ),
    ("l03", "zh"): (
        "旋转的是 query 和 key，不是 value。每一对维度有自己的转速，点积只取决于距离。长 prompt 会出现没见过的距离。"
    ),
    ("l05", "en"): (
        "Each product has mean zero. Its variance is one times one. There are d of them, independent, and they add "
        "up to d. The sd is √d, so we divide by it. We assumed unit variance, as at initialisation; training ends "
        "that."
    ),
    ("l05", "zh"): (
        "每个乘积的均值是零。方差是一乘一。d 项独立，相加得 d。标准差是根号 d，除掉它。前提是元素方差为 1，"
        "像初始化时那样；训练之后就不再成立。"
    ),
    ("l06", "en"): (
        "A token sees itself and what is behind it, a lower triangle. The mask stands before the softmax, or hidden "
        "scores stay in the denominator. Padding is another rule. A late correction reaches the last row only."
    ),
    ("l06", "zh"): (
        "token 看得到自己和前面，是下三角。mask 要在 softmax 之前，否则分母里还有被屏蔽的分数。补齐是另一条规则。"
        "后来的更正只有后面的行看得到。"
    ),
}


@pytest.mark.parametrize(("name", "lang"), TOLD)
def test_every_station_is_heard(name: str, lang: str) -> None:
    heard = hear(chapter(name).recite, TOLD[name, lang])
    assert (heard.missing, heard.out_of_order) == ((), ())


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in TOLD))
def test_other_talk_is_not(name: str) -> None:
    for other in ("The weather was fine.", "今天天气很好。"):
        assert hear(chapter(name).recite, other).found == ()


def test_a_proof_told_backwards_is_out_of_order() -> None:
    backwards = " ".join(reversed(TOLD["l05", "en"].split(". ")))
    assert hear(chapter("l05").recite, backwards).out_of_order
