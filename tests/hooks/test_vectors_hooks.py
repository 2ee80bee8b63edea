"""The reference's prompt hooks: tests/vectors/context-hooks.json."""

from oc.config.load import Config
from oc.errors import Unavailable
from oc.hooks.events import change_prompt, prompt_changes
from oc.hooks.run import Hook, Hooks
from tests.support import vectors

FIELDS = ("systemPrompt", "prependContext", "prependSystemContext", "appendSystemContext")


def builtin(given, order):
    """Returns the handlers by event as the reference runs them: higher priority first, then as they were added."""
    found = {}
    for number, handler in sorted(enumerate(given), key=lambda pair: -pair[1].get("priority", 0)):

        def call(_, handler=handler, name=f"p{number}"):
            order.append(name)
            if handler.get("throws"):
                raise Unavailable("boom")
            return handler["result"]

        found.setdefault(handler["hook"], []).append(Hook(f"p{number}", call))
    return found


@vectors("context-hooks")
def test_prompt_hooks(case, tmp_path):
    order, warnings = [], []
    hooks = Hooks(
        str(tmp_path), "/ws", Config(()), warnings.append, environ={}, builtin=builtin(case.input["hooks"], order)
    )
    payload = {"prompt": case.input["prompt"], "messages": []}
    changes = prompt_changes(hooks.fire("before_prompt_build", payload), hooks.fire("before_agent_start", payload))
    prompt, system = change_prompt(changes, case.input["prompt"], case.input["system"])
    assert case.expected == {
        "order": order,
        "hookResult": {name: changes.get(name) for name in FIELDS},
        "effectivePrompt": prompt,
        "systemPrompt": system,
    }
    assert warnings == [f"hook p{n}: boom" for n, h in enumerate(case.input["hooks"]) if h.get("throws")]
