"""Recitals of L7 to L11: what a person would say is heard, in either language; what is left out is missed."""

import pytest

from tests.learn.course.driving import chapter
from whybox.learn.course.reciting import hear

TOLD = {
    ("l07", "en"): """
        Cutting the width into heads gives each head its own subspace and its own pattern, with the same number
        of parameters as one big head. In GQA several query heads share one key and value head, in MQA all of
        them do. The cache is smaller, and fewer bytes are read for every token. Not saved are the scores: there
        is still one matrix for every query head, so scores per query head stay. Finally W_O mixes the heads;
        only that is added to the stream.""",
    ("l07", "zh"): (
        "把宽度切成多个头，每个头有自己的子空间和自己的看法，参数量和单头一样多，没有增加参数。GQA 里同组的 Q 头共"
        "用一个 K 头和一个 V 头，MQA 是所有 Q 头共用。这样缓存变小，每个 token 要读的字节也少。分数矩阵没省，仍然每"
        "个 Q 头一张。最后 W_O 把各头混合，加进残差流的是它的结果。"
    ),
    ("l08", "en"): """
        LayerNorm subtracts the mean and divides by the spread, so it ignores shift and scale. RMSNorm ignores
        the scale alone. The epsilon stands inside the root. In the MLP the gate decides how much of the value
        passes; there are three matrices, so f is two thirds of 4c. x + f(x) has the derivative I + J, a highway.
        A final norm stands before the head because nobody normalises the stream.""",
    ("l08", "zh"): (
        "LayerNorm 减均值再除以离散程度，对平移和缩放都不敏感；RMSNorm 只对缩放不敏感。ε 在根号里面，取值看配置。"
        "MLP 里的门决定值能通过多少；多了一个矩阵，所以 f 缩到 4c 的三分之二。x + f(x) 的导数是 I + J，梯度不会消失"
        "。最后一个归一化在输出头之前，因为残差流本身从未归一化。"
    ),
    ("l09", "en"): """
        Text is cut into tokens, ids. Each id picks a row of the embedding. An RMSNorm comes first. Then the
        projections: query, key and value, and RoPE turns query and key. The dot product is divided by the root
        of d: the scores. The causal mask hides what is later. Softmax makes weights. With them the values are
        mixed. The heads are put side by side and go through W_O, and that is added. Another norm, the MLP, added
        again. After all blocks one last norm and the head give logits. From them the next token is chosen.""",
    ("l09", "zh"): (
        "先把文本切成 token，得到 id。每个 id 查表取嵌入的一行。先做一次 RMSNorm。然后投影出 Q、K、V，RoPE 旋转 Q "
        "和 K。点积除以 √d 得到分数。因果掩码遮住后面的位置。softmax 得到权重。对 V 加权求和。各头拼接，乘 W_O，加"
        "回去。再归一化，过 MLP，再相加。所有块之后最后归一化一次，过输出头得到 logits。最后选出下一个 token。"
    ),
    ("l10", "en"): """
        Keys, already turned, and values are kept. They cannot change because of the mask: later tokens never
        reach them. Old queries are done, their rows are finished; the new query reads all keys. Memory grows
        linearly. Without the cache every prefix would be computed again. As lengths differ, memory would
        fragment; pages of fixed blocks avoid that.""",
    ("l10", "zh"): (
        "留下的是旋转过的 K 和 V。它们不变是因为因果掩码，后来的 token 影响不到它们。旧的 Q 已经用完，那些行早就算"
        "好了；新的 Q 要读全部旧的 K。显存与长度成正比。没有缓存，每个前缀都要重算。请求长度不一，显存会碎，所以按"
        "块分页。"
    ),
    ("l11", "en"): """
        The time is n², every kernel computes all scores; the memory is linear, since tiles are forgotten. The
        safe softmax takes three reads, the online one two, and with the values carried along one pass is enough,
        if sum and values are rescaled at a new peak. Exact is not bit-exact: the order of summation changes the
        rounding. A softmax in FP32 guards the precision of the sum, not against NaN. To judge a difference I
        look at the floor, at ties and drift, and whether it vanishes in fp32.""",
    ("l11", "zh"): (
        "计算时间是 n²，哪个 kernel 都要算全部分数；显存是线性的，因为分块算完就丢。安全 softmax 读三遍，在线读两遍"
        "，带着 V 一起累加只读一遍，出现新的最大值时把总和与 V 重新缩放。精确不等于 bit-exact：求和次序会改变舍入。"
        "FP32 的 softmax 保的是求和精度，防不了 NaN。看到差异先看底噪、平局和漂移，再看换成fp32 会不会消失。"
    ),
}  # fmt: skip
TOLD = {key: " ".join(text.split()) for key, text in TOLD.items()}


@pytest.mark.parametrize(("name", "lang"), TOLD)
def test_a_whole_recital_is_heard(name: str, lang: str) -> None:
    heard = hear(chapter(name).recite, TOLD[name, lang])
    assert (heard.missing, heard.out_of_order) == ((), ())


@pytest.mark.parametrize(("name", "lang"), TOLD)
def test_one_sentence_is_not_a_recital(name: str, lang: str) -> None:
    """The middle sentence alone leaves most of the stations out."""
    stop = "。" if lang == "zh" else "."
    sentences = TOLD[name, lang].split(stop)
    heard = hear(chapter(name).recite, sentences[len(sentences) // 2])
    assert len(heard.missing) >= len(chapter(name).recite.stations) // 2


def test_the_route_backwards_is_out_of_order() -> None:
    backwards = ". ".join(reversed(TOLD["l09", "en"].split(".")))
    heard = hear(chapter("l09").recite, backwards)
    assert heard.missing == ()
    assert len(heard.out_of_order) >= 6
