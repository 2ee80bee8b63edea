"""The built-in model as llm sees it, and plugins that know nothing of conversations."""

import sys
import textwrap
from importlib.util import module_from_spec, spec_from_file_location

import llm
import pytest

from oc.agent.answer import Request
from oc.agent.choice import Choice
from oc.agent.model import complete, open_model


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))


def test_llm_lists_it_and_prompts_it():
    model = llm.get_model("oc-offline")
    assert "not a language model" in model.prompt("write a poem").text()
    assert "oc: oc-offline" == str(model)


def test_tools_through_llm():
    written = []

    def memory_add(text: str) -> str:
        written.append(text)
        return "Written to notes.md#L7"

    chain = llm.get_model("oc-offline").chain("Remember: the port is 5433", tools=[memory_add])
    assert "Noted: the port is 5433\nSource: notes.md#L7" == chain.text()
    assert ["the port is 5433"] == written


def test_a_search_tool_of_another_form_is_told_as_it_is():
    def memory_search(query: str) -> str:
        return f"42 ({query})"

    chain = llm.get_model("oc-offline").chain("what is the answer?", tools=[memory_search])
    assert "42 (what is the answer?)" == chain.text()


def test_in_oc_it_needs_no_llm():
    done = complete("oc-offline", system="", prompt="hello")
    assert "not a language model" in done.text
    assert done.whole


OLD = """
import llm

class Old(llm.Model):
    model_id = "old-plugin"
    can_stream = True

    def execute(self, prompt, stream, response, conversation):
        yield f"system={prompt.system!r} prompt={prompt.prompt!r}"

class Single(llm.Model):
    model_id = "single-turn"
    supports_conversation = False

    def execute(self, prompt, stream, response, conversation):
        yield "|".join(f"{m.role}:{m.parts[0].text}" for m in prompt.messages)

class Broken(llm.Model):
    model_id = "broken-plugin"

    def execute(self, prompt, stream, response, conversation):
        prompt.messages
        yield "begun"
        raise RuntimeError("out of memory")

@llm.hookimpl
def register_models(register):
    for kind in (%s):
        register(kind())
"""


@pytest.fixture
def plugin(tmp_path):
    from llm.plugins import load_plugins, pm

    load_plugins()
    loaded = []

    def load(*kinds):
        path = tmp_path / f"plugin_{kinds[0].lower()}.py"
        source = textwrap.dedent(OLD) % (", ".join(kinds) + ",")
        if "Old" in kinds:
            source = source.replace("prompt.messages", "prompt.parts")
        path.write_text(source)
        spec = spec_from_file_location(path.stem, path)
        module = sys.modules[path.stem] = module_from_spec(spec)
        spec.loader.exec_module(module)
        pm.register(module)
        loaded.append(module)

    yield load
    for module in loaded:
        pm.unregister(module)
        del sys.modules[module.__name__]


HISTORY = [
    {"role": "user", "content": "first"},
    {"role": "assistant", "content": [{"type": "text", "text": "answer"}]},
    {"role": "user", "content": "second"},
]


def run(name, messages):
    model = open_model(Choice(name, "flag"))
    stream = model.stream(Request("S", messages), deadline_s=None, new_id=str)
    return model, stream, "".join(delta.text for delta in stream)


def test_an_old_plugin_is_shown_one_text_with_a_warning(plugin):
    plugin("Old")
    model, stream, said = run("old-plugin", HISTORY)
    flat = "User: first\n\nAssistant: answer\n\nUser: second"
    assert f"system='S' prompt={flat!r}" == said
    assert [
        "the model old-plugin was written for an older llm: it is shown the conversation as one text"
    ] == model.warnings
    assert (None, None) == (stream.finish, stream.failure)
    assert "plugin-old" == model.speaker.provider


def test_a_plugin_that_tells_no_end_never_writes_a_summary(plugin):
    plugin("Old")
    assert not complete("old-plugin", system="", prompt="x").whole


def test_a_single_turn_model(plugin):
    plugin("Single")
    model, _, said = run("single-turn", HISTORY)
    assert "system:S|user:User: first\n\nAssistant: answer\n\nUser: second" == said
    assert ["the model single-turn takes no conversation: it is shown as one text"] == model.warnings
    assert "system:S|user:first" == run("single-turn", HISTORY[:1])[2]


def test_a_plugin_that_breaks_down(plugin):
    plugin("Broken")
    _, stream, _ = run("broken-plugin", HISTORY)
    assert ("other", "broken-plugin: RuntimeError: out of memory") == (stream.failure.kind, stream.failure.message)
    assert [{"type": "text", "text": "begun"}] == stream.blocks()
