"""The reference's system prompt, in structure: tests/vectors/context-system-prompt.json.

Its sentences are not ours, so headings, their order, markers and lines of facts are compared. The reference speaks
from behind a chat gateway: the cases run with one.
"""

import re

from oc.workspace.gateway import Gateway
from oc.workspace.prompt import PromptParts, Runtime, Tool, build_system_prompt
from tests.support import vectors


def parts_of(params):
    info = params.get("runtimeInfo", {})
    reaction = params.get("reactionGuidance")
    sandbox = params.get("sandboxInfo", {})
    runtime = Runtime(
        agent=info.get("agentId", ""),
        host=info.get("host", ""),
        repo=info.get("repoRoot", ""),
        os=info.get("os", ""),
        arch=info.get("arch", ""),
        node=info.get("node", ""),
        model=info.get("model", ""),
        default_model=info.get("defaultModel", ""),
        shell=info.get("shell", ""),
        channel=info.get("channel", ""),
        capabilities=info.get("capabilities", ()),
        thinking=params.get("defaultThinkLevel", "off"),
    )
    gateway = Gateway(
        connected=True,
        docs_path=params.get("docsPath", ""),
        model_aliases=params.get("modelAliasLines", ()),
        owners=params.get("ownerNumbers", ()),
        owner_hash=params.get("ownerDisplay") == "hash",
        owner_secret=params.get("ownerDisplaySecret", ""),
        voice_hint=params.get("ttsHint", ""),
        reactions=(reaction["level"], reaction["channel"]) if reaction else None,
        reasoning_tags=params.get("reasoningTagHint", False),
        sandbox=sandbox.get("containerWorkspaceDir", "") if sandbox.get("enabled") else "",
    )
    return PromptParts(
        mode=params.get("promptMode", "full"),
        workspace=params["workspaceDir"],
        tools=[Tool(name) for name in params["toolNames"]],
        skills=params["skillsPrompt"].split("\n") if params.get("skillsPrompt") else (),
        context_files=[(f["path"], f["content"]) for f in params.get("contextFiles", ())],
        truncation_warnings=params.get("bootstrapTruncationWarningLines", ()),
        time_zone=params.get("userTimezone", ""),
        extra=params.get("extraSystemPrompt", ""),
        runtime=runtime,
        gateway=gateway,
    )


def line_of(text, start):
    return next((line for line in text.split("\n") if line.startswith(start)), None)


def project_context(text):
    found = re.search(r"(?:^|\n)(# Project Context\n.*?)\n## Silent Replies", text, re.DOTALL)
    return found and found[1]


def shape(context):
    """Returns the markers of the block's head, how many sentences it has, and the files as they stand."""
    if context is None:
        return None
    head, files = re.match(r"(.*?)((?:\n## .*)?)$", context, re.DOTALL).groups()
    markers = [line for line in head.split("\n") if line.startswith(("#", "⚠", "- "))]
    return markers, len(head.split("\n")) - len(markers), files


@vectors("context-system-prompt")
def test_shape(case):
    text = build_system_prompt(parts_of(case.input["params"]))
    expected = case.expected
    titles = {line for line in text.split("\n") if re.match(r"#{1,3} ", line)} - {"## Memory Writing"}
    files = {f"## {f['path']}" for f in case.input["params"].get("contextFiles", ())}
    headings = [line for line in text.split("\n") if line in titles - files]
    assert expected["headings"] == headings
    assert expected["hasBlankLines"] == ("\n\n" in text)
    assert shape(expected["projectContext"]) == shape(project_context(text))
    assert expected["runtimeLine"] == line_of(text, "Runtime:")
    assert expected["timeZoneLine"] == line_of(text, "Time zone:")
    first = (expected["ownerLine"] or "").partition(". ")[0]
    assert first == (line_of(text, "Authorized senders:") or "").partition(". ")[0]
    assert expected["lineCount"] in (None, len(text.split("\n")))
