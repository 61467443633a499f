"""Who calls, and what they may do."""

from __future__ import annotations

import contextvars
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from services.errors import PermissionDenied, Unauthenticated

OPEN_SERVICES: Final = ("/grpc.health.v1.Health/", "/grpc.reflection.")
"""Services that are never refused."""


class Role(IntEnum):
    """Each role may do what the ones before it may."""

    VIEWER = 1
    WRITER = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller: a name that owns uploads and writes, the organisation it belongs to, and its role."""

    name: str
    org: str
    role: Role


LOCAL: Final = Identity("local", "dev", Role.ADMIN)
"""The caller of a server without tokens, which listens on loopback only."""

_identity: contextvars.ContextVar[Identity] = contextvars.ContextVar("loom_identity")


def current_identity() -> Identity:
    """The caller of the call being served.

    Raises:
        LookupError: no call is being served, or one that takes no identity; work of the server's own has none.
    """
    return _identity.get()


def enter_identity(identity: Identity) -> None:
    """Makes the identity that of the current context."""
    _identity.set(identity)


@dataclass(frozen=True, slots=True)
class _Entry:
    digest: str
    identity: Identity


class TokenFault(ValueError):
    """A file of tokens does not hold; the message lists every faulty line."""


@dataclass(frozen=True, slots=True)
class TokenTable:
    """Known tokens by the SHA-256 of their text; the tokens themselves are nowhere."""

    entries: tuple[_Entry, ...]

    @classmethod
    def parse(cls, text: str) -> TokenTable:
        """Reads lines of `<sha256 of the token> <identity> <organisation> <role>`; `#` begins a comment.

        Raises:
            TokenFault: with every line that does not hold.
        """
        entries: list[_Entry] = []
        faults: list[str] = []
        lines: dict[str, int] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            words = line.split("#", 1)[0].split()
            if not words:
                continue
            try:
                entry = _entry(words)
            except ValueError as error:
                faults.append(f"line {number}: {error}")
                continue
            if entry.digest in lines:
                faults.append(f"line {number}: the token of line {lines[entry.digest]} again")
            lines[entry.digest] = number
            entries.append(entry)
        if not entries and not faults:
            faults.append("there is no token in it")
        if faults:
            raise TokenFault("; ".join(faults))
        return cls(tuple(entries))

    def identify(self, token: str) -> Identity | None:
        """The identity of a token, None where it is not known. Takes as long for any token."""
        digest = hashlib.sha256(token.encode()).hexdigest()
        found = None
        for entry in self.entries:
            if hmac.compare_digest(entry.digest, digest):
                found = entry.identity
        return found


@dataclass(frozen=True, slots=True)
class Guard:
    """Decides each call. Without a table every caller is the local one. `minimum` names roles by full method name."""

    table: TokenTable | None = None
    minimum: Mapping[str, Role] | None = None
    default: Role = Role.VIEWER

    def admit(self, method: str, metadata: Sequence[tuple[str, str | bytes]]) -> Identity:
        """Returns the caller.

        Raises:
            Unauthenticated: there is no token, or none that is known.
            PermissionDenied: the role does not reach.
        """
        if self.table is None or method.startswith(OPEN_SERVICES):
            return LOCAL
        identity = self.table.identify(_bearer(metadata))
        if identity is None:
            raise Unauthenticated("the token is not known; ask the operator for one")
        needed = (self.minimum or {}).get(method, self.default)
        if identity.role < needed:
            raise PermissionDenied(
                f"this call needs the role {needed.name.lower()}, the token has {identity.role.name.lower()}",
                metadata={"needed": needed.name.lower(), "role": identity.role.name.lower()},
            )
        return identity


def _entry(words: Sequence[str]) -> _Entry:
    if len(words) != 4:
        raise ValueError("takes four words: sha256, identity, organisation, role")
    digest, name, org, role = words
    if len(digest) != 64 or any(c not in "0123456789abcdef" for c in digest):
        raise ValueError("the first word is not a SHA-256 in lower-case hex")
    if role.upper() not in Role.__members__:
        raise ValueError(f"{role!r} is not a role; take viewer, writer or admin")
    return _Entry(digest, Identity(name, org, Role[role.upper()]))


def _bearer(metadata: Sequence[tuple[str, str | bytes]]) -> str:
    for key, value in metadata:
        if key == "authorization" and isinstance(value, str) and value.lower().startswith("bearer "):
            return value[7:].strip()
    raise Unauthenticated("no token was sent; send one as authorization: Bearer")
