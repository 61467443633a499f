import asyncio
from concurrent.futures import ThreadPoolExecutor

from knowledge_svc.jobs.upkeep import Chore, Upkeep
from services.errors import ResourceExhausted


async def test_chores_run_every_interval_and_one_that_fails_holds_up_none():
    done: list[str] = []

    def failing() -> None:
        done.append("failing")
        raise ResourceExhausted("the disk is full")

    with ThreadPoolExecutor(1) as executor:
        upkeep = Upkeep(
            [Chore("failing", failing), Chore("second", lambda: done.append("second"))], interval_s=0.01, executor=executor
        )
        upkeep.start()
        while len(done) < 4:
            await asyncio.sleep(0.01)
        await upkeep.stop()
    assert done[:4] == ["failing", "second", "failing", "second"]
