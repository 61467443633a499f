"""What a document can be refused for; reasons are those of the extractor's contract.

A fault of the document is InvalidArgument, so that nobody repeats the call; only a missing password is a state to be changed.
"""

from __future__ import annotations

from services.errors import FailedPrecondition, InvalidArgument, NotFound


class EmptyDocument(InvalidArgument):
    """No bytes were sent."""

    reason = "EMPTY_DOCUMENT"


class UnsupportedType(InvalidArgument):
    """No reader takes these bytes."""

    reason = "UNSUPPORTED_TYPE"


class TypeMismatch(InvalidArgument):
    """The bytes are not what the declared format or the file's name says."""

    reason = "TYPE_MISMATCH"


class Malformed(InvalidArgument):
    """The file is damaged and no text is left."""

    reason = "MALFORMED"


class BadEncoding(InvalidArgument):
    """Bytes are not valid in the text's encoding."""

    reason = "ENCODING"


class InvalidOption(InvalidArgument):
    """An option has no such value."""

    reason = "INVALID_OPTION"


class TooLarge(InvalidArgument):
    """The file has more bytes than are taken."""

    reason = "DOCUMENT_TOO_LARGE"


class PasswordRequired(FailedPrecondition):
    """The file is encrypted and no password, or a wrong one, was given."""

    reason = "PASSWORD_REQUIRED"


class NoText(InvalidArgument):
    """The file is sound and holds nothing to read."""

    reason = "NO_TEXT"


class ParseTimeout(InvalidArgument):
    """Reading took longer than the limit."""

    reason = "PARSE_TIMEOUT"


class MemoryLimit(InvalidArgument):
    """Reading needed more memory than the limit."""

    reason = "MEMORY_LIMIT"


class OutputLimit(InvalidArgument):
    """The artifact would be larger than the limit."""

    reason = "OUTPUT_LIMIT"


class DecompressionLimit(InvalidArgument):
    """A compressed part inflates past the limit."""

    reason = "DECOMPRESSION_LIMIT"


class ZipBomb(InvalidArgument):
    """The archive's entries inflate past the allowed ratio or total."""

    reason = "ZIP_BOMB"


class ZipInvalid(InvalidArgument):
    """The archive is damaged, or its entries overlap or repeat."""

    reason = "ZIP_INVALID"


class ZipPath(InvalidArgument):
    """An entry's name leaves the archive."""

    reason = "ZIP_PATH"


class ZipTooManyEntries(InvalidArgument):
    """The archive has more entries than are taken."""

    reason = "ZIP_TOO_MANY_ENTRIES"


class XmlDtdForbidden(InvalidArgument):
    """An XML part declares a document type."""

    reason = "XML_DTD_FORBIDDEN"


class TooManyRows(InvalidArgument):
    """More rows, or more cells, than the limit."""

    reason = "TOO_MANY_ROWS"


class TooManyColumns(InvalidArgument):
    """More columns than the limit."""

    reason = "TOO_MANY_COLUMNS"


class ParserCrashed(InvalidArgument):
    """The parser died on this file, and died again on a fresh process."""

    reason = "PARSER_CRASHED"


class LocatorNotFound(NotFound):
    """The locator names no place of this file."""

    reason = "LOCATOR_NOT_FOUND"
