"""Harnesses that measure Loom against its own parts called directly; ratios within one run, never absolute times."""
