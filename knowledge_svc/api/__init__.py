"""RPCs to use cases and back: parse at the door, convert on the way out. No rule and no storage."""
