import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def logged(program: str) -> list[dict]:
    return [json.loads(line) for line in said(program).splitlines()]


def said(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True
    )
    return done.stderr


def test_events_of_both_kinds_of_logger_have_one_shape():
    first, second = logged(
        """
        import logging, structlog
        from services.logs import configure_logs
        configure_logs(log_format="json", level="info", service="test")
        structlog.get_logger("a").info("happened", chunks=3)
        structlog.get_logger("a").debug("not shown")
        logging.getLogger("b").warning("record_reopened", extra={"change": 7})
        logging.getLogger("b").debug("not shown")
        """
    )
    assert (first["event"], first["chunks"], first["level"], first["service"]) == ("happened", 3, "info", "test")
    assert (second["event"], second["change"], second["level"], second["service"]) == ("record_reopened", 7, "warning", "test")
    assert first.keys() - {"chunks"} == second.keys() - {"change"}


def test_an_exception_is_told_as_fields():
    (event,) = logged(
        """
        import structlog
        from services.logs import configure_logs
        configure_logs(log_format="json", level="info", service="test")
        try:
            1 / 0
        except ZeroDivisionError:
            structlog.get_logger("a").exception("defect")
        """
    )
    assert event["exception"][0]["exc_type"] == "ZeroDivisionError"


FAILS = """
    import logging, structlog
    from services.logs import configure_logs

    configure_logs(log_format={log_format!r}, level="info", service="test")

    def read(text):
        words = text.split()
        raise KeyError(len(words))

    for log in (structlog.get_logger("a"), logging.getLogger("b")):
        try:
            read("the " + "hoard is under" + " the oak")
        except KeyError:
            log.exception("defect")
"""


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_a_traceback_shows_lines_and_never_values(log_format):
    told = said(FAILS.format(log_format=log_format))
    assert told.count("KeyError") >= 2
    assert "hoard" not in told


def test_fields_that_may_hold_secrets_are_withheld():
    first, second = logged(
        """
        import logging, structlog
        from services.logs import configure_logs
        configure_logs(log_format="json", level="info", service="test")
        structlog.get_logger("a").info("asked", query="where is the hoard", authorization="Bearer s3cret", rows=2)
        logging.getLogger("b").warning("asked", extra={"token": "s3cret"})
        """
    )
    assert (first["query"], first["authorization"], first["rows"]) == ("[withheld]", "[withheld]", 2)
    assert second["token"] == "[withheld]"


def test_an_event_in_a_call_has_the_calls_request_id():
    (event,) = logged(
        """
        import structlog
        from services import interceptor
        from services.logs import configure_logs
        configure_logs(log_format="json", level="info", service="test")
        interceptor._request_id.set("r-1")
        structlog.get_logger("a").info("happened")
        """
    )
    assert event["request_id"] == "r-1"
