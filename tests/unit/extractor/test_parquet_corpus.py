"""Parquet files that nobody here wrote: expected rows, every encoding, and damaged files that end in a refusal."""

from __future__ import annotations

import csv
import datetime as dt
import re
import subprocess
import sys
from pathlib import Path

import pytest

from artifact.locators import RowSpan
from artifact.model import Artifact
from extractor_svc.extract import extract, resolve

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared"
CORPUS = SHARED / "corpus" / "parquet" / "parquet-testing"
HOSTILE = SHARED / "corpus" / "hostile"
FILES = sorted(path.name for path in CORPUS.glob("*.parquet"))

pytestmark = pytest.mark.skipif(not FILES, reason="the shared corpus is not here")

OUTCOMES = {
    "parquet-bad_data/ARROW-GH-41317.parquet": "MALFORMED",
    "parquet-bad_data/ARROW-GH-43605.parquet": "read",  # one value in a dictionary, so its index takes no bits: 21,186 zeros
    "parquet-bad_data/ARROW-GH-45185.parquet": "MALFORMED",
    "parquet-bad_data/ARROW-GH-47662.parquet": "MALFORMED",
    "parquet-bad_data/ARROW-RS-GH-6229-DICTHEADER.parquet": "MALFORMED",
    "parquet-bad_data/PARQUET-1481.parquet": "MALFORMED",
    "parquet-bad_data/datapage_v1-corrupt-checksum.parquet": "MALFORMED",
    "parquet-bad_data/incorrect_map_schema.parquet": "MALFORMED",
    "parquet-bad_data/nation.dict-malformed.parquet": "read",  # all 25 nations are there
    "parquet-testing/encrypt_columns_and_footer.parquet.encrypted": "UNSUPPORTED_TYPE",
    "parquet-testing/large_string_map.brotli.parquet": "DECOMPRESSION_LIMIT",
}

CHILD = """
import resource
import sys
from pathlib import Path
from extractor_svc.extract import extract
from services.errors import LoomError
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
for name in sys.argv[1:]:
    try:
        extract(Path(name).read_bytes(), filename=Path(name).name)
        print("read", flush=True)
    except LoomError as error:
        print(error.code_reason, flush=True)
    except MemoryError:
        print("MEMORY_LIMIT", flush=True)
"""


MUTATIONS = """
import random
import sys
from pathlib import Path
from artifact.codec import parts
from extractor_svc.extract import extract
from services.errors import InvalidArgument
for name in sys.argv[2:]:
    sound = Path(name).read_bytes()
    footer = int.from_bytes(sound[-8:-4], "little")
    for seed in range(int(sys.argv[1])):
        chance = random.Random(seed)
        damaged = bytearray(sound)
        for _ in range(chance.choice([1, 2, 4])):
            first = len(sound) - 8 - footer if chance.random() < 0.6 else 4
            damaged[chance.randrange(first, len(sound) - 8)] = chance.choice([0, 127, 128, 255, chance.randrange(256)])
        try:
            assert sum(1 for _ in parts(extract(bytes(damaged), filename="x.parquet")))
        except InvalidArgument:
            pass
    print(name, flush=True)
"""


def read(name: str) -> Artifact:
    return extract((CORPUS / name).read_bytes(), filename=name)


@pytest.mark.parametrize("stem", ["delta_byte_array", "delta_encoding_optional_column", "delta_encoding_required_column"])
def test_the_expected_rows_are_read(stem: str) -> None:
    artifact = read(f"{stem}.parquet")
    with (CORPUS / f"{stem}_expect.csv").open(encoding="utf-8", newline="") as lines:
        header, *expected = csv.reader(lines)
    columns = artifact.datasets[0].columns
    assert [column.source_header.rstrip(":").strip() for column in columns] == [name.strip() for name in header]
    rows = [line.split("\t") for line in artifact.blocks[-1].text.split("\n")]
    assert rows == [[" ".join(cell.split()) for cell in row] for row in expected]
    held = artifact.datasets[0].rows.drop_columns(["_row_id", "_locator"]).to_pydict()
    assert list(zip(*([None if value is None else str(value) for value in one] for one in held.values()), strict=True)) == [
        tuple(cell or None for cell in row) for row in expected
    ]


@pytest.mark.parametrize("name", FILES)
def test_the_stated_rows_are_read_and_every_block_reads_back(name: str) -> None:
    content = (CORPUS / name).read_bytes()
    artifact = read(name)
    facts = next(line for line in (SHARED / "corpus" / "MANIFEST.tsv").read_text("utf-8").splitlines() if f"/{name}\t" in line)
    (stated,) = map(int, re.findall(r"(\d+) rows", facts))
    dataset = artifact.datasets[0]
    if name == "repeated_no_annotation.parquet":
        assert stated == 0  # the footer's sum; the one row group states and holds six rows
        stated = 6
    assert dataset.rows.num_rows + dataset.rejected_count == stated
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename=name) == block.text


def test_timestamps_of_96_bits_are_read_and_one_past_the_calendar_is_rejected() -> None:
    dataset = read("int96_from_spark.parquet").datasets[0]
    assert [value and value.isoformat() for value in dataset.rows.column("a").to_pylist()] == [
        "2024-01-01T20:34:56.123456",
        "2024-01-01T01:00:00",
        "9999-12-31T03:00:00",
        "2024-12-30T23:00:00",
        None,
    ]
    # The last row's day lies so far off that its microseconds pass 64 bits: its whole seconds are told instead.
    (rejected,) = dataset.rejected_rows
    seconds, unit = rejected.values[0].split()
    assert (rejected.locator, unit) == (RowSpan(6, 6), "s")
    assert int(seconds) * 1_000_000 >= 2**63


def test_every_primitive_type_has_its_value() -> None:
    dataset = read("alltypes_plain.parquet").datasets[0]
    row = dataset.rows.slice(1, 1).to_pylist()[0]
    assert (row["id"], row["bool_col"], row["int_col"], row["bigint_col"]) == (5, False, 1, 10)
    assert (row["double_col"], row["string_col"], row["date_string_col"]) == (10.1, "1", "03/01/09")
    assert row["timestamp_col"] == dt.datetime.fromisoformat("2009-03-01T00:01:00")


def outcome_of_fuzzed(path: Path) -> str:
    return "MALFORMED" if path.read_bytes().startswith(b"PAR1") else "TYPE_MISMATCH"


def test_damaged_files_end_in_a_refusal() -> None:
    fuzzed = {f"arrow-fuzz/{path.name}": outcome_of_fuzzed(path) for path in (HOSTILE / "arrow-fuzz").glob("*.parquet")}
    right = {**OUTCOMES, **fuzzed}
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, *(str(HOSTILE / name) for name in right)],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert dict(zip(right, ended.stdout.split(), strict=True)) == right
    assert len(fuzzed) == 6


def test_files_with_changed_bytes_are_read_or_refused() -> None:
    names = [str(CORPUS / name) for name in FILES if (CORPUS / name).stat().st_size < 6_000]
    ended = subprocess.run(
        [sys.executable, "-c", MUTATIONS, "20", *names], capture_output=True, text=True, timeout=110, check=False
    )
    assert (ended.returncode, ended.stderr, ended.stdout.splitlines()) == (0, "", names)
