from oc.history import content, provenance, reasoning, turns, usage
from tests.support import NOW_MS, vectors

STEPS = {
    "validateGeminiTurns": turns.merge_assistants,
    "validateAnthropicTurns": turns.merge_users,
    "sanitizeGoogleTurnOrdering": lambda messages: turns.start_with_user(messages, now_ms=NOW_MS),
    "downgradeOpenAIReasoningBlocks": reasoning.drop_trailing_reasoning,
    "downgradeOpenAIFunctionCallReasoningPairs": reasoning.drop_lone_item_ids,
    "dropThinkingBlocks": content.drop_thinking,
    "annotateInterSessionUserMessages": provenance.mark_inter_session,
    "stripStaleAssistantUsage": usage.zero_stale_usage,
    "ensureAssistantUsageSnapshots": usage.normalise_usage,
}


@vectors("context-turns")
def test_turns(case):
    given = case.input
    if case.fn == "stripThoughtSignatures":
        options = given["options"]
        assert case.expected == content.strip_signatures(
            given["content"],
            base64_only=options.get("allowBase64Only", False),
            camel_case=options.get("includeCamelCase", False),
        )
    elif case.fn == "pruneProcessedHistoryImages":
        messages, decisions = content.drop_seen_images(given["messages"])
        assert case.expected == {"didMutate": bool(decisions), "messages": messages}
    else:
        assert case.expected == STEPS[case.fn](given["messages"])[0]
