import contextvars
import hashlib

import pytest

from services.auth import LOCAL, Guard, Identity, Role, TokenFault, TokenTable, current_identity, enter_identity
from services.errors import PermissionDenied, Unauthenticated

DIGEST = hashlib.sha256(b"s3cret").hexdigest()
OTHER = hashlib.sha256(b"viewing").hexdigest()
TABLE = TokenTable.parse(f"# people\n{DIGEST} ada acme writer  # writes\n\n{OTHER} ben acme viewer\n")
GUARD = Guard(TABLE, {"/s/Write": Role.WRITER, "/s/Clean": Role.ADMIN})


def bearer(token: str) -> list[tuple[str, str | bytes]]:
    return [("authorization", f"Bearer {token}")]


def test_a_known_token_is_its_identity():
    assert GUARD.admit("/s/Write", bearer("s3cret")) == Identity("ada", "acme", Role.WRITER)


@pytest.mark.parametrize("metadata", [[], [("authorization", "Basic s3cret")], bearer("wrong"), [("x-token", "s3cret")]])
def test_no_token_or_an_unknown_one_is_unauthenticated(metadata):
    with pytest.raises(Unauthenticated):
        GUARD.admit("/s/Read", metadata)


def test_a_role_that_does_not_reach_is_denied_and_told_what_is_needed():
    with pytest.raises(PermissionDenied) as caught:
        GUARD.admit("/s/Clean", bearer("s3cret"))
    assert caught.value.metadata == {"needed": "admin", "role": "writer"}


def test_a_method_without_a_minimum_takes_a_viewer():
    assert GUARD.admit("/s/Read", bearer("viewing")).role is Role.VIEWER
    with pytest.raises(PermissionDenied):
        GUARD.admit("/s/Write", bearer("viewing"))


@pytest.mark.parametrize(
    "method", ["/grpc.health.v1.Health/Check", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"]
)
def test_health_and_reflection_are_never_refused(method):
    assert GUARD.admit(method, []) == LOCAL


def test_without_a_table_every_caller_is_the_local_one():
    assert Guard().admit("/s/Clean", []) == Identity("local", "dev", Role.ADMIN)


def test_a_file_of_tokens_names_every_faulty_line():
    with pytest.raises(TokenFault) as caught:
        TokenTable.parse(f"short ada acme writer\n{DIGEST} ada acme\n{DIGEST} ada acme king\n")
    assert str(caught.value) == (
        "line 1: the first word is not a SHA-256 in lower-case hex; "
        "line 2: takes four words: sha256, identity, organisation, role; "
        "line 3: 'king' is not a role; take viewer, writer or admin"
    )


def test_a_token_with_two_identities_is_a_fault():
    with pytest.raises(TokenFault, match=r"^line 3: the token of line 1 again$"):
        TokenTable.parse(f"{DIGEST} ada acme viewer\n{OTHER} ben acme viewer\n{DIGEST} ada acme admin\n")


def test_outside_of_a_call_nobody_calls():
    with pytest.raises(LookupError):
        contextvars.Context().run(current_identity)


def test_an_identity_is_that_of_its_context():
    identity = Identity("ada", "acme", Role.WRITER)
    context = contextvars.Context()
    context.run(enter_identity, identity)
    assert context.run(current_identity) == identity


def test_roles_reach_as_far_as_the_ones_before_them():
    assert Role.VIEWER < Role.WRITER < Role.ADMIN


def test_an_empty_file_of_tokens_is_a_fault():
    with pytest.raises(TokenFault, match="no token"):
        TokenTable.parse("# nobody\n")
