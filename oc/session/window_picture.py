"""How full the window was, turn by turn, as an inline SVG. Pure.

The picture stretches to any width, so its words stand beside it as HTML. Colours come from the page's style.
"""

from collections.abc import Mapping, Sequence

from oc.session.outline import Step

# A bar narrower than a pixel says nothing: neighbours share one, as high as the highest of them.
MAX_BARS = 400


def picture(steps: Sequence[Step], numbers: Mapping[int, int]) -> str:
    """Returns the section with the picture, its scale and legend; `numbers` are the entries' numbers in the page."""
    turns = [step for step in steps if step.kind == "turn"]
    if not turns:
        return ""
    highest = max(1, *(step.tokens for step in steps))
    per_bar = -(-len(turns) // MAX_BARS)
    width = -(-len(turns) // per_bar)
    bars, marks = [], []
    passed = 0
    for step in steps:
        if step.kind == "turn":
            passed += 1
        else:
            marks.append(_mark(step, passed / per_bar, numbers))
    for first in range(0, len(turns), per_bar):
        group = turns[first : first + per_bar]
        bars.append(_bar(group, first, first // per_bar, highest, numbers))
    kinds = {step.kind for step in steps}
    legend = "".join(f'<span><i class="k-{kind}"></i>{words}</span>' for kind, words in _KINDS.items() if kind in kinds)
    return (
        f'<section><h2>Window over time</h2><div class="window">'
        f'<div class="scale"><span>{highest:,} tokens</span></div>'
        f'<svg viewBox="0 0 {width} 100" preserveAspectRatio="none" role="img" aria-label="Tokens per turn">'
        f"{''.join(bars)}{''.join(marks)}"
        f'<line class="base" x1="0" x2="{width}" y1="100" y2="100" vector-effect="non-scaling-stroke"/></svg>'
        f'<div class="scale"><span>turn 1</span><span>turn {len(turns):,}</span></div>'
        f'<div class="legend">{legend}</div></div></section>'
    )


_KINDS = {"turn": "context at its largest in a turn", "compaction": "compaction", "prune": "prune clock"}


def _bar(group: Sequence[Step], first: int, place: int, highest: int, numbers: Mapping[int, int]) -> str:
    tokens = max(step.tokens for step in group)
    height = max(0.5, 100 * tokens / highest)
    turns = f"turn {first + 1:,}" if len(group) == 1 else f"turns {first + 1:,} to {first + len(group):,}"
    return (
        f'<a href="#e{numbers[id(group[0].entry)]}"><rect class="bar-turn" x="{place + 0.08:.2f}" width="0.84" '
        f'y="{100 - height:.2f}" height="{height:.2f}"><title>{turns}: {tokens:,} tokens</title></rect></a>'
    )


def _mark(step: Step, place: float, numbers: Mapping[int, int]) -> str:
    words = f"compaction: {step.tokens:,} to {step.after:,} tokens" if step.kind == "compaction" else "prune clock"
    return (
        f'<a href="#e{numbers[id(step.entry)]}"><line class="mark-{step.kind}" x1="{place:.2f}" x2="{place:.2f}" '
        f'y1="0" y2="100" vector-effect="non-scaling-stroke"><title>{words}</title></line></a>'
    )
