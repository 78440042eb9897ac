"""Errors in the reader's language. They are raised in English, one line of cause and one of remedy.

    in_language("the prompt is empty", "zh")   → 提示词为空

A blank {} stands for whatever the sentence was filled with; what is put into a sentence may be a sentence itself. One
that is not listed is shown as it is, behind what kind of error it is.
"""

from functools import cache

from whybox import errors
from whybox.errors import WhyboxError
from whybox.report.document import Lang

DEEP = 4  # sentences within each other; names may hold colons without end

KINDS: dict[type[WhyboxError], str] = {
    errors.PromptError: "提示词无法运行",
    errors.CaseError: "用例有误",
    errors.SiteError: "模型中没有这个位置",
    errors.ModelNotFound: "找不到模型",
    errors.UsageError: "无法这样做",
    errors.FormatError: "模型文件自相矛盾",
    errors.LedgerError: "文件与模型的张量对不上",
    errors.UnsupportedError: "尚不支持",
    errors.DownloadError: "无法取得模型",
    errors.StorageError: "磁盘无法读写",
    errors.CapacityError: "资源不足",
    errors.EndpointError: "服务端点无法使用",
    errors.NonFiniteError: "出现 NaN 或 Inf",
    WhyboxError: "出错",
}

SENTENCES: dict[str, str] = {
    # the server
    "the model is still being opened": "模型仍在打开",
    "this page asks again by itself": "页面会自动再次询问",
    "the model is busy: {} requests wait already": "模型正忙：已有 {} 个请求在等待",
    "try again in a moment": "请稍后再试",
    "the server was stopped before this was done": "在完成之前服务器已停止",
    "start it again": "请重新启动服务器",
    "nothing stands beside this prompt": "当前提示词旁边没有可对比的内容",
    "choose another prompt or another model": "请选择另一个提示词或另一个模型",
    "this state compares with the model {}, which this server does not have: {}": "此状态要与模型 {} 对比，而本服务器没有它：{}",
    "it has {}": "现有的是 {}",
    "it was started without one": "启动时没有指定第二个模型",
    "this report is no longer kept": "这份报告已不再保留",
    "make it again": "请重新生成",
    "this report has no picture of heads": "这份报告没有注意力头的图",
    "make one with look": "请用 look 生成",
    "no page shows {}": "没有页面能显示 {}",
    "this file": "这个文件",
    "a report saved with --json: {}": "需要用 --json 保存的报告：{}",
    "save the report anew": "请重新保存报告",
    "which head?": "哪个头？",
    "such as ?at=18.6": "例如 ?at=18.6",
    "{} pieces of code are being graded already": "已有 {} 段代码正在评分",
    "this server does not go by that name": "本服务器不使用这个名称",
    "open the address that whybox serve printed": "请打开 whybox serve 打印的地址",
    "another site's page may not ask this server": "其他网站的页面不能访问本服务器",
    "a request has at most {} bytes": "一个请求最多 {} 字节",
    "this page is not signed in": "此页面尚未登录",
    "open the whole address that whybox serve printed": "请打开 whybox serve 打印的完整地址（包含 token）",
    "this state was shared by another version of whybox": "此状态由另一个版本的 whybox 分享",
    "see docs/serve.md for what a state holds": "状态的内容见 docs/serve.md",
    "the request": "请求",
    # prompts
    "the prompt is empty": "提示词为空",
    "give at least one token": "请至少给出一个 token",
    "give it some text": "请输入一些文本",
    "give it some ids": "请给出一些 id",
    "the prompt has {} tokens, the trained context has {}": "提示词有 {} 个 token，而训练时的上下文只有 {} 个",
    "shorten it, or pass --allow-long (allow_long=True) and read the result as beyond training": "请缩短它，或用 --allow-long 启动（allow_long=True），并把结果当作超出训练范围来读",
    "shorten the prompt, or pass --allow-long (allow_long=True) and read the result as beyond training": "请缩短提示词，或用 --allow-long 启动（allow_long=True），并把结果当作超出训练范围来读",
    "the prompt has one token: it sees nothing but itself, so there is no attention to look at": "提示词只有一个 token：它只看得到自己，没有注意力可看",
    "give at least two tokens": "请至少给出两个 token",
    "the prompt has one token: nothing stands before the place where the answer is decided": "提示词只有一个 token：决定回答的位置之前什么都没有",
    "give a prompt of at least two tokens": "请给出至少两个 token 的提示词",
    "expected a text, a list of messages or a list of ids, found neither": "需要文本、消息列表或 id 列表，但都不是",
    "no segment {}; this prompt has {}": "没有分段 {}；这个提示词有 {}",
    "no token {}; this prompt has {}": "没有第 {} 个 token；这个提示词共 {} 个",
    "no part {} is left in this prompt; it has {}": "提示词中已没有分段 {}；现有 {}",
    "none": "无",
    "two parts named {}": "两个分段同名：{}",
    "a part without a name": "有一个分段没有名称",
    "give each its own name": "请让每个分段有自己的名称",
    "character {} is half a surrogate pair (U+{}) and has no bytes": "第 {} 个字符是半个代理对（U+{}），没有对应的字节",
    "read the text as UTF-8, or remove the character": "请按 UTF-8 读取文本，或删去这个字符",
    "this model has no chat template": "这个模型没有对话模板",
    "use raw text (--raw, or a plain string); in a case file, `text:` in place of `prompt:`": "请改用“文本”（--raw；用例文件中用 `text:` 代替 `prompt:`）",
    "the conversation has no messages": "对话中没有消息",
    "give at least one {role, content}": "请至少给出一条消息（role 和 content）",
    "message {}: role must be a word, found {}": "消息 {}：角色必须是一个词，现为 {}",
    "for example system, user, assistant": "例如 system、user、assistant",
    "the chat template refuses these messages: {}": "对话模板不接受这些消息：{}",
    "change the messages, or use raw text": "请修改消息，或改用纯文本",
    "the chat template cannot be rendered: {}": "对话模板无法渲染：{}",
    "use raw text, without template": "请改用不经模板的纯文本",
    "the chat template rewrites message {} ({}): its text cannot be told apart": "对话模板改写了消息 {}（{}）：无法再认出它的文本",
    "use raw text, or take control-token text out of the message": "请改用纯文本，或从消息中去掉控制 token 的字样",
    # changes
    "an edge of one head needs its layer": "指定某个头的边时必须同时指定层",
    "name both, or neither for every head of every layer": "请两者都给出；都不给则表示所有层的所有头",
    "query {} cannot be cut from key {}": "不能切断查询 {} 与键 {} 之间的边",
    "a query keeps itself and sees no later token: choose an earlier key": "查询保留自己，也看不到更晚的 token：请选更早的键",
    "segment {} owns no token of this prompt": "分段 {} 在这个提示词中没有 token",
    "segment {} is the deciding token alone": "分段 {} 只有决定行的 token",
    "choose an earlier segment": "请选更早的分段",
    "the cut leaves query {} of layer {}, head {} with no key to see": "切断后，第 {1} 层第 {2} 个头的查询 {0} 没有任何可看的键",
    "leave at least one key, or ablate the head instead": "请至少留下一个键，或改为关闭这个头",
    "no layer {}: this model has layers 0 … {}": "没有第 {} 层：这个模型的层是 0 … {}",
    "layer {} has no head {}": "第 {} 层没有第 {} 个头",
    "its heads: 0 … {}": "该层的头：0 … {}",
    "layer {} has no site {}, other layers of this model do": "第 {} 层没有位置 {}，其他层有",
    "axis {} of {} has {} entries, 0 … {}; {} is beyond": "{1} 的轴 {0} 有 {2} 项，即 0 … {3}；{4} 超出了范围",
    "{}: position {} on axis {} is beyond the {} tokens": "{0}：轴 {2} 上的位置 {1} 超出了 {3} 个 token",
    "positions are 0 … {}; an open slice names all that come later": "位置是 0 … {}；不封口的切片表示其后全部",
    "{} has no token for one of the two most probable ones: there is no lens for both": "{} 没有最可能的两个 token 之一：无法为两侧画 lens",
    "look at each model alone": "请单独查看每个模型",
    # answers and cases
    "{}: expected this field, found none": "{}：缺少这个字段",
    "an answer other than the right one": "与正确答案不同的答案",
    "{} and {} differ in no id: one continues the other": "{} 与 {} 没有不同的 token：一个是另一个的延续",
    "write both answers so that neither begins with the other": "请改写两个答案，使任何一个都不是另一个的开头",
    "the answer is empty: it has no token to score": "答案为空：没有可评分的 token",
    "give the text of an answer": "请给出答案文本",
    "answer.{}: {} cannot be joined to the prompt: the tokenizer has no ids for it": "answer.{}：{} 无法接到提示词后面：分词器没有对应的 id",
    "write the answer in characters that the model's vocabulary holds": "请用模型词表中有的字符来写答案",
    "a part cannot be called {}: the report calls what stands around the parts so": "分段不能叫 {}：报告用这个名称指分段之外的内容",
    "give it another name": "请换一个名称",
    "evidence {} holds no text": "证据分段 {} 没有文本",
    "evidence {} owns no token of this prompt": "证据分段 {} 在这个提示词中没有 token",
    "name the part that the answer can be read from": "请选能读出答案的分段",
    "every part is named as evidence: none is left that asks": "所有分段都被标为证据：没有剩下提问的分段",
    "name the question as a part of its own": "请把问题作为单独的分段",
    "evidence: 'question' is the part that asks": "证据：'question' 是提问的分段",
    "evidence {} lies outside the trained context of {} tokens (the prompt has {})": "证据分段 {} 在训练上下文（{} 个 token）之外（提示词有 {} 个）",
    # memory and numbers
    "{} needs {} of memory, {} are available; most of it is {}": "{} 需要 {} 内存，可用的只有 {}；占用最多的是 {}",
    "this run": "这次运行",
    "this look": "这次 look",
    "the model": "模型",
    "shorten the prompt, or take fewer sequences at a time": "请缩短提示词，或一次处理更少的序列",
    "use a lower precision, or weights that are decoded as they are used": "请用更低的精度，或使用时才解码的权重",
    "ask for the logits of fewer rows (tail=1 is the last one alone)": "请只要更少行的 logits（tail=1 只要最后一行）",
    "keep fewer sites, or in fewer layers, or shorten the prompt": "请少保留一些位置或层，或缩短提示词",
    'have them decoded as they are used: weights="streamed"': '请让权重在使用时才解码：weights="streamed"',
    "non-finite {} first at {}, position {}; before it: {}": "非有限的 {} 首先出现在 {}，位置 {}；此前：{}",
    "largest |{}| was {}": "最大的 |{}| 为 {}",
    "range overflow, or a file with such values: use fp32 (or bf16), and check the file's digest": "数值溢出，或文件中本就有这样的值：请用 fp32（或 bf16），并核对文件摘要",
    "an edit that changes nothing moved what is read by {}": "一个什么都不改的改动使读数变化了 {}",
    "this engine cannot be used for effects: please report it with the model's name": "这个引擎不能用来测量效果：请附上模型名称报告此问题",
    # the model's file
    "{}: {}: expected {}, found {}": "{}：{}：应为 {}，实为 {}",
    "{}: only in the file: {}; only in the model: {}": "{}：只在文件中：{}；只在模型中：{}",
    "{}: architecture {} is not supported": "{}：不支持架构 {}",
    "supported: {}": "支持：{}",
    "there is no file {}": "没有文件 {}",
    "`whybox models` lists what is on this machine.": "`whybox models` 会列出本机已有的模型。",
    "{} is not a regular file": "{} 不是普通文件",
    "{} is neither GGUF nor safetensors": "{} 既不是 GGUF 也不是 safetensors",
    "{} may be a pickle, which can run code; not opened": "{} 可能是 pickle，会执行代码；没有打开",
    "Convert it to safetensors.": "请先转换为 safetensors。",
    "{} holds neither .safetensors nor .gguf files": "{} 中既没有 .safetensors 也没有 .gguf 文件",
    "{} cannot be read: {}": "{} 无法读取：{}",
    "Check its permissions.": "请检查它的权限。",
    "{} is not on this machine": "{} 不在本机上",
    "Get it with: whybox pull {}": "请用 whybox pull {} 取得",
    "no model {}{}": "没有模型 {}{}",
    "Known: {}, hf:org/name, any .gguf file or safetensors folder. Found here: {}{}.": "可用：{}、hf:org/name、任何 .gguf 文件或 safetensors 文件夹。本机有：{}{}。",
    "{} could not be obtained ({})": "{} 无法取得（{}）",
    "By hand: {}": "手动取得：{}",
    "{}: expected sha256 {}, found {}": "{}：sha256 应为 {}，实为 {}",
    "cannot listen on {}:{}: {}": "无法监听 {}:{}：{}",
    "choose another --port, or 0 for a free one": "请用 --port 换一个端口，0 表示任意空闲端口",
    # a suite and its run
    "interrupted": "已中断",
    "What was done is in {}; the same command goes on from there.": "已完成的部分在 {} 中；再次运行同一命令即可从那里继续。",
    "out of memory": "内存不足",
    "Use a shorter prompt, a smaller model or a lower precision.": "请用更短的提示词、更小的模型或更低的精度。",
    "Check the path, its permissions and the free space.": "请检查路径、权限与剩余空间。",
    "{} holds another run: {}": "{} 中是另一次测试：{}",
    "go on with that one, or use another -o": "请继续那一次，或用 -o 指定另一个文件夹",
    "{} is being written by another process": "{} 正被另一个进程写入",
    "wait for it, or use another -o": "请等它结束，或用 -o 指定另一个文件夹",
    "there is no run in {}": "{} 中没有测试结果",
    "make one: whybox run SUITE.yaml -o DIR": "请先运行：whybox run SUITE.yaml -o DIR",
    "the run in {} is not finished": "{} 中的测试尚未完成",
    "go on with it: whybox run SUITE.yaml -o DIR": "请继续运行：whybox run SUITE.yaml -o DIR",
    "no call fits --filter {}": "没有调用符合 --filter {}",
    "probes are: {}; for instance --filter 'order/*'": "探针有：{}；例如 --filter 'order/*'",
    "{}: no address is given": "{}：没有给出地址",
    "set OPENAI_BASE_URL, for instance to http://127.0.0.1:8000/v1 or to https://api.openai.com/v1": "请设置 OPENAI_BASE_URL，例如 http://127.0.0.1:8000/v1 或 https://api.openai.com/v1",
    "The suite file is described in docs/run.md; `whybox init` writes one.": "测试套件文件的说明见 docs/run.md；`whybox init` 可以写出一份。",
    "{} is there already": "{} 已存在",
    "name another file, or use --force": "请换一个文件名，或用 --force",
    # the course
    "there is no chapter {}": "没有章节 {}",
    "chapters are {}": "章节有 {}",
    "{} is not a number": "{} 不是数",
    "write it like 0.67, 1,048,576, 1.3e9 or 1/32": "请写成 0.67、1,048,576、1.3e9 或 1/32 这样",
    "{}: expected {}, found {}": "{}：应为 {}，实为 {}",
    "write one behind the other, with a blank between them": "请依次写出，中间用空格隔开",
    "one number": "一个数",
    "{} numbers": "{} 个数",
    "{}: there is no option {}": "{}：没有选项 {}",
    "options are {}": "选项有 {}",
    "{}: expected one option, found {}": "{}：应选一项，实选 {} 项",
    "{}: no option is named": "{}：没有选择任何选项",
    "name every one that is right": "请选出所有正确的选项",
    "{}: there is nothing in it": "{}：内容为空",
    "hand in what you wrote, as text": "请以文本形式提交你写的内容",
    "the code has {} characters": "代码有 {} 个字符",
    "an exercise takes up to {}": "一道练习最多 {} 个",
}  # fmt: skip

SHAPES: dict[str, str] = {
    "field required": "缺少该字段",
    "extra inputs are not permitted": "多余的字段",
    "json decode error": "不是有效的 JSON",
    "input should be a valid string": "应为字符串",
    "input should be a valid string, unable to parse raw data as a unicode string": "应为有效的 Unicode 字符串",
    "input should be a valid integer": "应为整数",
    "input should be a valid integer, unable to parse string as an integer": "应为整数",
    "input should be a valid integer, got a number with a fractional part": "应为整数",
    "input should be a valid number": "应为数",
    "input should be a valid boolean": "应为 true 或 false",
    "input should be a valid boolean, unable to interpret input": "应为 true 或 false",
    "input should be a valid tuple": "应为列表",
    "input should be a valid list": "应为列表",
    "input should be a valid dictionary": "应为 JSON 对象",
    "input should be a valid dictionary or object to extract fields from": "应为 JSON 对象",
    "input should be a valid dictionary or instance of {}": "应为 JSON 对象",
    "input should be greater than or equal to {}": "不应小于 {}",
    "input should be less than or equal to {}": "不应大于 {}",
    "input should be {}": "应为 {}",
    "input tag {} found using 'kind' does not match any of the expected tags: {}": "种类 {} 不存在；可用：{}",
    "unable to extract tag using discriminator 'kind'": "缺少 kind",
    "string should have at least {} character": "不应为空",
    "string should have at most {} characters": "最多 {} 个字符",
    "string should match pattern {}": "应符合 {}",
    "tuple should have at most {} items after validation, not {}": "最多 {} 项，实有 {} 项",
    "list should have at most {} items after validation, not {}": "最多 {} 项，实有 {} 项",
    "dictionary should have at most {} items after validation, not {}": "最多 {} 项，实有 {} 项",
}  # fmt: skip
"""What pydantic says of data that have another shape, in small letters."""


def said(error: WhyboxError, lang: Lang) -> dict[str, str]:
    """Cause and remedy as a reader is told them."""
    cause = in_language(error.cause, lang)
    if lang == "zh" and cause == error.cause:
        kind = next(KINDS[each] for each in type(error).__mro__ if each in KINDS)
        cause = f"{kind}：{cause}"
    return {"cause": cause, "remedy": in_language(error.remedy, lang)}


def in_language(text: str, lang: Lang) -> str:
    """The sentence in `lang`; itself where only English is known."""
    return text if lang == "en" or not text else _chinese(text, DEEP) or text


def _chinese(text: str, deep: int) -> str | None:
    """None for what is not listed. A name, a colon and a known sentence is known as well. deep: sentences in it."""
    if deep == 0:
        return None
    for pieces, chinese in _listed():
        if (blanks := _blanks(text, pieces)) is not None:
            return chinese.format(*(_chinese(blank, deep - 1) or blank for blank in blanks))
    name, colon, rest = text.partition(": ")
    inner = _chinese(rest, deep - 1) if colon else None
    return None if inner is None else f"{name}：{inner}"


@cache
def _listed() -> list[tuple[list[str], str]]:
    """What stands around the blanks. The most literal first, so that a blank swallows no more than it must."""
    listed = sorted((SENTENCES | SHAPES).items(), key=lambda pair: -len(pair[0].replace("{}", "")))
    return [(english.split("{}"), chinese) for english, chinese in listed]


def _blanks(text: str, pieces: list[str]) -> list[str] | None:
    """What fills the blanks, each as short as it can be; None for another text. Reads the text once, whatever it is."""
    first, *between = pieces
    if not between:
        return [] if text == first else None
    last = between.pop()
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return None
    blanks = []
    for piece in between:
        found = text.find(piece, at, end)
        if found < 0:
            return None
        blanks.append(text[at:found])
        at = found + len(piece)
    return [*blanks, text[at:end]]
