"""The built-in model `oc-offline`: rules, not a language model. Registered with llm as a plugin."""
