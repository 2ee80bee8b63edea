from oc.history.policy import Model, policy
from tests.support import vectors


def camel_case_policy(found):
    """The reference's form: what is not set is left out."""
    shown = {
        "sanitizeMode": "full" if found.full else "images-only",
        "sanitizeToolCallIds": found.rewrite_ids,
        "repairToolUseResultPairing": True,
        "preserveSignatures": found.preserve_signatures,
        "sanitizeThinkingSignatures": False,
        "dropThinkingBlocks": found.drop_thinking,
        "applyGoogleTurnOrdering": found.user_first,
        "validateGeminiTurns": found.merge_assistants,
        "validateAnthropicTurns": found.merge_users,
        "allowSyntheticToolResults": found.synthetic_results,
    }
    if found.id_mode is not None:
        shown["toolCallIdMode"] = found.id_mode
    if found.base64_signatures:
        shown["sanitizeThoughtSignatures"] = {"allowBase64Only": True, "includeCamelCase": True}
    return shown


@vectors("context-transcript-policy")
def test_policy(case):
    given = case.input
    found = policy(Model(given["provider"], given["modelApi"], given["modelId"]))
    assert case.expected == camel_case_policy(found)
