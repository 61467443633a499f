"""The contract: generated messages and stubs, imported by the paths of their protos."""
