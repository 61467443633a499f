"""The layers of the sandbox: what the call filter lets through, and what each layer takes away by itself."""

from __future__ import annotations

import errno
import os
import struct
import subprocess
import sys
import textwrap

import pytest

from extractor_svc import seccomp

ALLOW = 0x7FFF0000
KILL = 0x80000000
REFUSE = 0x00050000 | errno.EPERM
MISSING = 0x00050000 | errno.ENOSYS
PID = 4242
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


def verdict(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """Runs the filter for one call, as the kernel does."""
    architecture = seccomp._ARCHITECTURES[machine]
    data = struct.pack("<iIQ6Q", number, audit or architecture.audit, 0, *(*arguments, *[0] * (6 - len(arguments))))
    program = list(struct.iter_unpack("<HBBI", seccomp.build_program(architecture, pid=PID)))
    place, word = 0, 0
    while True:
        code, then, otherwise, value = program[place]
        place += 1
        match code:
            case 0x20:
                (word,) = struct.unpack_from("<I", data, value)
            case 0x06:
                return int(value)
            case 0x15:
                place += then if word == value else otherwise
            case 0x35:
                place += then if word >= value else otherwise
            case 0x45:
                place += then if word & value else otherwise
            case _:
                raise AssertionError(f"an instruction of code {code:#x}")


@pytest.mark.parametrize(
    ("machine", "number"),
    [("x86_64", 0), ("x86_64", 1), ("x86_64", 9), ("x86_64", 231), ("aarch64", 63), ("aarch64", 64), ("aarch64", 222)],
)
def test_reading_writing_mapping_and_leaving_are_allowed(machine: str, number: int) -> None:
    assert verdict(machine, number) == ALLOW


@pytest.mark.parametrize(
    ("machine", "number"),
    [
        *(("x86_64", number) for number in (41, 42, 57, 59, 87, 101, 322)),
        *(("aarch64", number) for number in (35, 117, 198, 203, 221, 281)),
    ],
)
def test_sockets_programs_deletion_and_tracing_are_refused(machine: str, number: int) -> None:
    assert verdict(machine, number) == REFUSE


@pytest.mark.parametrize(("machine", "openat"), [("x86_64", 257), ("aarch64", 56)])
def test_a_file_is_opened_to_read_and_not_to_write(machine: str, openat: int) -> None:
    assert verdict(machine, openat, 0, 0, os.O_RDONLY | os.O_CLOEXEC) == ALLOW
    for flag in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_APPEND):
        assert verdict(machine, openat, 0, 0, flag) == REFUSE


def test_the_older_open_is_held_to_the_same() -> None:
    assert verdict("x86_64", 2, 0, os.O_RDONLY) == ALLOW
    assert verdict("x86_64", 2, 0, os.O_WRONLY | os.O_CREAT) == REFUSE


@pytest.mark.parametrize(("machine", "clone"), [("x86_64", 56), ("aarch64", 220)])
def test_threads_start_and_processes_do_not(machine: str, clone: int) -> None:
    assert verdict(machine, clone, 0x10000 | 0x100) == ALLOW
    assert verdict(machine, clone, 17) == REFUSE
    assert verdict(machine, 435) == MISSING  # clone3


@pytest.mark.parametrize(("machine", "kill", "tgkill"), [("x86_64", 62, 234), ("aarch64", 129, 131)])
def test_a_process_signals_only_itself(machine: str, kill: int, tgkill: int) -> None:
    for call in (kill, tgkill):
        assert verdict(machine, call, PID) == ALLOW
        assert verdict(machine, call, PID + 1) == REFUSE
        assert verdict(machine, call, 2**32 - 1) == REFUSE


@pytest.mark.parametrize(("machine", "prlimit64"), [("x86_64", 302), ("aarch64", 261)])
def test_a_process_limits_only_itself(machine: str, prlimit64: int) -> None:
    assert verdict(machine, prlimit64, 0) == ALLOW
    assert verdict(machine, prlimit64, 1) == REFUSE


def test_calls_of_another_architecture_end_the_process() -> None:
    assert verdict("x86_64", 0, audit=0x40000003) == KILL


def test_calls_the_table_does_not_know_are_reported_missing() -> None:
    assert verdict("x86_64", 451) == MISSING
    assert verdict("x86_64", 0x40000000 + 41) == REFUSE  # the x32 way around the table


def run(code: str) -> list[str]:
    """Runs code in a process of its own and returns what it printed."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@LINUX
def test_landlock_leaves_only_reading_below_what_was_named(tmp_path) -> None:  # type: ignore[no-untyped-def]  # pytest's path
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "page").write_text("text", "utf-8")
    (tmp_path / "out").write_text("text", "utf-8")
    said = run(f"""
        import ctypes, pathlib
        from extractor_svc import landlock
        folder = pathlib.Path({str(tmp_path)!r})
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
        try:
            landlock.restrict([folder / "in", folder / "absent"])
        except OSError as error:
            print("unavailable", error.errno)
            raise SystemExit
        for attempt in ((folder / "in" / "page").read_text, (folder / "out").read_text, (folder / "in" / "page").unlink):
            try:
                attempt()
                print("allowed")
            except PermissionError:
                print("refused")
    """)
    if said[0] == "unavailable":
        pytest.skip(f"no Landlock here: errno {said[1]}")
    assert said == ["allowed", "refused", "refused"]


@LINUX
def test_the_call_filter_alone_refuses_sockets_writing_and_processes() -> None:
    said = run("""
        import ctypes, os, pathlib, socket, tempfile, threading
        from extractor_svc import seccomp
        target = pathlib.Path(tempfile.gettempdir()) / "loom-escape"
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
        try:
            seccomp.install()
        except OSError as error:
            print("unavailable", error.errno)
            raise SystemExit
        for attempt in (socket.socket, lambda: target.write_text("x"), os.fork, lambda: os.kill(os.getppid(), 0)):
            try:
                attempt()
                print("allowed")
            except PermissionError:
                print("refused")
        thread = threading.Thread(target=print, args=("thread",))
        thread.start()
        thread.join()
        print(len(pathlib.Path(seccomp.__file__).read_bytes()) > 0)
    """)
    if said[0] == "unavailable":
        pytest.skip(f"no seccomp here: errno {said[1]}")
    assert said == ["refused", "refused", "refused", "refused", "thread", "True"]


@LINUX
def test_limits_hold_memory_and_files() -> None:
    said = run("""
        import os, tempfile
        from extractor_svc.sandbox import Protection, SandboxMode, confine
        descriptor, name = tempfile.mkstemp()
        os.unlink(name)
        network = Protection("no_network", on=False, detail="switched off")
        layers = confine(SandboxMode.OFF, network, memory_bytes=64 * 1024 * 1024)
        print(*(layer.name for layer in layers if layer.on))
        print(len(bytearray(32 * 1024 * 1024)) > 0)
        try:
            bytearray(128 * 1024 * 1024)
        except MemoryError:
            print("memory")
        try:
            os.write(descriptor, b"x")
        except OSError as error:
            print("size", error.errno)
    """)
    assert said == ["rlimits", "True", "memory", "size", str(errno.EFBIG)]


@LINUX
def test_a_child_without_its_parent_does_not_start() -> None:
    said = run("""
        import os
        from extractor_svc.sandbox import SandboxMode, isolate
        try:
            isolate(SandboxMode.OFF, parent_pid=os.getppid() + 1)
        except ProcessLookupError:
            print("orphan")
    """)
    assert said == ["orphan"]
