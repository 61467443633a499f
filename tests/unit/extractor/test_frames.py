"""What crosses between the service and its children is checked on arrival."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractor_svc.context import Options
from extractor_svc.frames import (
    HEADER,
    MAX_FRAME_BYTES,
    Crash,
    FrameFault,
    Kind,
    Progress,
    Ready,
    Refusal,
    Request,
    crash_of,
    frame,
    frame_of,
    progress_of,
    read_header,
    ready_of,
    refusal_of,
    request_of,
)
from extractor_svc.sandbox import Protection

SAID = [
    (
        Request(
            "stock.md", "text/markdown", Options("markdown", "utf-8", "", "secret", ocr=True, original_view=True), '{"rows":{}}'
        ),
        request_of,
    ),
    (Request("", "", Options()), request_of),
    (Ready((Protection("seccomp", on=True, detail="no sockets"),)), ready_of),
    (Progress("page", 3, 0), progress_of),
    (Refusal("InvalidArgument", "MALFORMED", "page 3 is damaged", {"page": "3"}), refusal_of),
    (Crash("KeyError", "pdf.py:12"), crash_of),
]
READERS = [request_of, ready_of, progress_of, refusal_of, crash_of]


@pytest.mark.parametrize(("said", "read"), SAID)
def test_what_is_said_is_heard(said, read) -> None:  # type: ignore[no-untyped-def]  # each pair has types of its own
    sent = frame_of(said)
    payload = sent[HEADER.size :]
    assert read_header(sent[: HEADER.size])[1] == len(payload)
    assert read(payload) == said


def test_a_frame_is_its_length_its_kind_and_its_payload() -> None:
    assert frame(Kind.PART, b"abc") == b"\x03\x00\x00\x00\x04abc"


def test_a_frame_larger_than_any_is_refused_before_it_is_read() -> None:
    with pytest.raises(FrameFault):
        read_header(HEADER.pack(MAX_FRAME_BYTES + 1, Kind.PART))


@pytest.mark.parametrize("number", [0, 9, 255])
def test_an_unknown_kind_is_refused(number: int) -> None:
    with pytest.raises(FrameFault):
        read_header(HEADER.pack(0, number))


@pytest.mark.parametrize(
    ("read", "payload"),
    [
        (progress_of, {"unit": "page", "done": -1, "total": 0}),
        (progress_of, {"unit": "page", "done": True, "total": 0}),
        (progress_of, {"unit": "page", "done": 1.5, "total": 0}),
        (progress_of, {"unit": "page", "done": 2**63, "total": 0}),
        (progress_of, {"unit": 7, "done": 1, "total": 0}),
        (refusal_of, {"kind": "InvalidArgument", "reason": "X", "message": "m", "metadata": {"page": 3}}),
        (refusal_of, {"kind": "InvalidArgument", "reason": "X", "message": "m"}),
        (ready_of, {"protections": [{"name": "seccomp", "on": "yes", "detail": ""}]}),
        (request_of, {"filename": "", "content_type": "", "options": {"ocr": "yes"}, "locator": ""}),
        (request_of, {"filename": "", "content_type": "", "options": {"original_view": "yes"}, "locator": ""}),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(read, payload) -> None:  # type: ignore[no-untyped-def]  # as above
    with pytest.raises(FrameFault):
        read(json.dumps(payload).encode())


def test_a_long_message_is_cut() -> None:
    refusal = Refusal("InvalidArgument", "MALFORMED", "x" * 1_000_000, {str(number): "y" * 5000 for number in range(500)})
    heard = refusal_of(frame_of(refusal)[HEADER.size :])
    assert len(heard.message) == 2000
    assert len(heard.metadata) == 32
    assert {len(value) for value in heard.metadata.values()} == {2000}


@given(st.sampled_from(READERS), st.binary(max_size=60) | st.just(b"[" * 100_000) | st.just(b'{"done":' + b"9" * 5000 + b"}"))
def test_any_bytes_are_heard_or_refused(read, payload: bytes) -> None:  # type: ignore[no-untyped-def]  # as above
    with pytest.raises(FrameFault):
        read(payload)
