"""Page sizes, and page tokens that only work with the arguments they were made for."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import Final

from services.errors import FieldViolation, InvalidArgument

_MARK_BYTES: Final = 12


def page_size(asked: int, *, default: int, cap: int) -> int:
    """The rows of a page: 0 reads as the default, more than the cap as the cap.

    Raises:
        InvalidArgument: a negative size.
    """
    if asked < 0:
        violation = FieldViolation("page_size", f"takes 0 to {cap}")
        raise InvalidArgument(f"page_size must not be negative, is {asked}", violations=[violation])
    return min(asked or default, cap)


def write_page_token(position: Sequence[str], arguments: Sequence[str]) -> str:
    """An opaque token that stands for a position within a listing of these arguments."""
    body = json.dumps(list(position)).encode()
    return base64.urlsafe_b64encode(_mark(body, arguments) + body).decode().rstrip("=")


def read_page_token(token: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """The position a token stands for.

    Raises:
        InvalidArgument: INVALID_PAGE_TOKEN: the token is damaged, or was made for other arguments.
    """
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        mark, body = raw[:_MARK_BYTES], raw[_MARK_BYTES:]
        if not hmac.compare_digest(mark, _mark(body, arguments)):
            raise _bad_token()
        position = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _bad_token() from error
    if not isinstance(position, list) or not all(isinstance(part, str) for part in position):
        raise _bad_token()
    return tuple(position)


def _mark(body: bytes, arguments: Sequence[str]) -> bytes:
    bound = json.dumps(list(arguments)).encode()
    return hashlib.blake2b(body, key=hashlib.blake2b(bound, digest_size=32).digest(), digest_size=_MARK_BYTES).digest()


def _bad_token() -> InvalidArgument:
    violation = FieldViolation("page_token", "takes a token that the same call with the same arguments returned")
    return InvalidArgument(
        "the page token does not fit this call; begin again without one", reason="INVALID_PAGE_TOKEN", violations=[violation]
    )
