from oc.message.shapes import DERIVED_ROLES, ROLES, calls, result_id, text


def test_a_string_is_one_text_block():
    assert text({"role": "user", "content": "a"}) == "a"
    assert text({"content": [{"type": "text", "text": "a"}, 5, {"type": "text", "text": "b"}]}, "") == "ab"
    assert calls({"role": "assistant", "content": "a"}) == []


def test_types_and_roles_may_be_of_any_kind():
    odd = {"role": "assistant", "content": [{"type": ["toolCall"]}, {"type": {}}, {"type": "toolUse", "id": "a"}]}
    assert calls(odd) == [{"type": "toolUse", "id": "a"}]
    assert ["user"] not in ROLES
    assert {} not in DERIVED_ROLES


def test_only_assistants_call():
    assert calls({"role": "user", "content": [{"type": "toolCall", "id": "a"}]}) == []


def test_the_first_id_that_is_text_counts():
    assert result_id({"toolCallId": "", "toolUseId": "b"}) == "b"
    assert result_id({"toolCallId": "a", "toolUseId": "b"}) == "a"
    assert result_id({"toolCallId": 5}) is None
