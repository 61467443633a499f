"""Every way a document can misuse its reader ends in a typed outcome, and the pool goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from artifact.codec import ArtifactAssembler, unpack
from artifact.locators import LineSpan, to_json
from artifact.model import Artifact
from extractor_svc.child import ChildSettings
from extractor_svc.context import Options
from extractor_svc.errors import MemoryLimit, OutputLimit, ParserCrashed, ParseTimeout
from extractor_svc.frames import Progress, Ready, Request, ready_of
from extractor_svc.limits import MIB, Limits
from extractor_svc.pool import ExtractorPool, Job, NoReader, PoolSettings
from extractor_svc.sandbox import Protection, SandboxMode
from extractor_svc.spool import DocumentSpool, PartSpool
from services.errors import InvalidArgument, LoomError, ResourceExhausted

pytestmark = pytest.mark.asyncio(loop_scope="module")
TIMEOUT_S = 2.0
SILENCE_S = 1.0
LIMITS = Limits(timeout_s=TIMEOUT_S, progress_timeout_s=SILENCE_S, memory_bytes=256 * MIB)


def settings(**changes: object) -> PoolSettings:
    child = ChildSettings(LIMITS, extra_arguments=("--mock-format",))
    chosen: dict[str, object] = {"child": child, "workers": 1, "spares": 1, "queue_size": 1, "max_output_bytes": 8 * MIB}
    return PoolSettings(**(chosen | changes))  # type: ignore[arg-type]  # one field each


@contextlib.asynccontextmanager
async def running(**changes: object) -> AsyncIterator[ExtractorPool]:
    pool = ExtractorPool(settings(**changes))
    await pool.start()
    try:
        yield pool
    finally:
        await pool.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[ExtractorPool]:
    async with running() as started:
        yield started


def no_progress(stage: str, progress: Progress) -> None:
    """Hears of progress and does nothing."""


async def extract(
    pool: ExtractorPool,
    content: bytes,
    folder: Path,
    *,
    filename: str = "x.mock",
    on_progress: Callable[[str, Progress], None] = no_progress,
) -> Artifact:
    with DocumentSpool(folder) as document, PartSpool(folder) as sink:
        await document.write(content)
        await pool.run(Job(document, Request(filename, "", Options()), sink, on_progress))
        assembler = ArtifactAssembler()
        async for packed in sink.read():
            assembler.add(unpack(packed))
        return assembler.finish()


async def act(pool: ExtractorPool, folder: Path, **script: object) -> list[str]:
    artifact = await extract(pool, json.dumps(script).encode(), folder)
    return [block.text for block in artifact.blocks]


async def refusal(pool: ExtractorPool, folder: Path, **script: object) -> LoomError:
    with pytest.raises(LoomError) as caught:
        await act(pool, folder, **script)
    return caught.value


async def is_well(pool: ExtractorPool, folder: Path) -> None:
    assert await act(pool, folder, do="say", text="well") == ["well"]


async def is_stocked(pool: ExtractorPool) -> None:
    """Waits until the reader at work and the spare one are both there, so that what is timed is not their start."""
    async with asyncio.timeout(20):
        while pool.stats.children < 2:
            await asyncio.sleep(0.01)


async def test_a_document_is_read(pool: ExtractorPool, tmp_path: Path) -> None:
    artifact = await extract(pool, b"# Stock\n\nPens and ink.\n", tmp_path, filename="stock.md")
    assert [block.text for block in artifact.blocks] == ["Stock", "Pens and ink."]


async def test_a_place_reads_back(pool: ExtractorPool, tmp_path: Path) -> None:
    with DocumentSpool(tmp_path) as document, PartSpool(tmp_path) as sink:
        await document.write(b"# Stock\n\nPens and ink.\n")
        request = Request("stock.md", "", Options(), locator=to_json(LineSpan(3, 3)))
        await pool.run(Job(document, request, sink, no_progress))
        assert [packed.decode() async for packed in sink.read()] == ["Pens and ink."]


async def test_a_refused_document_keeps_its_reason_and_the_child(pool: ExtractorPool, tmp_path: Path) -> None:
    first = (await act(pool, tmp_path, do="sleep", seconds=0))[0]
    error = await refusal(pool, tmp_path, do="refuse")
    assert isinstance(error, InvalidArgument)
    assert (error.code_reason, error.metadata) == ("MALFORMED", {"page": "3"})
    assert error.message == "page 3 is damaged; save the file again"
    assert (await act(pool, tmp_path, do="sleep", seconds=0))[0] == first


async def test_a_silent_document_is_stopped_within_a_second_of_the_limit(pool: ExtractorPool, tmp_path: Path) -> None:
    await is_stocked(pool)
    began = time.monotonic()
    error = await refusal(pool, tmp_path, do="sleep", seconds=60)
    assert time.monotonic() - began <= SILENCE_S + 1
    assert isinstance(error, ParseTimeout)
    assert "no progress for 1 s" in error.message
    await is_well(pool, tmp_path)


async def test_the_next_document_has_the_slot_within_a_second_of_the_limit(pool: ExtractorPool, tmp_path: Path) -> None:
    await is_stocked(pool)
    began = time.monotonic()
    hung = asyncio.create_task(refusal(pool, tmp_path, do="spin"))
    await asyncio.sleep(0.05)
    await is_well(pool, tmp_path)
    assert time.monotonic() - began <= SILENCE_S + 1
    assert isinstance(await hung, ParseTimeout)


async def test_a_document_that_makes_progress_forever_is_stopped(pool: ExtractorPool, tmp_path: Path) -> None:
    await is_stocked(pool)
    began = time.monotonic()
    error = await refusal(pool, tmp_path, do="drip")
    assert TIMEOUT_S <= time.monotonic() - began <= TIMEOUT_S + 1
    assert isinstance(error, ParseTimeout)
    assert "longer than 2 s" in error.message


async def test_a_document_that_can_stop_is_told_to_and_its_reader_lives(pool: ExtractorPool, tmp_path: Path) -> None:
    before = pool.stats.ended
    error = await refusal(pool, tmp_path, do="endless")
    assert isinstance(error, InvalidArgument)
    assert (error.code_reason, error.metadata) == ("PARSE_TIMEOUT", {"timeout_s": "2"})
    assert pool.stats.ended == before


async def test_pages_read_before_the_time_is_up_are_kept(pool: ExtractorPool, tmp_path: Path) -> None:
    pages = await act(pool, tmp_path, do="pages")
    assert 5 < len(pages) < 40
    assert pages[:2] == ["page 1", "page 2"]


async def test_a_reader_that_only_reports_does_not_hold_the_service(pool: ExtractorPool, tmp_path: Path) -> None:
    flooding = asyncio.create_task(refusal(pool, tmp_path, do="flood_of_progress"))
    await asyncio.sleep(0.5)
    used = time.process_time()
    await asyncio.sleep(0.5)
    assert time.process_time() - used < 0.25
    assert isinstance(await flooding, ParseTimeout)


async def test_processor_time_is_bounded_by_the_kernel_as_well(tmp_path: Path) -> None:
    limits = Limits(timeout_s=0.5, progress_timeout_s=30, memory_bytes=256 * MIB)
    child = ChildSettings(limits, extra_arguments=("--mock-format",))
    async with running(child=child, spares=0) as pool:
        assert isinstance(await refusal(pool, tmp_path, do="spin"), ParseTimeout)
        await is_well(pool, tmp_path)


async def test_memory_past_the_limit_is_a_memory_limit(pool: ExtractorPool, tmp_path: Path) -> None:
    error = await refusal(pool, tmp_path, do="allocate")
    assert isinstance(error, MemoryLimit)
    assert error.metadata == {"memory_mib": "256"}
    await is_well(pool, tmp_path)


async def test_a_library_that_aborts_without_memory_is_a_memory_limit(pool: ExtractorPool, tmp_path: Path) -> None:
    assert isinstance(await refusal(pool, tmp_path, do="abort_out_of_memory"), MemoryLimit)
    await is_well(pool, tmp_path)


async def test_output_past_the_cap_is_an_output_limit(pool: ExtractorPool, tmp_path: Path) -> None:
    error = await refusal(pool, tmp_path, do="flood", megabytes=50)
    assert isinstance(error, OutputLimit)
    assert error.metadata == {"max_output_mib": "8"}
    await is_well(pool, tmp_path)


async def test_output_under_the_cap_comes_whole(pool: ExtractorPool, tmp_path: Path) -> None:
    assert [len(text) for text in await act(pool, tmp_path, do="flood", megabytes=7)] == [1_000_000] * 7


async def test_a_place_with_more_text_than_a_message_is_an_output_limit(pool: ExtractorPool, tmp_path: Path) -> None:
    with DocumentSpool(tmp_path) as document, PartSpool(tmp_path) as sink:
        await document.write(json.dumps({"do": "one_huge_block", "bytes": 5_000_000}).encode())
        request = Request("x.mock", "", Options(), locator=to_json(LineSpan(1, 1)))
        with pytest.raises(LoomError) as caught:
            await pool.run(Job(document, request, sink, no_progress))
    assert caught.value.code_reason == "OUTPUT_LIMIT"
    assert caught.value.metadata["text_bytes"] == "5000000"


@pytest.mark.parametrize("script", [{"do": "crash"}, {"do": "exit", "status": 0}, {"do": "raise"}, {"do": "garbage"}])
async def test_a_document_that_kills_its_reader_twice_is_refused(tmp_path: Path, script: dict[str, object]) -> None:
    async with running(spares=0) as pool:
        error = await refusal(pool, tmp_path, **script)
        assert isinstance(error, ParserCrashed)
        assert "secret" not in error.message
        assert pool.stats.ended["crash"] == 2
        again = await refusal(pool, tmp_path, **script)
        assert isinstance(again, ParserCrashed)
        assert "seconds_left" in again.metadata
        assert pool.stats.ended["crash"] == 2
        await is_well(pool, tmp_path)


async def test_a_crash_is_tried_again_on_a_fresh_reader(pool: ExtractorPool, tmp_path: Path) -> None:
    before = pool.stats.ended["crash"]
    await is_well(pool, tmp_path)
    assert await act(pool, tmp_path, do="crash_unless_fresh") == ["fresh"]
    assert pool.stats.ended["crash"] == before + 1


async def test_what_parsers_print_disturbs_nothing(pool: ExtractorPool, tmp_path: Path) -> None:
    assert await act(pool, tmp_path, do="print", lines=5000) == ["printed"]


async def test_a_full_queue_refuses_at_once_and_says_when_to_come_back(pool: ExtractorPool, tmp_path: Path) -> None:
    running_one = asyncio.create_task(act(pool, tmp_path, do="sleep", seconds=0.6))
    await asyncio.sleep(0.1)
    waiting_one = asyncio.create_task(act(pool, tmp_path, do="say", text="waited"))
    await asyncio.sleep(0.1)
    began = time.monotonic()
    with pytest.raises(ResourceExhausted) as caught:
        await act(pool, tmp_path, do="say", text="refused")
    assert time.monotonic() - began < 0.1
    assert caught.value.code_reason == "OVERLOADED"
    assert caught.value.retry_after_s is not None
    assert caught.value.retry_after_s >= 0.5
    assert await waiting_one == ["waited"]
    await running_one


async def test_a_cancelled_caller_frees_the_slot_at_once(pool: ExtractorPool, tmp_path: Path) -> None:
    await is_stocked(pool)
    before = pool.stats.ended["cancelled"]
    hung = asyncio.create_task(act(pool, tmp_path, do="drip"))
    await asyncio.sleep(0.2)
    hung.cancel()
    began = time.monotonic()
    await is_well(pool, tmp_path)
    assert time.monotonic() - began < 1
    assert pool.stats.ended["cancelled"] == before + 1


async def test_a_caller_cancelled_in_the_queue_is_never_started(pool: ExtractorPool, tmp_path: Path) -> None:
    before = pool.stats.ended
    first = asyncio.create_task(act(pool, tmp_path, do="sleep", seconds=0.5))
    await asyncio.sleep(0.1)
    queued = asyncio.create_task(refusal(pool, tmp_path, do="crash"))
    await asyncio.sleep(0.1)
    queued.cancel()
    await first
    await is_well(pool, tmp_path)
    assert pool.stats.ended == before


async def test_four_documents_are_read_by_two_readers(tmp_path: Path) -> None:
    async with running(workers=2, spares=0, queue_size=4) as pool:
        texts = await asyncio.gather(*(act(pool, tmp_path, do="say", text=str(number)) for number in range(4)))
        assert texts == [["0"], ["1"], ["2"], ["3"]]


async def test_a_reader_is_replaced_after_its_share_of_documents(tmp_path: Path) -> None:
    async with running(recycle_documents=2, spares=0) as pool:
        pids = [(await act(pool, tmp_path, do="sleep", seconds=0))[0] for _ in range(4)]
        assert pids[0] == pids[1] != pids[2] == pids[3]
        assert pool.stats.ended["worn"] == 2


async def test_a_reader_that_grew_is_replaced(tmp_path: Path) -> None:
    async with running(recycle_growth_bytes=16 * MIB, spares=0) as pool:
        pids = [(await act(pool, tmp_path, do="keep", megabytes=size))[0] for size in (1, 32, 1)]
        assert pids[0] == pids[1] != pids[2]
        assert pool.stats.ended["worn"] == 1


async def test_readers_that_do_not_start_are_reported(tmp_path: Path) -> None:
    pool = ExtractorPool(settings(child=ChildSettings(LIMITS, extra_arguments=("--no-such-flag",))))
    with pytest.raises(NoReader, match="unrecognized arguments: --no-such-flag"):
        await pool.start()
    await pool.close()


async def test_a_required_protection_that_is_off_refuses_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def ready_without_seccomp(payload: bytes) -> Ready:
        layers = ready_of(payload).protections
        return Ready((*layers[:-1], Protection("seccomp", on=False, detail="not available here")))

    monkeypatch.setattr("extractor_svc.child.ready_of", ready_without_seccomp)
    before = children_of(os.getpid())
    pool = ExtractorPool(settings(child=ChildSettings(LIMITS, sandbox=SandboxMode.REQUIRED)))
    with pytest.raises(NoReader, match=r"protections are off: .*seccomp \(not available here\)"):
        await pool.start()
    assert children_of(os.getpid()) == before


async def test_progress_is_told_by_stage(pool: ExtractorPool, tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []
    await extract(
        pool,
        b"# Stock\n",
        tmp_path,
        filename="stock.md",
        on_progress=lambda stage, progress: heard.append((stage, progress.unit)),
    )
    assert heard[0] == ("queue", "document")


async def test_closing_leaves_no_process_behind(tmp_path: Path) -> None:
    before = children_of(os.getpid())
    closing = ExtractorPool(settings(workers=2))
    await closing.start()
    await is_well(closing, tmp_path)
    await asyncio.sleep(0.1)
    assert children_of(os.getpid()) > before
    await closing.close()
    assert children_of(os.getpid()) == before
    assert closing.stats.children == 0


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")
async def test_a_reader_can_reach_nothing_outside_itself(pool: ExtractorPool, tmp_path: Path) -> None:
    off = {layer.name: layer.detail for layer in pool.protections if not layer.on}
    if off:
        pytest.skip(f"protections are off here: {off}")
    outcomes = await act(pool, tmp_path, do="attempts")
    assert len(outcomes) == 15
    assert [outcome for outcome in outcomes if not outcome.endswith(": PermissionError")] == []


async def test_each_protection_says_what_it_does(pool: ExtractorPool) -> None:
    assert [layer.name for layer in pool.protections] == ["rlimits", "no_network", "no_privileges", "landlock", "seccomp"]
    assert all(layer.detail for layer in pool.protections)


async def test_a_reader_without_a_sandbox_says_so(tmp_path: Path) -> None:
    child = ChildSettings(LIMITS, sandbox=SandboxMode.OFF, extra_arguments=("--mock-format",))
    async with running(child=child, spares=0) as pool:
        assert [layer.name for layer in pool.protections if layer.on] == ["rlimits"]
        await is_well(pool, tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's signal on a parent's death is Linux's")
async def test_readers_die_with_a_killed_service() -> None:
    script = textwrap.dedent("""
        import asyncio, json, pathlib, tempfile
        from extractor_svc.child import ChildSettings
        from extractor_svc.context import Options
        from extractor_svc.frames import Request
        from extractor_svc.limits import Limits
        from extractor_svc.pool import ExtractorPool, Job, PoolSettings
        from extractor_svc.spool import DocumentSpool, PartSpool

        async def main():
            child = ChildSettings(Limits(), extra_arguments=("--mock-format",))
            pool = ExtractorPool(PoolSettings(child, workers=1, spares=0))
            await pool.start()
            folder = pathlib.Path(tempfile.gettempdir())
            with DocumentSpool(folder) as document, PartSpool(folder) as sink:
                await document.write(json.dumps({"do": "spin"}).encode())
                job = Job(document, Request("x.mock", "", Options()), sink, lambda *_: None)
                running = asyncio.create_task(pool.run(job))
                await asyncio.sleep(0.5)
                print("running", flush=True)
                await running

        asyncio.run(main())
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        assert service.stdout.readline() == "running\n"
        readers = children_of(service.pid)
        assert readers
        service.send_signal(signal.SIGKILL)
        service.wait()
    deadline = time.monotonic() + 2
    while any(map(is_alive, readers)):
        assert time.monotonic() < deadline, "a reader outlived its service"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet reaped does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text("utf-8")
    except FileNotFoundError:
        return False


def children_of(pid: int) -> set[int]:
    """Process ids of the children of a process, zombies included."""
    found = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        found |= {int(child) for child in (task / "children").read_text("ascii").split()}
    return found
