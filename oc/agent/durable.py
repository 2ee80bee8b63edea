"""What of a conversation a note must keep: values, decisions with their reasons, rules. Pure rules, no language model.

English and Chinese. Every line quotes sentences of the conversation; nothing is worded anew. Used by the built-in
model when it is asked to flush.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from oc.agent.choice import OFFLINE
from oc.agent.rules import facts_of
from oc.base.text import cut16, len16, pattern, weight16
from oc.compaction.facts import CONSTRAINT, DECISION, DOING, DONE, REMEMBER, marks, sentences
from oc.compaction.identifiers import identifiers
from oc.message.shapes import Message, call_arguments, call_name, calls, text

MAX_FACTS = 150
MAX_CHARS = 600
MAX_CODE_LINES = 12
_MIN_WEIGHT = 16  # quarter tokens: "Use it." says nothing alone
_SHORT_ANSWER = 240  # quarter tokens
_BARE_VALUE = 100  # quarter tokens: an answer that says a value and not of what

# What tells more than that somebody looked at something.
_STRONG = ("urls", "emails", "hosts", "ids", "versions", "amounts")
_PLACES = ("urls", "hosts")
_NOT_FILES = ("memory_add", "memory_append", "message", "send_message")
_REASON = (
    r"(?i)\b(?:because|since (?:the|it|we|they|that|there|this|our)|due to|so that|reasons?|therefore|hence|otherwise"
    r"|that(?:'s| is) why|rationale|root cause|covers?|enough|sufficient|instead|turned? out|caused by)\b"
    r"|因为|由于|原因|理由|所以|因此|以免|否则|为了|够用|足够|覆盖|满足|根因|导致"
)
_CHOICE = (
    r"(?i)\b(?:(?:will|would|do|does|should|is|are|must) not (?:use|adopt|need|go)|(?:won'?t|don'?t|doesn'?t|not) "
    r"(?:be )?(?:us(?:e|ing)|adopt(?:ing)?|need(?:ed)?|going)|no need|against|skip(?:ped|ping)?|reject(?:ed|ing)?"
    r"|rul(?:ed?|ing) out|stay(?:ing)? (?:with|on)|stick(?:ing)? (?:with|to)|prefer(?:red|s)?|moved?|moves|migrat\w+"
    r"|renamed|is now|are now|lives? (?:at|on|in)|runs? (?:at|on)|points? (?:at|to)|listens? on|set to"
    r"|changed? (?:to|from)|replaced)\b"
    r"|不用|不需要|不采用|不使用|不上|不选|不考虑|没必要|无需|否决|排除|沿用|继续用|保留|偏好|喜欢|迁移|搬到|迁到|移到|换到|切到|切换到|升级到|换成|改为|改成"
    r"|现在(?:是|在|用|指向|叫)|设为|设置为|设成|位于|运行在|监听|指向|地址是|端口是|连接串|负责人"
)
_STRICT = (
    r"(?i)\b(?:must|never|always|required?|only|forbidden|not allowed|no wildcards?|at (?:least|most)|no more than)\b"
    r"|必须|务必|不能|不得|不准|禁止|严禁|一律|始终|只能|只允许|仅限|不允许|不可|至少|最多|不超过"
)
_ORDER = (
    r"(?i)^(?:[^.,:;]{0,16}[,:]\s*)?(?:ok(?:ay)?[,. ]+|now[,. ]+|then[,. ]+|and[,. ]+|next[,. ]+)*"
    r"(?:please|pls|can you|could you|would you|let'?s (?:look|see|check)"
    r"|read|run|check|look|open|show|list|find|search|print|tell|explain|summari[sz]e|write|continue|go on|try|test)\b"
    r"|^(?:[^，。：:,；]{0,12}[，：:,]\s*)?(?:请|帮我|麻烦|看看|看一下|读一下|运行|检查|打开|显示|列出|查找|查一下|搜索|解释|总结|继续|试试)"
)
_ASKS_TO_CHOOSE = (
    r"(?i)\b(?:should|shall|which|do we|can we|could we|may we|are we|is it|need|want|prefer|allow|use|go with|ok to)\b"
    r"|要不要|是否|需不需要|需要|能不能|可不可以|可以|该不该|用哪|选哪|选|允许|吗"
)
_FOLLOWS = r"(?i)^(?:so|therefore|hence|thus|that(?:'s| is) why|then)\b|^(?:所以|因此|于是|那就|因而)"
_YES_OR_NO = r"(?i)^(?:no|yes|nope|yep|right|correct)\b|^(?:不|是|对|好|可以|行)"
# What a call writes into a file: values may be said nowhere else.
_WRITTEN = ("content", "newText", "new_text", "new_string", "text")
_MAX_WRITTEN_LINES = 4


class Fact(NamedTuple):
    """`weight`: 3 asked to remember, 2 a decision or rule, 1 a value or a reason; `order` as it was said."""

    text: str
    weight: int
    order: int


def durable(messages: Sequence[Message]) -> list[str]:
    """Returns the facts in the order of the conversation, each once, the weightiest MAX_FACTS of them."""
    found: dict[str, Fact] = {}
    question = ""
    for message in messages:
        if message.get("role") not in ("user", "assistant") or _is_own(message):
            continue
        said = text(message)
        lines = [*_of_message(said, question, user=message["role"] == "user"), *_of_calls(message)]
        for line, weight in lines:
            found.setdefault(line.casefold(), Fact(_cut(line), weight, len(found)))
        question = _question(said) if said.strip() else question
    chosen = sorted(found.values(), key=lambda fact: (-fact.weight, fact.order))[:MAX_FACTS]
    return [fact.text for fact in sorted(chosen, key=lambda fact: fact.order)]


def _is_own(message: Message) -> bool:
    """Says whether the built-in model wrote it: it quotes notes, or says what it has noted."""
    return message.get("role") == "assistant" and message.get("model") == OFFLINE


def _question(said: str) -> str:
    """Returns the question by which a message ends, if it ends so."""
    found = list(sentences(said))
    return found[-1] if found and found[-1].endswith(("?", "？")) else ""


def _of_message(said: str, question: str, *, user: bool) -> Iterator[tuple[str, int]]:
    asked = facts_of(said) if user else []
    if asked:
        yield from ((" ".join(fact.split()), 3) for fact in asked)
        return
    answered = _answer(said, question)
    if answered:
        yield answered, 2
    fenced, code = False, 0
    for line in said.split("\n"):
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
        elif fenced or bare.startswith("|"):
            code += 1
            if code <= MAX_CODE_LINES and len16(bare) <= MAX_CHARS and _strong(bare):
                yield bare.strip("| "), 1
        else:
            yield from _of_line([s for s in sentences(line) if not answered or s not in answered], user=user)


def _of_calls(message: Message) -> Iterator[tuple[str, int]]:
    """Yields lines with an address that calls write into files."""
    for call in calls(message):
        given = call_arguments(call)
        written = [given.get(name) for name in _WRITTEN] if isinstance(given, dict) else []
        lines = [line.strip() for part in written if isinstance(part, str) for line in part.split("\n")]
        telling = [
            line for line in lines if len16(line) <= MAX_CHARS and any(k in _PLACES for k, _ in identifiers(line))
        ]
        yield from ((line, 1) for line in telling[:_MAX_WRITTEN_LINES] if call_name(call) not in _NOT_FILES)


def _answer(said: str, question: str) -> str:
    """Returns a question with the short answer to it, which would say little alone; else nothing."""
    first = list(sentences(said))[:2]
    if not question or not first or first[0].endswith(("?", "？")) or weight16(first[0]) > _SHORT_ANSWER:
        return ""
    chosen = pattern(_ASKS_TO_CHOOSE).search(question) and weight16(first[0]) >= 2
    told = any(identifiers(first[0])) or any(map(_marked, first))
    bare_value = _strong(first[0]) and weight16(first[0]) <= _BARE_VALUE
    if not (chosen and told) and not bare_value:
        return ""
    return _joined([question, *(part for part in first if not part.endswith(("?", "？")))])


def _marked(sentence: str) -> bool:
    if any(pattern(words).search(sentence) for words in (_REASON, _CHOICE, _STRICT)):
        return True
    return pattern(_YES_OR_NO).search(sentence) is not None


def _of_line(parts: list[str], *, user: bool) -> Iterator[tuple[str, int]]:
    """Yields the sentences of a paragraph that say something; a decision takes the sentence with its reason along."""
    weights = [_weight(part, user=user) for part in parts]
    taken: set[int] = set()
    for at, (part, weight) in enumerate(zip(parts, weights, strict=True)):
        if not weight or at in taken:
            continue
        told = [part]
        before, after = at - 1, at + 1
        if before >= 0 and weights[before] < 2 and before not in taken and _leans(part, parts[before], weight):
            told.insert(0, parts[before])
        if weight >= 2 and after < len(parts) and weights[after] < 2 and _is_statement(parts[after]):
            told.append(parts[after])
            taken.add(after)
        yield _joined(told), weight


def _joined(parts: Iterable[str]) -> str:
    """Returns sentences in a row, as their script has them: no space after a wide full stop."""
    return pattern(r"([。！？；]) ").sub(r"\1", " ".join(parts))


def _leans(part: str, before: str, weight: int) -> bool:
    """Says whether a sentence says little without the one before: a conclusion, or the answer to one's own question."""
    answers = before.endswith(("?", "？")) and pattern(_YES_OR_NO).search(part) is not None
    return answers or (weight >= 2 and pattern(_FOLLOWS).search(part) is not None)


def _is_statement(sentence: str) -> bool:
    return (
        not sentence.endswith(("?", "？"))
        and DOING not in marks(sentence)
        and not pattern(_ORDER).search(sentence)
        and len16(sentence) <= MAX_CHARS // 2
    )


def _weight(sentence: str, *, user: bool) -> int:
    """Returns how dear a sentence is, 0 for what need not be kept."""
    # What ends in a colon announces something, and is none of it.
    if sentence.rstrip("*_` ").endswith(("?", "？", ":", "：")) or weight16(sentence) < _MIN_WEIGHT:
        return 0
    kinds = marks(sentence)
    if REMEMBER in kinds and user:
        return 3
    order = pattern(_ORDER).search(sentence) is not None
    doing = DOING in kinds and not user
    choice = DECISION in kinds or pattern(_CHOICE).search(sentence) is not None
    strict = pattern(_STRICT).search(sentence) is not None
    if (choice or strict) and not (order and DECISION not in kinds) and not (doing and not _strong(sentence)):
        return 2
    if CONSTRAINT in kinds and user and not order:
        return 2
    if doing or order:
        return 1 if user and _strong(sentence) else 0
    if pattern(_REASON).search(sentence):
        return 2 if _strong(sentence) else 1
    told = any(identifiers(sentence)) if user or DONE in kinds else _strong(sentence)
    return int(told)


def _strong(sentence: str) -> bool:
    return any(kind in _STRONG for kind, _ in identifiers(sentence))


def _cut(line: str) -> str:
    """Returns the line at most MAX_CHARS long, with the values that stood behind the cut."""
    if len16(line) <= MAX_CHARS:
        return line
    head = cut16(line, MAX_CHARS).rstrip()
    lost = dict.fromkeys(value for _, value in identifiers(line) if value not in head)
    return " ".join([head + "…", *list(lost)[:10]])
