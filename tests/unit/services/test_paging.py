import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.errors import InvalidArgument
from services.paging import page_size, read_page_token, write_page_token

ANY = st.text(st.characters(), max_size=20)
"""Any characters, lone surrogates too: names of files hold them."""
WORDS = st.lists(ANY, max_size=4)


@pytest.mark.parametrize(("asked", "size"), [(0, 50), (1, 1), (500, 500), (501, 500), (10**9, 500)])
def test_a_page_size_is_defaulted_and_capped(asked, size):
    assert page_size(asked, default=50, cap=500) == size


def test_a_negative_page_size_is_refused_by_its_field():
    with pytest.raises(InvalidArgument) as caught:
        page_size(-1, default=50, cap=500)
    assert [fault.field for fault in caught.value.violations] == ["page_size"]


@given(WORDS, WORDS)
def test_a_token_reads_back_with_the_same_arguments(position, arguments):
    assert read_page_token(write_page_token(position, arguments), arguments) == tuple(position)


@given(WORDS, WORDS, WORDS)
def test_a_token_does_not_work_with_other_arguments(position, arguments, others):
    if arguments == others:
        return
    with pytest.raises(InvalidArgument) as caught:
        read_page_token(write_page_token(position, arguments), others)
    assert caught.value.code_reason == "INVALID_PAGE_TOKEN"


@given(st.text(max_size=80))
def test_any_other_text_is_refused(text):
    with pytest.raises(InvalidArgument):
        read_page_token(text, ["a"])


@given(WORDS, st.integers(min_value=0), st.sampled_from("Aa0-_!= \n"))
def test_a_token_with_another_character_in_it_is_refused(position, place, character):
    token = write_page_token(position, ["a"])
    cut = place % len(token)
    with pytest.raises(InvalidArgument) as caught:
        read_page_token(token[:cut] + character + token[cut:], ["a"])
    assert caught.value.code_reason == "INVALID_PAGE_TOKEN"
    assert [fault.field for fault in caught.value.violations] == ["page_token"]


@pytest.mark.parametrize("body", [b"5", b'{"a": 1}', b"[1]", b'[["a"]]', b"null", b"[" * 100_000, b"no json"])
def test_a_token_forged_around_something_else_than_a_position_is_refused(body):
    key = hashlib.blake2b(b'["a"]', digest_size=32).digest()
    mark = hashlib.blake2b(body, key=key, digest_size=12).digest()
    with pytest.raises(InvalidArgument):
        read_page_token(base64.urlsafe_b64encode(mark + body).decode().rstrip("="), ["a"])


def test_where_one_argument_ends_matters():
    with pytest.raises(InvalidArgument):
        read_page_token(write_page_token(["x"], ["ab", "c"]), ["a", "bc"])
