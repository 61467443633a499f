import json
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def logged(program: str) -> list[dict]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True
    )
    return [json.loads(line) for line in done.stderr.splitlines()]


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
