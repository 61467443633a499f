"""Structured logs on standard error: events with fields, each with its call's request id; never document text or tokens."""

from __future__ import annotations

import logging
import sys
from typing import Final

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from services.interceptor import current_request_id

SECRET_FIELDS: Final = frozenset({"authorization", "content", "key", "password", "query", "text", "token"})
"""Fields whose value never reaches the log, whoever names them."""


def configure_logs(*, log_format: str, level: str, service: str) -> None:
    """Sets up logging for the process; `auto` is text on a terminal and JSON elsewhere.

    Events of the standard library's loggers, with their `extra` fields, come out in the same shape. A traceback never shows the
    values of variables.
    """
    as_text = log_format == "text" or (log_format == "auto" and sys.stderr.isatty())
    number = logging.getLevelNamesMapping()[level.upper()]
    render = _as_text() if as_text else _as_json()

    def named(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        event["service"] = service
        if request_id := current_request_id():
            event.setdefault("request_id", request_id)
        return event

    shape: list[Processor] = [
        named,
        _without_secrets,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
    ]
    structlog.configure(
        processors=[*shape, *render],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shape],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
        )
    )
    logging.basicConfig(handlers=[handler], level=number, force=True)


def _as_text() -> list[Processor]:
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)]


def _as_json() -> list[Processor]:
    tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    return [structlog.processors.ExceptionRenderer(tracebacks), structlog.processors.JSONRenderer()]


def _without_secrets(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    for name in SECRET_FIELDS & event.keys():
        event[name] = "[withheld]"
    return event
