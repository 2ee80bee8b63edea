"""What a conversation says that is worth carrying on: requests, constraints, decisions, results, errors. Pure rules.

English and Chinese. Every fact is a sentence of the conversation as it stands there, white space apart, cut at
MAX_CHARS; nothing is worded anew.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oc.base.text import CJK, cut16, len16, pattern, weight16
from oc.compaction.identifiers import identifiers
from oc.message.derived import bash_text
from oc.message.shapes import Message, text, texts

MAX_CHARS = 240
# "Done!" says nothing: what an assistant says counts from six tokens on.
MIN_WEIGHT = 24
MAX_VALUES_PER_MESSAGE = 5
# Kinds of facts; the layout of a summary decides which section takes which.
REQUEST, CONSTRAINT, DECISION, DONE = "request", "constraint", "decision", "done"
DOING, BLOCKED, NEXT, QUESTION = "doing", "blocked", "next", "question"
ERROR, VALUE = "error", "value"
REMEMBER = "remember"

_REMEMBER = (
    r"(?i)\b(?:remember|important|note that|keep in mind|for the record|fyi|do(?:n'?t| not) forget)\b"
    r"|记住|记得|请?注意|重要|别忘|备忘"
)
_DECISION = (
    r"(?i)\b(?:decid(?:ed?|ing)|decisions?|let'?s (?:use|go with|keep|drop|switch|stick)"
    r"|(?:we|i)(?:'ll| will)? (?:use|went with|go with|keep|drop(?:ped)?|stick with|stuck with|pick(?:ed)?)"
    r"|going with|go with|chose|chosen|settled on|agreed|switch(?:ed|ing)? (?:to|from|over)|instead of|rather than"
    r"|replac(?:ed?|ing) .+ (?:with|by)|moved? (?:it |them )?(?:from .+ )?to|migrat(?:ed?|ing) (?:\w+ )*to)\b"
    r"|决定|决策|选用|选定|选择了|采用|改用|改为|改成|换成|换用|放弃|不再(?:使用|用)|而不是|定为|敲定"
    r"|确定(?:用|为|使用|采用)|迁移到|迁到|搬到"
)
_CONSTRAINT = (
    r"(?i)\b(?:must|never|always|do not|don'?t|should(?:n'?t)?|only|requires?d?|make sure|ensure|avoid|prefer"
    r"|at (?:least|most)|no more than|cannot|can'?t|without)\b"
    r"|必须|务必|不要|不能|不得|不准|禁止|严禁|一定要|总是|始终|一律|只能|只用|仅限|仅能|优先|避免|要求|至少|最多|不超过"
)
_DONE = (
    r"(?i)\b(?:fixed|added|implemented|created|updated|removed|deleted|completed|finished|done|renamed|merged|committed"
    r"|pushed|deployed|released|installed|configured|refactored|converted|ported|written|resolved|pass(?:es|ed)"
    r"|works now|now works|succeeded)\b"
    r"|已经?[^知是]|完成|修复了|添加了|新增了|实现了|创建了|更新了|删除了|通过了|部署了|提交了|解决了|改好|搞定|写好"
)
_NEXT = (
    r"(?i)\b(?:next(?: steps?)?|to-?dos?|remaining|still (?:needs?|ha(?:ve|s)) to|left to do|follow[- ]ups?|later"
    r"|we (?:should|need to)|plan(?:ned)? to)\b"
    r"|接下来|下一步|下步|待办|还需要|还要|还没|尚未|未完成|剩下|后续|计划"
)
_DOING = (
    r"(?i)^(?:(?:now|ok(?:ay)?|great|good|perfect|right)[,.!:]? *)*(?:i(?:'ll| will| am|'m)|let me|let's|working on)\b"
    r"|^(?:好的?[，,。！!]? *)?(?:我(?:来|会|正在|先|现在|将)|正在|现在|让我)"
)
_BLOCKED = (
    r"(?i)\b(?:(?:is|are|am|i'm|we're|still|got) (?:blocked|stuck)|blocked (?:by|on)|waiting (?:for|on))\b"
    r"|卡住了|阻塞|等待|卡在"
)
_ERROR_LINE = (
    r"(?im)^.{0,80}?(?:\b\w*(?:error|exception)\b|\bfatal\b|\bpanic\b|\bfail(?:ed|ure)\b|\bdenied\b"
    r"|\brefused\b|\btimed? ?out\b|\bno such file\b|\bnot found\b|错误|失败|异常|超时|拒绝|找不到|无法).*$"
)
_LIST_MARK = r"^\s*(?:[>#|]+\s*)*(?:[-*+•]\s+|\d{1,3}[.)、]\s*)?(?:\[[ xX]\]\s+)?"
# A `?` or `!` with no space after it ends a sentence before wide text only: addresses have them inside.
_SENTENCE_END = rf"(?<=[。！？；])(?=[^。！？；!?”」）)\s])|(?<=[!?])(?=[{CJK}])|(?<=[.!?])[\"')\]]*\s+(?=[^a-z\s])"


class Fact(NamedTuple):
    """`order` grows with time; `weight` says how dear it is: 2 for what must not be lost, 1 for the rest."""

    kind: str
    text: str
    order: int
    weight: int = 1


def sentences(said: str) -> Iterator[str]:
    """Yields the sentences of a text without list marks; code blocks, tables and rules are no sentences."""
    fenced = False
    for line in said.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith("|"):
            plain = pattern(_LIST_MARK).sub("", line)
            for part in pattern(_SENTENCE_END).split(plain):
                sentence = " ".join(part.split())
                if pattern(r"\w").search(sentence):
                    yield sentence


def short(sentence: str, max_chars: int = MAX_CHARS) -> str:
    return sentence if len16(sentence) <= max_chars else cut16(sentence, max_chars - 1).rstrip() + "…"


def facts(messages: Sequence[Message]) -> list[Fact]:
    """Returns the facts in the order of the conversation."""
    found: list[Fact] = []
    answered = _last_answer(messages)
    healed = _last_success(messages)
    for order, message in enumerate(messages):
        role = message.get("role")
        if role == "user":
            found += _of_user(message, order, answered=order < answered)
        elif role == "assistant":
            found += _of_assistant(message, order)
        elif role == "toolResult":
            found += _of_result(message, order, healed)
        elif role == "bashExecution" and (message.get("exitCode") or message.get("cancelled")):
            found += _errors(bash_text(message), order, str(message.get("command")))
        elif role == "custom":
            found += [Fact(VALUE, short(one), order) for one in sentences(text(message))][:MAX_VALUES_PER_MESSAGE]
    last_user = max((i for i, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    return [fact for fact in found if fact.kind != QUESTION or fact.order >= last_user]


def marks(sentence: str) -> frozenset[str]:
    """Returns what a sentence is by its words, of the kinds of facts; REMEMBER when it asks to be kept in mind."""
    known = (
        (REMEMBER, _REMEMBER),
        (DECISION, _DECISION),
        (CONSTRAINT, _CONSTRAINT),
        (DONE, _DONE),
        (DOING, _DOING),
        (NEXT, _NEXT),
        (BLOCKED, _BLOCKED),
    )
    return frozenset(kind for kind, expression in known if pattern(expression).search(sentence))


def _last_answer(messages: Sequence[Message]) -> int:
    """Returns the index of the last assistant message that says something; -1 without one."""
    found = (i for i in range(len(messages) - 1, -1, -1) if messages[i].get("role") == "assistant")
    return next((i for i in found if text(messages[i]).strip()), -1)


def _last_success(messages: Sequence[Message]) -> dict[str, int]:
    """Returns for each tool the index of its last result that was no error."""
    return {
        str(message.get("toolName")): index
        for index, message in enumerate(messages)
        if message.get("role") == "toolResult" and not message.get("isError")
    }


def _of_user(message: Message, order: int, *, answered: bool) -> Iterator[Fact]:
    opening = _opening(text(message))
    if not opening:
        return
    yield Fact(REQUEST, opening, order, 1 if answered else 2)
    values = 0
    for sentence in (one for block in texts(message) for one in sentences(block)):
        dear = 2 if pattern(_REMEMBER).search(sentence) else 1
        if pattern(_DECISION).search(sentence):
            yield Fact(DECISION, short(sentence), order, dear)
        elif pattern(_CONSTRAINT).search(sentence):
            yield Fact(CONSTRAINT, short(sentence), order, dear)
        elif dear == 2 or (values < MAX_VALUES_PER_MESSAGE and any(identifiers(sentence))):
            values += 1
            yield Fact(VALUE, short(sentence), order, dear)
        if not answered and sentence.endswith(("?", "？")):
            yield Fact(QUESTION, short(sentence), order, 2)


def _opening(said: str) -> str:
    """Returns the beginning of a message up to its first code block, cut at a sentence's end where there is one."""
    plain = " ".join((said.partition("```")[0].strip() or said).split())
    if len16(plain) <= MAX_CHARS:
        return plain
    head = cut16(plain, MAX_CHARS)
    ends = [match.end() for match in pattern(r"[。！？；!?]|\.(?= )").finditer(head)]
    return head[: ends[-1]] if ends and ends[-1] > MAX_CHARS // 4 else short(plain)


def _of_assistant(message: Message, order: int) -> Iterator[Fact]:
    for block in texts(message):
        for sentence in sentences(block):
            kind = _kind_of(sentence)
            if kind is not None and weight16(sentence) >= MIN_WEIGHT:
                yield Fact(kind, short(sentence), order)


def _kind_of(sentence: str) -> str | None:
    if sentence.endswith(("?", "？")):
        return QUESTION
    for kind, expression in (
        (DOING, _DOING),
        (BLOCKED, _BLOCKED),
        (DECISION, _DECISION),
        (DONE, _DONE),
        (NEXT, _NEXT),
    ):
        if pattern(expression).search(sentence):
            return kind
    return VALUE if any(identifiers(sentence)) else None


def _of_result(message: Message, order: int, healed: dict[str, int]) -> Iterator[Fact]:
    """Yields the error of a failed call: in the way as long as the tool has not succeeded since."""
    if not message.get("isError"):
        return
    tool = str(message.get("toolName") or "tool")
    kind = BLOCKED if healed.get(tool, -1) < order else ERROR
    yield from (fact._replace(kind=kind) for fact in _errors(text(message), order, tool))


def _errors(output: str, order: int, source: str) -> Iterator[Fact]:
    """Yields the line that names the error, else the last line, with its source in front."""
    line = pattern(_ERROR_LINE).search(output)
    last = output.strip().rpartition("\n")[2]
    told = " ".join((line[0] if line else last).split())
    if told:
        yield Fact(ERROR, short(f"{short(' '.join(source.split()), 60)}: {told}"), order)
