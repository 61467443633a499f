import asyncio
from dataclasses import replace

import pytest

from services.errors import Unavailable
from services.metrics import CallMetrics, Counter, Family, Gauge, Histogram, exposition
from services.metrics_port import CannotServeMetrics, MetricsPort
from services.server import CannotListen, check_exposure
from services.settings import Address
from tests.integration.test_call_handling import CONFIG

HERE = Address("127.0.0.1", 0)


def test_counters_stand_under_their_labels_in_order():
    counter = Counter(Family("calls", "Calls.", ("method", "code")))
    counter.add("b", "OK")
    counter.add("a", "OK", by=2)
    counter.add("b", "OK")
    assert exposition([counter]) == (
        '# HELP calls Calls.\n# TYPE calls counter\ncalls{method="a",code="OK"} 2\ncalls{method="b",code="OK"} 2\n'
    )


def test_a_class_of_times_counts_those_below_it_too():
    times = Histogram(Family("took", "Time."))
    for seconds in (0.001, 0.003, 0.3, 100):
        times.observe(seconds=seconds)
    lines = exposition([times]).splitlines()
    assert lines[2:5] == ['took_bucket{le="0.001"} 1', 'took_bucket{le="0.0025"} 1', 'took_bucket{le="0.005"} 2']
    assert lines[-5:-2] == ['took_bucket{le="30"} 3', 'took_bucket{le="60"} 3', 'took_bucket{le="+Inf"} 4']
    assert lines[-2:] == ["took_sum 100.304", "took_count 4"]


def test_a_gauge_is_read_when_it_is_asked_for():
    values = iter((1.0, 2.5))
    gauge = Gauge(Family("depth", "Depth."), lambda: {(): next(values)})
    assert [exposition([gauge]).splitlines()[-1] for _ in range(2)] == ["depth 1", "depth 2.5"]


def test_quotes_breaks_and_backslashes_in_labels_are_escaped():
    counter = Counter(Family("c", "C.", ("name",)))
    counter.add('a"b\\c\nd')
    assert exposition([counter]).splitlines()[-1] == 'c{name="a\\"b\\\\c\\nd"} 1'


def test_a_refused_call_counts_by_its_reason():
    calls = CallMetrics()
    calls.ended("/s/M", code="OK", reason="", seconds=0.01)
    calls.ended("/s/M", code="RESOURCE_EXHAUSTED", reason="OVERLOADED", seconds=0.01)
    text = exposition(calls.all)
    assert 'loom_calls_total{method="/s/M",code="OK"} 1\n' in text
    assert 'loom_refusals_total{method="/s/M",reason="OVERLOADED"} 1\n' in text
    assert 'loom_call_seconds_count{method="/s/M"} 2\n' in text


async def ask(address: Address, request: bytes) -> str:
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer.decode()


@pytest.fixture
async def port():
    served = MetricsPort(HERE, [Gauge(Family("depth", "Depth."), lambda: {(): 7})])
    yield await served.start()
    await served.stop()


async def test_metrics_are_got_over_http(port):
    answer = await ask(port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    head, _, body = answer.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4")
    assert f"Content-Length: {len(body)}" in head
    assert body == "# HELP depth Depth.\n# TYPE depth gauge\ndepth 7\n"


@pytest.mark.parametrize(
    ("request_line", "status"),
    [(b"GET / HTTP/1.1", "404"), (b"POST /metrics HTTP/1.1", "405"), (b"", "404"), (b"\xff\x00", "404")],
)
async def test_nothing_else_is_answered(port, request_line, status):
    assert (await ask(port, request_line + b"\r\n\r\n")).split()[1] == status


async def test_a_head_without_end_is_given_up(port):
    assert await ask(port, b"x" * 20_000) == ""
    assert (await ask(port, b"GET /metrics HTTP/1.1\r\n\r\n")).startswith("HTTP/1.1 200")


async def test_metrics_that_cannot_be_read_are_said_to_be_so():
    def failing():
        raise Unavailable("the store is away")

    served = MetricsPort(HERE, [Gauge(Family("depth", "Depth."), failing)])
    address = await served.start()
    assert (await ask(address, b"GET /metrics HTTP/1.1\r\n\r\n")).startswith("HTTP/1.1 503")
    await served.stop()


async def test_a_port_that_is_taken_is_said(port):
    with pytest.raises(CannotServeMetrics, match=str(port.port)):
        await MetricsPort(port, []).start()


def test_metrics_beyond_loopback_are_said_out_loud():
    away = Address("0.0.0.0", 9777)
    with pytest.raises(CannotListen, match="--insecure"):
        check_exposure(replace(CONFIG, metrics=away))
    check_exposure(replace(CONFIG, metrics=away, insecure=True))
