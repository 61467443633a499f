"""Who waits for whom."""

from __future__ import annotations

import threading

from knowledge_svc.index.locks import ReadersWriterLock


def test_readers_hold_the_lock_together() -> None:
    lock, inside = ReadersWriterLock(), threading.Barrier(3, timeout=5)

    def read() -> None:
        with lock.reading():
            inside.wait()

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    with lock.reading():
        inside.wait()
    for thread in threads:
        thread.join()


def test_a_writer_waits_for_readers_and_later_readers_wait_for_the_writer() -> None:
    lock, order = ReadersWriterLock(), list[str]()
    waiting = threading.Event()

    def write() -> None:
        waiting.set()
        with lock.writing():
            order.append("writer")

    def read() -> None:
        with lock.reading():
            order.append("late reader")

    with lock.reading():
        writer = threading.Thread(target=write)
        writer.start()
        waiting.wait(5)
        while not lock._turn.locked():  # the writer stands at the turn
            pass
        reader = threading.Thread(target=read)
        reader.start()
        order.append("early reader")
    writer.join(5)
    reader.join(5)
    assert order == ["early reader", "writer", "late reader"]


def test_a_failure_inside_lets_the_lock_go() -> None:
    lock = ReadersWriterLock()
    for hold in (lock.writing, lock.reading):
        try:
            with hold():
                raise KeyError
        except KeyError:
            pass
    with lock.writing():
        pass
