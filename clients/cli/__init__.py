"""The `loom` command: arguments in, calls of the SDK, words and JSON out. Nothing here knows more than the contract."""
