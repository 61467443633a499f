"""The pure entry of the extractor: bytes in, one artifact or one typed refusal out."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from artifact.locators import Locator
from artifact.model import Artifact
from extractor_svc.context import DEFAULT_OPTIONS, Options, Progress, ReadContext, ignore_progress
from extractor_svc.errors import TooLarge
from extractor_svc.limits import DEFAULT_LIMITS, Limits
from extractor_svc.office_encryption import is_encrypted, open_encrypted
from extractor_svc.registry import FormatReader, reader_of
from extractor_svc.sniff import identify

__all__ = ["Options", "extract", "resolve"]


def extract(
    content: bytes,
    *,
    filename: str = "",
    content_type: str = "",
    options: Options = DEFAULT_OPTIONS,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress = ignore_progress,
) -> Artifact:
    """Reads one file.

    The format is found by the bytes and the name; `options.format` names it where the caller knows better than the name.

    Raises:
        InvalidArgument: the document, or an option, is at fault; the reason says how.
        PasswordRequired: the file is encrypted and `options.password` does not open it.
    """
    plain = _plain(content, options=options, limits=limits)
    reader = _choose(plain, filename=filename, content_type=content_type, options=options, limits=limits)
    sha256 = hashlib.sha256(content).hexdigest()
    artifact = reader.read(plain, ReadContext(filename, sha256, options, limits, progress))
    return artifact if plain is content else replace(artifact, size_bytes=len(content))


def resolve(
    content: bytes,
    locator: Locator,
    *,
    filename: str = "",
    content_type: str = "",
    options: Options = DEFAULT_OPTIONS,
    limits: Limits = DEFAULT_LIMITS,
) -> str:
    """Returns the text at a locator, read from the original alone; for a block's locator that is the block's text.

    Raises:
        InvalidArgument: as `extract`.
        LocatorNotFound: the file has no such place.
    """
    plain = _plain(content, options=options, limits=limits)
    reader = _choose(plain, filename=filename, content_type=content_type, options=options, limits=limits)
    return reader.resolve(plain, locator, ReadContext(filename, options=options, limits=limits))


def _plain(content: bytes, *, options: Options, limits: Limits) -> bytes:
    """The bytes to be read: those inside an encrypted office file where a password is given, else the file's own."""
    if len(content) > limits.max_bytes:
        raise TooLarge(
            f"the file has {len(content)} bytes and at most {limits.max_bytes} are taken",
            metadata={"size_bytes": str(len(content)), "max_bytes": str(limits.max_bytes)},
        )
    return open_encrypted(content, options.password) if options.password and is_encrypted(content) else content


def _choose(content: bytes, *, filename: str, content_type: str, options: Options, limits: Limits) -> FormatReader:
    format_id = identify(content, filename=filename, content_type=content_type, declared=options.format, limits=limits)
    return reader_of(format_id)
