"""What hypothesis makes for the tests: JSON values, messages, branches of sessions (Chinese, images, tool calls)."""

from hypothesis import strategies as st

TEXT = st.text(st.characters(codec=None, categories=("L", "N", "P", "S", "Z", "C")), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
