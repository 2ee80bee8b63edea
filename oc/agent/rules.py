"""What the built-in model says: rules in English and Chinese, no language model, and it says so. Pure.

It looks at the last user message and at the tool results after it; the same input always gives the same answer.
"""

from collections.abc import Collection, Iterator, Sequence

from oc.agent.tools.recall import NOTHING, OPEN, Passage, parse
from oc.base.text import CJK, cut16, pattern
from oc.base.typed import Any, NamedTuple

MAX_QUERY_CHARS = 400
MAX_QUOTES = 3

_GREETING = r"(?:(?:(?:hi|hey|hello|ok|okay)\b|你好|您好)[\s,，.!！。]*)?"
_REMEMBER_EN = (
    rf"(?is)^\s*{_GREETING}(?:please[\s,]+|pls\s+|(?:can|could|would|will)\s+you\s+(?:please\s+)?)?"
    r"(?:remember|memori[sz]e|note|make\s+a\s+note|keep\s+in\s+mind|do\s*n['’]?o?t\s+forget)\b"
    r"(?:\s+(?:this|the\s+following|down)\b)?\s*(?P<mark>[:：,]|(?:of|that)\b)?\s*(?P<fact>\S.*)$"
)
_REMEMBER_ZH = (
    rf"(?s)^\s*{_GREETING}(?:请你?|麻烦你?|帮我|你)?(?:帮我|一定要|务必)?\s*"
    r"(?:记住|记下来|记下|记一下|记录一下|记录下来|记得|牢记|备忘|别忘了|不要忘记|请注意)"
    r"(?:这一点|这件事|以下内容|一下|以下)?\s*(?P<mark>[:：,，])?\s*(?P<fact>\S.*)$"
)
_QUESTION_EN = (
    r"(?i)^\s*(?:what|where|when|who|whom|whose|which|why|how|is|are|am|was|were|do|does|did|can|could|should|would"
    r"|will|has|have|had|tell\s+me|show\s+me|find|search|look\s+up|recall|list)\b|[?？]\s*$"
)
_QUESTION_ZH = (
    r"[?？吗呢]\s*$|什么|哪|谁|多少|几[个点号时天月岁台次条]|怎么|怎样|如何|为何|何时|何处|是否|有没有|是不是|能不能"
    r"|^\s*(?:请|帮我)?(?:查|找|搜|列出|告诉我|回忆)"
)
_BULLET = r"^\s*(?:[-*+•]|\d+[.)、])\s+"
_STOP_EN = (
    "a about again all also am an and any are as at be been but by can could did do does for from had has have he her "
    "his how i if in into is it its just list look me my no not now of on or our out please recall search she should "
    "show so some such tell than that the their them then there they this to up us was we were what when where which "
    "who whom whose why will with would you your find"
)
_STOP = frozenset(_STOP_EN.split())
_STOP_ZH = "的了是在吗呢么什哪谁多少几怎如何为我你他她它们这那有没和与或及请帮查找搜告诉个里被把对上下"


class Done(NamedTuple):
    """A tool call since the last user message, with its result."""

    name: str
    arguments: dict[str, Any]
    text: str
    failed: bool = False


class Reply(NamedTuple):
    """Text for the user, or calls to make first."""

    text: str = ""
    calls: Sequence[tuple[str, dict[str, Any]]] = ()


def respond(said: str, done: Sequence[Done], tools: Collection[str]) -> Reply:
    """Returns the answer to a user message, or the tool calls that it needs."""
    chinese = _is_chinese(said)
    facts = facts_of(said)
    if facts:
        return _remember(facts, done, tools, chinese=chinese)
    if is_question(said):
        return _recall(said, done, tools, chinese=chinese)
    return Reply(_ABILITIES_ZH if chinese else _ABILITIES_EN)


def _is_chinese(text: str) -> bool:
    return bool(pattern("[\u4e00-\u9fff]").search(text)) and not pattern("[\u3040-\u30ff\uac00-\ud7a3]").search(text)


def facts_of(said: str) -> list[str]:
    """Returns what a message asks to remember: its own words; each point of a list by itself; nothing if it is none."""
    match = pattern(_REMEMBER_EN).match(said) or pattern(_REMEMBER_ZH).match(said)
    if match is None:
        return []
    fact = match["fact"].strip()
    if not match["mark"]:
        if pattern(r"[?？吗]\s*$").search(said):  # "remember when we met?" asks
            return []
        fact = pattern(r"(?i)^to\s+").sub("", fact)
    lines = [line for line in fact.split("\n") if line.strip()]
    bullet = pattern(_BULLET)
    if len(lines) > 1 and all(map(bullet.match, lines)):
        return [bullet.sub("", line).strip() for line in lines]
    return [fact]


def is_question(said: str) -> bool:
    first = said.strip().split("\n\n")[0]
    return bool(pattern(_QUESTION_EN).search(first) or pattern(_QUESTION_ZH).search(first))


def _remember(facts: list[str], done: Sequence[Done], tools: Collection[str], *, chinese: bool) -> Reply:
    if "memory_add" not in tools:
        return Reply(_NO_WRITING_ZH if chinese else _NO_WRITING_EN)
    written = [call for call in done if call.name == "memory_add"]
    if not written:
        return Reply(calls=[("memory_add", {"text": fact}) for fact in facts])
    failed = [call.text for call in written if call.failed]
    if failed:
        return Reply(("没有记下：" if chinese else "Not noted: ") + "; ".join(failed))
    lead, source = ("已记下：", "来源: ") if chinese else ("Noted: ", "Source: ")
    lines = []
    for call in written:
        place = pattern(r"\S+#L\d+").search(call.text)
        lines += [lead + str(call.arguments.get("text", "")), source + (place[0] if place else call.text)]
    return Reply("\n".join(lines))


def _recall(said: str, done: Sequence[Done], tools: Collection[str], *, chinese: bool) -> Reply:
    if "memory_search" not in tools:
        return Reply(_NO_READING_ZH if chinese else _NO_READING_EN)
    searches = [call for call in done if call.name == "memory_search"]
    if not searches:
        query = cut16(said.strip().split("\n\n")[0], MAX_QUERY_CHARS)
        return Reply(calls=[("memory_search", {"query": query})])
    if searches[-1].failed:
        return Reply(("搜索失败：" if chinese else "The search failed: ") + searches[-1].text)
    told = searches[-1].text
    if OPEN not in told and told.strip() not in ("", NOTHING):  # another tool of that name, with a form of its own
        return Reply(told)
    found = list(parse(told))
    opened = [p for call in done if call.name == "memory_get" and not call.failed for p in parse(call.text)]
    if "memory_get" in tools and not any(call.name == "memory_get" for call in done):
        calls = [("memory_get", _range(p.path, *p.around)) for p in found[:2] if p.around and not _answers(said, p)]
        if calls and not any(_answers(said, passage) for passage in found):
            return Reply(calls=calls)
    return _quote(said, opened + found, chinese=chinese)


def _quote(said: str, passages: Sequence[Passage], *, chinese: bool) -> Reply:
    quotes = list(best_lines(said, passages))
    if not quotes:
        return Reply(_NOTHING_ZH if chinese else _NOTHING_EN)
    source = "来源: " if chinese else "Source: "
    return Reply("\n".join(f"> {line}\n{source}{path}#L{number}" for path, number, line in quotes))


def _range(path: str, first: int, last: int) -> dict[str, Any]:
    return {"path": path, "from": first, "lines": last - first + 1}


def _answers(question: str, passage: Passage) -> bool:
    """Says whether a line of the passage shares a word with the question; else more of the note is looked at."""
    return bool(terms(question) & terms(" ".join(passage.lines)))


def best_lines(question: str, passages: Sequence[Passage]) -> Iterator[tuple[str, int, str]]:
    """Yields at most MAX_QUOTES lines as (path, line number, text): those that share most words with the question.

    When none shares any, the first line of the best passage stands: the search had other reasons to find it.
    """
    wanted = terms(question)
    seen: set[tuple[str, int]] = set()
    rows = []
    for passage in passages:
        for number, line in enumerate(passage.lines, passage.start_line):
            plain = pattern(_BULLET).sub("", line).strip()
            if plain and not plain.startswith("#") and (passage.path, number) not in seen:
                seen.add((passage.path, number))
                rows.append((len(wanted & terms(plain)), passage.path, number, plain))
    best = max((row[0] for row in rows), default=0)
    if best == 0:
        yield from (row[1:] for row in rows[:1])
        return
    strong = [row for row in rows if row[0] >= max(1, 0.7 * best)]
    yield from (row[1:] for row in sorted(strong, key=lambda row: -row[0])[:MAX_QUOTES])


def terms(text: str) -> set[str]:
    """Returns the words of a text that say something, without plural endings, and the pairs of its CJK runs."""
    lower = text.lower()
    found = {_stem(word) for word in pattern(r"[^\W_]+").findall(pattern(f"[{CJK}]").sub(" ", lower))} - _STOP
    for run in pattern(f"[{CJK}]+").findall(lower):
        kept = [part for part in pattern(f"[{_STOP_ZH}]").split(run) if part]
        found.update(part[i : i + 2] for part in kept for i in range(max(1, len(part) - 1)))
    return found


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


_ABILITIES_EN = (
    "I am oc-offline, the built-in model: a set of rules, not a language model. I can remember a fact "
    '("Remember: ..."), answer a question from your notes with its source ("where is ...?"), and summarise a '
    "conversation. For anything else choose a model that llm serves, with -m MODEL."
)
_ABILITIES_ZH = (
    "我是内置模型 oc-offline：一组规则，不是语言模型。我可以记住一件事（“记住：……”），"
    "根据笔记回答问题并给出来源（“……在哪里？”），也可以为对话做摘要。其他事情请用 -m MODEL 选择 llm 提供的模型。"
)
_NOTHING_EN = "I have nothing on that."
_NOTHING_ZH = "没有相关的记录。"
_NO_WRITING_EN = "I cannot note that: no tool that writes memory is offered in this turn."
_NO_WRITING_ZH = "无法记下：这一轮没有可以写入记忆的工具。"
_NO_READING_EN = "I cannot look that up: no tool that searches memory is offered in this turn."
_NO_READING_ZH = "无法查找：这一轮没有可以搜索记忆的工具。"
