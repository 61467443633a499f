"""What is wrong with an artifact that came over the wire."""

from __future__ import annotations


class ArtifactFault(ValueError):
    """An artifact breaks the contract; `field` is the path of the first field at fault, such as `blocks[3].locator`."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class ArtifactTooLarge(ArtifactFault):
    """An artifact, or one message of it, is larger than allowed."""
