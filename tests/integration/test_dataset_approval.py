"""Approvals of datasets that were ingested: answered, read anew, carried over, and refused over another snapshot."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from artifact.locators import SheetPlace, to_json
from artifact.model import ROW_ID, ROW_LOCATOR, Clarification, Column, ColumnType, Dataset
from knowledge_svc.datasets.engine import DuckDbEngine, EngineLimits
from knowledge_svc.datasets.retyping import DatasetRetyper
from knowledge_svc.domain.approvals import DatasetApprovals
from knowledge_svc.domain.datasets import DatasetQueries
from knowledge_svc.domain.errors import BlobGone, DatasetNotFound, DatasetReplaced, NeedsClarification
from knowledge_svc.domain.model import SchemaState
from knowledge_svc.domain.plan import Aggregate, AggregateFunction, ColumnRef, Plan, PlanDataset
from knowledge_svc.domain.stop import Stop
from knowledge_svc.extraction.stored import StoredArtifacts
from services.errors import InvalidArgument
from tests.house_fixtures import SCOPE, Clock, open_house
from tests.ingest_fixtures import ScriptedExtractor, artifact, ended, queue, working

URI = "file:///zoo.md"
MIXED = Clarification("mixed_types", "price", "values of several types")
WIDE = Clarification("past_capacity", "price", "more columns than are held")


def prices(*values: str, name: str = "price", asked: tuple[Clarification, ...] = (MIXED, WIDE)) -> Dataset:
    places = [to_json(SheetPlace("S", row, row, 1, 1)) for row in range(2, 2 + len(values))]
    rows = pa.table({ROW_ID: pa.array(range(len(values)), pa.int64()), ROW_LOCATOR: places, name: list(values)})
    where = SheetPlace("S", 1, 1 + len(values), 1, 1)
    return Dataset("s", "S", (Column(name, ColumnType.STRING),), rows, where, clarifications=asked)


@pytest.fixture
def house(tmp_path):
    with open_house(tmp_path, clock=Clock()) as opened:
        yield opened


@pytest.fixture
def approvals(house):
    return DatasetApprovals(house.store, StoredArtifacts(house.blobs), DatasetRetyper(), house.snapshots, clock=house.clock)


@pytest.fixture
def queries(house):
    engine = DuckDbEngine(house.snapshots, EngineLimits(memory_bytes=256 << 20, threads=1, max_running=1))
    yield DatasetQueries(house.store, engine, house.snapshots, now=house.clock)
    engine.close()


async def ingest(house, dataset):
    async with working(house, ScriptedExtractor(artifact(datasets=(dataset,)))) as feed:
        assert (await ended(house, queue(house, feed))).datasets == 1


def live(house):
    (snapshot,) = house.store.datasets(SCOPE, URI)
    return snapshot


def total(queries, function=AggregateFunction.SUM):
    plan = Plan((PlanDataset(URI, "s"),), aggregates=(Aggregate(function, ColumnRef("price")),))
    return queries.query(SCOPE, plan, stop=Stop(30.0))[0].rows[0][0]


async def test_l_appr_08_a_dataset_that_waits_for_answers_is_queried_once_it_is_approved(house, approvals, queries):
    await ingest(house, prices("1", "about 2"))
    with pytest.raises(NeedsClarification):
        total(queries, AggregateFunction.COUNT)
    done = approvals.approve(SCOPE, URI, "s", snapshot_id=live(house).snapshot_id, types={})
    assert (done.retyped, done.snapshot.schema_state) == (False, SchemaState.APPROVED)
    assert live(house) == done.snapshot
    assert done.snapshot.clarifications == (WIDE,)  # L-APPR-05
    assert total(queries, AggregateFunction.COUNT) == 2


async def test_l_appr_04_new_types_make_a_new_snapshot_of_the_stored_extraction(house, approvals, queries):
    await ingest(house, prices("1.50", "about 2", "3"))
    before = live(house)
    done = approvals.approve(SCOPE, URI, "s", snapshot_id=before.snapshot_id, types={"price": ColumnType.NUMBER})
    assert done.retyped
    assert done.snapshot.snapshot_id != before.snapshot_id
    assert (done.snapshot.rejected_count, done.snapshot.row_count, done.snapshot.revision) == (1, 2, 1)
    assert live(house) == done.snapshot
    assert total(queries) == Decimal("4.50")
    back = approvals.approve(SCOPE, URI, "s", snapshot_id=done.snapshot.snapshot_id, types={"price": ColumnType.STRING})
    assert (back.snapshot.row_count, back.snapshot.rejected_count) == (3, 0)  # from the extraction, not from what was left


async def test_l_appr_02_an_answer_about_a_snapshot_that_serves_no_more_is_refused(house, approvals):
    await ingest(house, prices("1"))
    before = live(house)
    approvals.approve(SCOPE, URI, "s", snapshot_id=before.snapshot_id, types={"price": ColumnType.NUMBER})
    with pytest.raises(DatasetReplaced) as caught:
        approvals.approve(SCOPE, URI, "s", snapshot_id=before.snapshot_id, types={})
    assert caught.value.metadata["snapshot_id"] == live(house).snapshot_id
    with pytest.raises(DatasetReplaced):
        house.store.replace_dataset(before.snapshot_id, before, at=house.clock())


async def test_l_appr_06_the_next_revision_keeps_the_approval_where_its_columns_are_the_same(house, approvals, queries):
    revisions = (prices("1"), prices("2", "3"), prices("2", name="cost", asked=()))
    async with working(house, ScriptedExtractor(*(artifact(datasets=(one,)) for one in revisions))) as feed:
        await ended(house, queue(house, feed))
        approvals.approve(SCOPE, URI, "s", snapshot_id=live(house).snapshot_id, types={"price": ColumnType.NUMBER})
        await ended(house, queue(house, feed))
        assert (live(house).schema_state, live(house).revision) == (SchemaState.APPROVED, 2)
        assert total(queries) == Decimal(5)
        await ended(house, queue(house, feed))
        assert live(house).schema_state is SchemaState.INFERRED


async def test_what_cannot_be_read_as_a_type_is_told_at_its_column(house, approvals):
    await ingest(house, prices("1"))
    snapshot_id = live(house).snapshot_id
    approvals.approve(SCOPE, URI, "s", snapshot_id=snapshot_id, types={"price": ColumnType.NUMBER})
    snapshot_id = live(house).snapshot_id
    with pytest.raises(InvalidArgument) as caught:
        approvals.approve(SCOPE, URI, "s", snapshot_id=snapshot_id, types={"price": ColumnType.DATE, "cost": ColumnType.NUMBER})
    assert [one.field for one in caught.value.violations] == ['columns["price"]', 'columns["cost"]']
    assert live(house).snapshot_id == snapshot_id


async def test_an_approval_of_what_is_not_there_is_refused(house, approvals):
    with pytest.raises(DatasetNotFound):
        approvals.approve(SCOPE, URI, "s", snapshot_id="x", types={})
    await ingest(house, prices("1"))
    house.blobs.sweep(named=frozenset(), older_than_s=-1)
    with pytest.raises(BlobGone):
        approvals.approve(SCOPE, URI, "s", snapshot_id=live(house).snapshot_id, types={"price": ColumnType.NUMBER})


async def test_approvals_outlive_a_restart(tmp_path):
    with open_house(tmp_path, clock=Clock()) as house:
        await ingest(house, prices("1"))
        made = DatasetApprovals(house.store, StoredArtifacts(house.blobs), DatasetRetyper(), house.snapshots, clock=house.clock)
        made.approve(SCOPE, URI, "s", snapshot_id=live(house).snapshot_id, types={"price": ColumnType.NUMBER})
        serving = live(house)
    with open_house(tmp_path) as house:
        assert live(house) == serving
