"""What a verdict adds to its grounds, what a candidate lacks, and what to do next: English and Chinese."""

from whybox.verdict.leaf import Lack
from whybox.verdict.remarks import Remark

REMARKS: dict[Remark, tuple[str, str]] = {
    Remark.GUESSED: (
        "the case names no evidence: {evidence} was taken for it, since the right answer stands there; that it answers the question "
        "was not checked, and a boost makes a model repeat it in any case",
        "用例没有指明证据：因为 {evidence} 含有正确答案，就以它充当证据；它是否回答了问题未经核实，而增强本来就会让模型重复它",
    ),
    Remark.NEARER: (
        "the answer given stands in {nearer}, which shares more words with the question than the evidence does: check whether the "
        "declared right answer is the answer to this question",
        "所给的答案写在 {nearer} 里，它与问题共有的词比证据更多：请核对所声明的正确答案是否回答了这个问题",
    ),
    Remark.DEMANDED: (
        "the prompt itself asks for the wrong answer: {demanded} orders it, and without {demanded} the answer is right; to obey is no "
        "failure to read the evidence",
        "提示本身就要求给出错误答案：{demanded} 这样要求，去掉它答案就正确；照要求作答不算没有读证据",
    ),
    Remark.DEMANDED_TOO: (
        "the wrong answer is ordered in {demanded}; without {demanded} alone the answer is not right either",
        "{demanded} 要求给出错误答案；但只去掉它，答案也不正确",
    ),
    Remark.SUPPLIED: (
        "without {supplied_by} the answer given is another one: the prompt supplied what it rests on, perhaps in other words",
        "去掉 {supplied_by} 后给出的答案就不同：答案所依据的内容由提示提供，可能是另一种说法",
    ),
    Remark.ALONE_OFF_FORM: (
        "with the evidence alone the value is right and its form is another one, so that the evidence was read",
        "只留证据时数值正确，只是形式不同，可见证据被读到了",
    ),
    Remark.PATH_DEPENDENT: (
        "path-dependent: behind “{prefix}” the right answer is ahead of the wrong one (LD {forced}), on the model's own path it "
        "is not (LD {own}); the lead is what was compared",
        "与作答路径有关：接在“{prefix}”之后，正确答案领先于错误答案（LD {forced}），按模型自己的路径则不然（LD {own}）；这里比较的是领先",
    ),
    Remark.OFF_FORM: ("the form “{off_form}…” is missing as well: a change is asked for its value alone", "形式“{off_form}…”也缺失：判断改动只看数值"),
    Remark.BORDER: ("p is at the border: one more sham that flips would leave none", "p 值恰在界限上：再有一个对照翻转，原因就不成立"),
    Remark.RIGHT_FIRST: (
        "the answer states the right answer and another one, the right one first, where the right one leads (LD {own}): whether "
        "the second value may stand there is for the case to say, and no fault of reading is shown",
        "答案给出了正确答案，之后又给出另一个；在先给出正确答案之处它领先（LD {own}）：能否再写第二个数值由用例决定，这里没有证实任何读取上的错误",
    ),
    Remark.RIGHT_LATER: (
        "the answer states the right answer as well, behind another one (LD {own} at the first): it may answer more than was asked, "
        "and that the evidence was passed over is not shown",
        "答案先给出另一个数值，之后也给出了正确答案（在前者处 LD {own}）：它可能答了没有问的内容，不能证实证据被忽略",
    ),
    Remark.ORDER_BOTH: (
        "in another order ({several}) the answer states the right answer beside another one: the order matters as well, though it "
        "does not undo the failure",
        "换一种顺序（{several}）时，答案同时给出正确答案和另一个：顺序也有影响，但不足以消除错误",
    ),
    Remark.ROLES_TOO: (
        "the parts stand in messages of different roles, so that another order exchanges their roles as well: which of the two matters "
        "was not told apart",
        "这些部分位于不同角色的消息中，换序也就调换了角色：起作用的是顺序还是角色，未加区分",
    ),
    Remark.BOOST_COPIES: (
        "{copied} of the boosts of other text make the value that stands there the answer: a boost makes the model repeat what it "
        "is made to look at",
        "对其他文本的增强中有 {copied} 个使那里的数值成为答案：增强会让模型重复它被迫去看的内容",
    ),
    Remark.MECHANISM_NOT_SHOWN: ("order, mechanism not shown: no attention edge flips it", "顺序起作用，但机制未证实：没有任何注意力边能翻转它"),
    Remark.LIFT_NOT_LOW: (
        "its share is not low for its length: that more of it turns the answer right is all that is shown",
        "按长度算它所得的注意力并不低：所证实的只是再多一些就使答案正确",
    ),
    Remark.LIFT_LOW: ("its share is low for its length all the same", "不过按长度算它所得的注意力偏低"),
    Remark.TOTAL_NOT_NULL: (
        "hiding the evidence from every later position moves the metric beyond its null all the same",
        "不过对之后所有位置隐藏证据会使指标变化超出零分布",
    ),
    Remark.ZERO_ONLY: (
        "the removal is a zero ablation, which is off-distribution; mean and resample ablation were not run",
        "该移除是置零消融，偏离了正常分布；没有做均值与重采样消融",
    ),
    **dict.fromkeys((Remark.NO_EVIDENCE_NAMED, Remark.NO_EVIDENCE_BUT_FACT), (
        "the case names no evidence, so evidence alone, other orders and boosting were not run",
        "用例没有指明证据，因此没有做只留证据、换顺序与增强的实验",
    )),
    Remark.STATED_UNNAMED: (
        "the words of the right answer stand in {stated_in}, and the case names no evidence: whether they answer the question there was "
        "not checked, and evidence alone, other orders and boosting were not run",
        "{stated_in} 里有正确答案的字样，而用例没有指明证据：那里是否回答了问题未经核实，也没有做只留证据、换顺序与增强的实验",
    ),
    Remark.EVIDENCE_SILENT: (
        "no part named as evidence states the right answer as the scorer reads it: check `evidence` first",
        "被指为证据的部分都没有（按评分器的读法）给出正确答案：请先检查 `evidence`",
    ),
    Remark.WRONG_STATED: (
        "the wrong answer stands in {wrong_stated} itself: an answer that is copied from there was not remembered",
        "错误答案就写在 {wrong_stated} 里：从那里照抄的答案不是记忆",
    ),
    Remark.MEMORY_OPEN: (
        "without the evidence and what stands beside it the model gives the same wrong answer, so that memory may stand against the text; but none of the heads "
        "and MLPs that were set to zero, alone or in small sets, gives the right one, so that is not shown",
        "去掉证据及其旁边的材料后，模型给出同样的错误答案，可能是旧知识与文本相左；但把头与 MLP 逐个或成小组置零，都得不到正确答案，因此未能证实",
    ),
    Remark.STATED_BESIDE: (
        "the words of the right answer stand outside the evidence as well, in {stated_beside}; whether they are said there of what the "
        "question asks was not checked, and what the evidence itself does is then hard to tell",
        "证据之外也有正确答案的字样（{stated_beside}）；那里说的是否是所问之事未经核实，因此难以看出证据本身的作用",
    ),
    Remark.STATED_ELSEWHERE: (
        "as the scorer reads it, the right answer stands in {stated_beside} and not in the evidence",
        "按评分器的读法，含有正确答案的是 {stated_beside}，而不是证据",
    ),
    Remark.CUT_SHORT: (
        "the answer was cut by its limit of tokens before it gave a whole value; written on, it gives one: raise the limit",
        "回答还没给出完整的答案就被 token 上限截断；继续写下去就会给出：请提高上限",
    ),
    Remark.CUT_BY_CASE: (
        "the limit of tokens that the case states cut the answer before it gave a whole value; written on, it gives one",
        "回答还没给出完整的答案就被用例所设的 token 上限截断；继续写下去就会给出",
    ),
    Remark.READERS_NOT_RUN: (
        "whether the evidence was looked at but not used is open: patching of the heads that read it was not run",
        "证据是否被看到却未被使用尚无定论：没有做读取头的激活替换",
    ),
    Remark.STATED_DECODING: (
        "changed prompts were answered under the decoding that the case states: what the model does with the evidence alone when "
        "it decodes greedily was not run",
        "改动后的提示都按用例所述的解码方式作答：只留证据并用贪心解码时会怎样，没有做",
    ),
    Remark.STATED_DECODING_ONE: (
        "this very prompt was decoded greedily too; what the changes of it do when the model decodes greedily was not run",
        "这个提示本身也用贪心解码写过；各种改动在贪心解码时会怎样，没有做",
    ),
    Remark.BOOST_FLIPS: (
        "“{boost}” turns the answer right; that names a cause only where the evidence alone is right",
        "“{boost}”使答案正确；只有在只留证据时答案正确，才能据此指明原因",
    ),
    Remark.RIGHT_WITHOUT: (
        "without the evidence and what stands beside it the answer is right as well: the evidence is not needed for it",
        "去掉证据及其旁边的材料后答案也正确：答案并不需要证据",
    ),
    Remark.NEEDS_NO_EVIDENCE: (
        "Warning: without the evidence and what stands beside it the answer is right as well",
        "警告：去掉证据及其旁边的材料后答案也正确",
    ),
    Remark.NOT_ON_EVIDENCE: (
        "Warning: cutting the evidence off does not lower the metric beyond floor and null",
        "警告：切断证据没有使指标下降到同时超出底噪与零分布",
    ),
}  # fmt: skip

RIGHT: dict[str, tuple[str, str]] = {
    "none": ("The answer written here is right", "这里写出的答案是正确的"),
    "rests": ("cutting {about} lowers the metric beyond floor and null", "切断 {about} 使指标下降，超出底噪与零分布"),
    "rests.none": (
        "what cutting {about} takes away exceeds the floor, and no other span of its length exists to compare it with",
        "切断 {about} 的影响超出底噪，但没有同样长度的其他片段可作比较",
    ),
    "rests.few": (
        "what cutting {about} takes away exceeds the floor, and too few other spans of its length exist to tell it from chance",
        "切断 {about} 的影响超出底噪，但同样长度的其他片段太少，无法与偶然区分",
    ),
    "rests.other-way": (
        "cutting {about} lowers the metric beyond the floor, as hardly any other span of its length does; but others raise it as "
        "much, and p, which counts both ways, is above .05",
        "切断 {about} 使指标下降到超出底噪，同样长度的其他片段几乎都不能使它下降这么多；但有的能使它上升同样多，而 p 升降都计，因此高于 .05",
    ),
    "rests.nothing": (
        "no single part, cut off, lowers the metric beyond both floor and null",
        "没有哪一部分在单独切断时使指标下降到同时超出底噪与零分布",
    ),
}  # fmt: skip
"""Of a right answer, and of what it rests on."""

SHAMS: dict[str, tuple[str, str]] = {
    "shams": ("{flipped} of {n} shams do (p = {p})", "{n} 个对照中有 {flipped} 个能做到（p = {p}）"),
    "shams.rivals": (
        "{rivals} of them boost text that holds the wrong answer or another value in the right one's unit, the others text that "
        "holds neither",
        "其中 {rivals} 个增强的是含有错误答案或同单位其他数值的文本，其余增强的文本两者都不含",
    ),
    "shams.all_rivals": (
        "all of them boost text that holds the wrong answer or another value in the right one's unit",
        "它们增强的都是含有错误答案或同单位其他数值的文本",
    ),
    "shams.no_rival": (
        "none of them boosts text that holds the wrong answer or another value in the right one's unit, so that they are hardly "
        "comparable in kind",
        "其中没有一个增强含有错误答案或同单位其他数值的文本，因此在性质上难以相比",
    ),
    "shams.edge": (
        "of the same edit elsewhere {flipped} of {n} do (p = {p})",
        "同样的改动放在别处，{n} 个中有 {flipped} 个能做到（p = {p}）",
    ),
    "shams.order": (
        "An order has no shams: any other order is itself a change of that kind",
        "顺序没有对照：其他任何一种顺序本身都是同类改动",
    ),
    "shams.order.two": (
        "An order has no shams: two parts have one other order, which is this one",
        "顺序没有对照：两个部分只有一种其他顺序，就是这一种",
    ),
    "shams.fact": (
        "The shams are its own words without the answer, in other orders",
        "对照是去掉答案后的同样词语，按其他次序排列",
    ),
}  # fmt: skip

LACKS: dict[Lack, tuple[str, str]] = {
    Lack.NO_FLIP: ("its change does not turn the answer right", "其改动不能使答案正确"),
    Lack.NO_SHAMS: ("no shams were run", "没有做对照"),
    Lack.FEW_SHAMS: ("too few shams exist for p ≤ .05", "对照太少，达不到 p ≤ .05"),
    Lack.SHAMS_FLIP: ("shams turn the answer right as well", "对照也使答案正确"),
    Lack.VARIANTS: ("it fails in too many variants", "在太多变体中不成立"),
    Lack.NO_EDGE: ("moving a part does it, no edge does, and too few variants confirm it", "移动能做到，但没有边能做到，且变体不足以证实"),
    Lack.EDGE_UNPROVEN: (
        "moving a part does it, an edge does it too without all that a proof takes{edge}, and too few variants confirm it",
        "移动能做到，一条边也能做到，但缺少证明所需的条件{edge}，且变体不足以证实",
    ),
    Lack.EDGE_CUT: (
        "moving a part does it, no edge does as far as an answer was given before the limit, and too few variants confirm it",
        "移动能做到；在上限之前给出答案的边都做不到，且变体不足以证实",
    ),
    Lack.FOLLOWS: ("with another value in the evidence the answer moves to it", "证据中的数值一变，答案就随之改变"),
    Lack.UNREAD: (
        "with the evidence hidden it turns the answer right as well, so the answer does not rest on it",
        "隐藏证据时它同样使答案正确，可见答案并不依据证据",
    ),
    Lack.SEVERAL: (
        "the answer states the right answer already, beside another one",
        "答案里已经有正确答案，只是还有另一个",
    ),
    Lack.WRONG_STATED: (
        "the prompt itself holds the wrong answer, so that it was remembered is not shown",
        "提示本身就含有错误答案，不能证实它来自记忆",
    ),
    Lack.SUPPLIED: (
        "the answer given rests on a sentence of the prompt, which may state the fact in other words",
        "所给的答案依据提示中的某句话，该句可能以另一种说法给出了这一事实",
    ),
    Lack.KNOWN: (
        "the question alone, without the rest of the prompt, is answered right, so that nothing is missing that the fact would supply",
        "只问这个问题、去掉提示的其余部分时，答案就正确，可见并不缺少这一事实",
    ),
    Lack.LEADS_ALONE: (
        "behind the question alone, without the rest of the prompt, the right answer leads the wrong one: what stands before the "
        "question may have led the model astray",
        "只问这个问题、去掉提示的其余部分时，正确答案领先于错误答案：可能是问题之前的内容把模型引偏了",
    ),
    Lack.DEMANDED: (
        "the prompt orders the wrong answer, and without the order the answer is right",
        "提示要求给出错误答案，去掉这一要求答案就正确",
    ),
    Lack.GUESSED: (
        "what was taken for the evidence shares no word with the question",
        "被当作证据的句子与问题没有共同的词",
    ),
    Lack.NO_LEAD: (
        "the right answer does not lead where the written path decides, so that the decoding alone lost it is not shown",
        "在所写路径的决定之处正确答案并不领先，不能证实它只是被解码方式丢掉的",
    ),
    Lack.NO_OWN: ("neither answer stands in what was written, so that no lead on its path could be measured (LD is read at the start)",
        "写出的文字里两个答案都没有，无法测量所写路径上的领先（LD 在回答开始处读取）"),
    Lack.NOT_CONTAINED: ("a smaller change does the same", "更小的改动同样有效"),
}  # fmt: skip

NEXT: dict[str, tuple[str, str]] = {
    "order": ("Run this case in every order of its parts, and with the evidence at every place.", "把该用例的各部分按每种顺序各跑一次，并把证据放到每个位置。"),
    "context-use": ("Move the same evidence to every place, and last; keep this case as a regression test.", "把同一证据移到每个位置、移到最后再测；并把该用例留作回归测试。"),
    "knowledge": ("Test the conflict in both directions: context right and memory wrong, and the reverse.", "两个方向都测：上下文对而记忆错，以及反过来。"),
    "knowledge.missing": (
        "Put the fact into the prompt; where it may be absent, test that the model then declines.",
        "把这一事实写进提示；若它可能缺失，再测试模型此时是否拒答。",
    ),
    "decoding": ("Decode greedily, or choose by first-token probability.", "用贪心解码，或按首 token 概率选择。"),
    "decoding.limit": (
        "Raise the limit that the case states (`decoding.max_tokens`), or ask for a shorter answer.",
        "提高用例所述的上限（`decoding.max_tokens`），或要求更短的回答。",
    ),
    "format": ("State the answer prefix in the prompt, or force it.", "在提示中写明答案前缀，或强制该前缀。"),
    "implementation": ("Compare both ways of computing on the same ids, and report the first site at which they part.", "在同样的 id 上比较两种计算方式，并报告最先分开的位置。"),
    "template": ("Pin the ids, and compare the rendered text of both sides.", "固定 id，并比较两侧渲染后的文本。"),
    "joint": ("Keep a test for each of the two causes.", "为两个原因各保留一个测试。"),
    "none": ("Keep it as a regression test.", "作为回归测试保留。"),
    "not-determined.not-reproduced-here": (
        "What is right here stays tested: keep the case as a regression test.",
        "这里正确的要继续正确：把该用例留作回归测试。",
    ),
    "not-determined.cut-short": (
        "Then explain the answer that comes; see everything that was tried below.",
        "再解释那时的回答；已做的全部尝试见下。",
    ),
    "not-determined": ("Keep the bare case as a known failure; see everything that was tried below.", "把原用例作为已知失败保留；已做的全部尝试见下。"),
}  # fmt: skip

TRY_REASON: dict[str, tuple[str, str]] = {
    "not-reproduced-here": (
        "Write under `observed` what is known of that run, and run it again under those settings.",
        "把那次运行的已知条件写进 `observed`，再用同样的设置运行。",
    ),
    "path-dependent": (
        "State in the prompt how the answer must begin, and ask again.",
        "在提示中写明答案应如何开头，再问一次。",
    ),
    "beyond-the-model": (
        "Ask a larger model the same, or word the evidence as the question is worded.",
        "用更大的模型问同样的问题，或按问题的说法改写证据。",
    ),
    "demanded": (
        "Take the order out of the prompt, or declare what it orders as the right answer.",
        "从提示中去掉这一要求，或把它所要求的声明为正确答案。",
    ),
    "several-answers": (
        "Ask for one value only, or write the case so that it accepts the second one.",
        "要求只答一个数值，或改写用例，允许出现第二个。",
    ),
}  # fmt: skip

TRY_REMARK: dict[Remark, tuple[str, str]] = {
    Remark.GUESSED: ("Write a case file that names the evidence.", "请写一个指明证据的用例文件。"),
    Remark.NEARER: ("Check the declared right answer against {nearer}.", "对照 {nearer} 核对所声明的正确答案。"),
    Remark.SUPPLIED: (
        "Make {supplied_by} a part of its own, where it is none, and name it under `evidence`.",
        "把 {supplied_by} 单独成为一个部分（若还不是），并写进 `evidence`。",
    ),
    Remark.ALONE_OFF_FORM: (
        "State in the prompt how the answer must be written, and ask again.",
        "在提示中写明答案应怎样书写，再问一次。",
    ),
    Remark.WRONG_STATED: (
        "Take the wrong answer out of {wrong_stated}, and see whether it still comes.",
        "把错误答案从 {wrong_stated} 中去掉，看它是否仍会出现。",
    ),
    Remark.STATED_UNNAMED: (
        "Where {stated_in} answers the question, name it under `evidence`.",
        "若 {stated_in} 回答了问题，把它写进 `evidence`。",
    ),
    Remark.NO_EVIDENCE_NAMED: (
        "Name the evidence, or give the missing fact with --fact.",
        "指明证据，或用 --fact 给出缺少的事实。",
    ),
    Remark.NO_EVIDENCE_BUT_FACT: (
        "Name the evidence, where the prompt holds any.",
        "若提示中有证据，请指明。",
    ),
    Remark.MEMORY_OPEN: (
        "Ask about an invented name, of which nothing can be remembered: where the text is followed then, memory stood against it.",
        "换成一个虚构的名字再问（对它不可能有记忆）：若此时答案依从文本，与文本相左的就是旧知识。",
    ),
    Remark.BOOST_FLIPS: (
        "Repeat the evidence right before the question, since more attention to it gives the right answer.",
        "把证据紧挨着问题再写一遍：对它的注意力增强时答案就正确。",
    ),
    Remark.EVIDENCE_SILENT: ("Check which part states the right answer.", "检查是哪一部分给出了正确答案。"),
    Remark.CUT_SHORT: ("Raise the limit of tokens (-n).", "提高 token 上限（-n）。"),
    Remark.CUT_BY_CASE: (
        "Raise the limit that the case states (`decoding.max_tokens`), or ask for a shorter answer.",
        "提高用例所述的上限（`decoding.max_tokens`），或要求更短的回答。",
    ),
}  # fmt: skip

TRY_LACK: dict[Lack, tuple[str, str]] = {
    **dict.fromkeys((Lack.NO_LEAD, Lack.NO_OWN), (
        "Ask with “{what}”, and explain what is wrong then, if anything is: the stated settings take part in this failure.",
        "改用“{what}”再问；若仍有错误，再解释那时的错误：所述的解码设置参与了这次出错。",
    )),
    Lack.FEW_SHAMS: (
        "For “{what}” more shams are needed: a longer prompt has more spans to compare with, a model with more heads more heads.",
        "“{what}”需要更多对照：提示越长，可比较的片段越多；头越多的模型，可比较的头越多。",
    ),
    Lack.SHAMS_FLIP: (
        "“{what}” works at other places too: look at how near to a tie the answer stands, and vary the wording.",
        "“{what}”放在别处也有效：看答案离平局有多近，并换用不同的措辞再测。",
    ),
    Lack.VARIANTS: (
        "“{what}” undoes some variants and not others: compare those in which it does with those in which it does not.",
        "“{what}”只对部分变体有效：比较有效与无效的变体。",
    ),
    Lack.NO_EDGE: ("Give the case at least eight variants.", "给用例至少八个变体。"),
    Lack.EDGE_UNPROVEN: ("Give the case at least eight variants.", "给用例至少八个变体。"),
    Lack.EDGE_CUT: ("Give the case at least eight variants.", "给用例至少八个变体。"),
    Lack.FOLLOWS: (
        "The evidence is read for other values: try other right values, and other words for this one.",
        "换成别的数值时证据是被读到的：试试其他正确值，以及这个值的其他写法。",
    ),
    Lack.KNOWN: (
        "Look at what stands before the question: without it the answer is right, so that it leads the model astray.",
        "看看问题之前写了什么：去掉它答案就正确，可见是它把模型引偏了。",
    ),
    Lack.LEADS_ALONE: (
        "Take parts out of what stands before the question, one by one: without all of it the right answer is ahead.",
        "逐个去掉问题之前的部分再试：全部去掉时正确答案领先。",
    ),
    Lack.UNREAD: (
        "“{what}” needs no evidence: the right answer may be a guess; try values that nobody would guess.",
        "“{what}”不需要证据：正确答案可能是猜的；换成猜不到的数值再试。",
    ),
}  # fmt: skip
