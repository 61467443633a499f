"""Parquet files: values with the types and digits that the schema states, at their rows; damaged files are refused."""

from __future__ import annotations

import datetime as dt
import io
import math
import os
import subprocess
import sys
import uuid
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from artifact.codec import pack, parts
from artifact.locators import ByteSpan, LineSpan, RowSpan, from_json
from artifact.model import ROW_LOCATOR, Artifact, BlockType, Column, ColumnType
from extractor_svc.errors import (
    DecompressionLimit,
    LocatorNotFound,
    Malformed,
    TooManyColumns,
    TooManyRows,
    UnsupportedType,
)
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import DEFAULT_LIMITS, Limits

ROOT = Path(__file__).resolve().parents[3]


def written(table: pa.Table, **options: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def read(table: pa.Table, *, limits: Limits = DEFAULT_LIMITS, **options: object) -> Artifact:
    artifact = extract(written(table, **options), filename="t.parquet", limits=limits)
    assert sum(len(pack(part)) for part in parts(artifact)) > 0
    return artifact


def column(artifact: Artifact, number: int = 0) -> Column:
    return artifact.datasets[0].columns[number]


def values(artifact: Artifact, name: str) -> list[object]:
    return artifact.datasets[0].rows.column(name).to_pylist()


def shown(artifact: Artifact) -> list[str]:
    return artifact.blocks[-1].text.split("\n")


class TestFieldFaults:
    def test_h26_wide_decimals_keep_sign_and_digits(self) -> None:
        amounts = [
            Decimal("-12345.67"),
            Decimal("98765432109876543210987.65"),
            Decimal("-98765432109876543210987.65"),
            Decimal("-0.01"),
            None,
        ]
        artifact = read(pa.table({"amt": pa.array(amounts, pa.decimal128(29, 2))}))
        held = values(artifact, "amt")
        assert held == amounts
        assert sum(amount for amount in held if isinstance(amount, Decimal)) == Decimal("-12345.68")
        assert (column(artifact).precision, column(artifact).scale, column(artifact).nullable) == (29, 2, True)
        assert shown(artifact) == ["-12345.67", "98765432109876543210987.65", "-98765432109876543210987.65", "-0.01", ""]

    def test_h27_names_that_differ_in_case_alone_are_told_apart(self) -> None:
        artifact = read(pa.table({"total": [1, 2, 3], "TOTAL": [4, 5, 6], "order": [7, 8, 9]}))
        names = [one.name for one in artifact.datasets[0].columns]
        assert names == ["total", "TOTAL (2)", "order"]
        assert [one.source_header for one in artifact.datasets[0].columns] == ["total", "TOTAL", "order"]
        assert [values(artifact, name) for name in names] == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        assert [asked.code for asked in artifact.datasets[0].clarifications] == ["duplicate_name"]

    @pytest.mark.parametrize("zone", ["UTC", "Asia/Tehran"])
    def test_h28_local_times_and_instants_are_told_apart_in_any_zone(self, zone: str, tmp_path: Path) -> None:
        midnight = 1_954_281_600_000_000  # 2031-12-06T00:00:00Z
        table = pa.table(
            {
                "ts_local": pa.array([midnight], pa.timestamp("us")),
                "ts_utc": pa.array([midnight], pa.timestamp("us", "UTC")),
            }
        )
        path = tmp_path / "t.parquet"
        path.write_bytes(written(table))
        code = (
            "import sys; from extractor_svc.extract import extract;"
            "a = extract(open(sys.argv[1], 'rb').read(), filename='t.parquet');"
            "d = a.datasets[0]; print(a.blocks[-1].text.replace('\\t', '|'));"
            "print(d.rows.column('ts_local')[0], d.rows.column('ts_utc')[0], d.columns[0].unit, d.columns[1].unit, sep='|')"
        )
        ended = subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env={**os.environ, "TZ": zone, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "protos")])},
            capture_output=True,
            text=True,
            check=True,
        )
        assert ended.stdout.splitlines() == [
            "2031-12-06 00:00:00|2031-12-06T00:00:00Z",
            "2031-12-06 00:00:00|2031-12-06 00:00:00||UTC",
        ]


class TestNumbers:
    @pytest.mark.parametrize(
        ("kind", "least", "most"),
        [
            (pa.int8(), -(2**7), 2**7 - 1),
            (pa.int16(), -(2**15), 2**15 - 1),
            (pa.int32(), -(2**31), 2**31 - 1),
            (pa.int64(), -(2**63), 2**63 - 1),
            (pa.uint8(), 0, 2**8 - 1),
            (pa.uint16(), 0, 2**16 - 1),
            (pa.uint32(), 0, 2**32 - 1),
            (pa.uint64(), 0, 2**64 - 1),
        ],
    )
    def test_whole_numbers_of_any_width_are_exact(self, kind: pa.DataType, least: int, most: int) -> None:
        artifact = read(pa.table({"n": pa.array([least, most, None], kind)}))
        assert values(artifact, "n") == [least, most, None]
        assert (column(artifact).type, column(artifact).precision) == (ColumnType.NUMBER, len(str(most)))
        assert shown(artifact) == [str(least), str(most), ""]

    @pytest.mark.parametrize("kind", [pa.decimal32(7, 3), pa.decimal64(12, 3), pa.decimal128(38, 3), pa.decimal256(60, 3)])
    def test_decimals_of_any_width_are_exact(self, kind: pa.DataType) -> None:
        right = [Decimal("-0.001"), Decimal("1234.500"), None]
        artifact = read(pa.table({"n": pa.array(right, kind)}))
        assert values(artifact, "n") == right
        assert shown(artifact) == ["-0.001", "1234.500", ""]
        assert artifact.datasets[0].complete

    def test_decimals_past_38_digits_are_text_with_every_digit(self) -> None:
        wide = Decimal("1" + "0" * 41 + "2.5")
        artifact = read(pa.table({"n": pa.array([wide], pa.decimal256(60, 2))}))
        assert values(artifact, "n") == [f"{wide:f}0"]
        assert (column(artifact).type, column(artifact).inferred[0].type) == (ColumnType.STRING, ColumnType.NUMBER)

    def test_tiny_decimals_are_shown_without_an_exponent(self) -> None:
        artifact = read(pa.table({"n": pa.array([Decimal("1E-9"), Decimal(0)], pa.decimal128(12, 9))}))
        assert shown(artifact) == ["0.000000001", "0.000000000"]

    @pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
    def test_floats_are_doubles_and_not_a_number_stays_that(self, kind: pa.DataType) -> None:
        artifact = read(pa.table({"x": pa.array([0.5, float("nan"), float("-inf"), None], kind)}))
        half, nan, low, none = values(artifact, "x")
        assert (half, math.isnan(nan), low, none) == (0.5, True, float("-inf"), None)
        assert (column(artifact).precision, shown(artifact)) == (0, ["0.5", "nan", "-inf", ""])

    def test_truth_values(self) -> None:
        artifact = read(pa.table({"b": [True, False, None]}))
        assert (column(artifact).type, values(artifact, "b")) == (ColumnType.BOOL, [True, False, None])
        assert shown(artifact) == ["true", "false", ""]


class TestTimes:
    @pytest.mark.parametrize("unit", ["ms", "us", "ns"])
    def test_timestamps_of_every_unit(self, unit: str) -> None:
        moment = dt.datetime.fromisoformat("2031-12-06T10:30:00.250")
        artifact = read(pa.table({"t": pa.array([moment, None], pa.timestamp(unit))}))
        assert (column(artifact).type, values(artifact, "t")) == (ColumnType.DATETIME, [moment, None])
        assert (column(artifact).unit, shown(artifact)) == ("", ["2031-12-06 10:30:00.25", ""])

    def test_an_instant_of_another_zone_is_told_in_utc(self) -> None:
        moment = dt.datetime.fromisoformat("2031-12-06T10:30:00+03:30")
        artifact = read(pa.table({"t": pa.array([moment], pa.timestamp("us", "Asia/Tehran"))}))
        assert values(artifact, "t") == [dt.datetime.fromisoformat("2031-12-06T07:00:00")]
        assert (column(artifact).unit, shown(artifact)) == ("UTC", ["2031-12-06T07:00:00Z"])

    def test_digits_below_a_microsecond_are_shown_and_their_loss_told(self) -> None:
        artifact = read(pa.table({"t": pa.array([1_000_000_001], pa.timestamp("ns"))}))
        assert (shown(artifact), artifact.datasets[0].complete) == (["1970-01-01 00:00:01.000000001"], False)

    @pytest.mark.parametrize(("nanos", "complete"), [(1_000_000, True), (1_000_001, False)])
    def test_timestamps_of_96_bits_tell_digits_that_cannot_be_held(self, nanos: int, complete: bool) -> None:
        table = pa.table({"t": pa.array([nanos, None], pa.timestamp("ns"))})
        artifact = read(table, use_deprecated_int96_timestamps=True)
        assert values(artifact, "t") == [dt.datetime.fromisoformat("1970-01-01T00:00:00.001"), None]
        assert artifact.datasets[0].complete is complete

    def test_dates_and_times_of_day(self) -> None:
        table = pa.table(
            {
                "d": pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
                "t": pa.array([0, 86_399_999_999_000], pa.time64("ns")),
                "m": pa.array([1, 86_399_999], pa.time32("ms")),
                "w": pa.array([1500, -1], pa.duration("ms")),
            }
        )
        artifact = read(table)
        kinds = [one.type for one in artifact.datasets[0].columns]
        assert kinds == [ColumnType.DATE, ColumnType.TIME, ColumnType.TIME, ColumnType.DURATION]
        assert values(artifact, "d") == [dt.date(1, 1, 1), dt.date(9999, 12, 31)]
        assert values(artifact, "t") == [dt.time(0), dt.time(23, 59, 59, 999_999)]
        assert values(artifact, "m") == [dt.time(0, 0, 0, 1000), dt.time(23, 59, 59, 999_000)]
        assert values(artifact, "w") == [dt.timedelta(seconds=1.5), dt.timedelta(seconds=-0.001)]
        assert shown(artifact) == ["0001-01-01\t00:00:00\t00:00:00.001\t1.5", "9999-12-31\t23:59:59.999999\t23:59:59.999\t-0.001"]

    def test_a_date_no_calendar_here_has_rejects_its_row_alone(self) -> None:
        table = pa.table({"k": ["a", "b", "c"], "t": pa.array([0, 2**60, 1_000_000], pa.timestamp("us"))})
        artifact = read(table)
        dataset = artifact.datasets[0]
        (rejected,) = dataset.rejected_rows
        assert (rejected.locator, rejected.values, rejected.reason) == (
            RowSpan(2, 2),
            ("b", str(2**60)),
            "column t: the value is out of range",
        )
        assert (values(artifact, "k"), dataset.complete) == (["a", "c"], False)
        assert [from_json(text) for text in values(artifact, ROW_LOCATOR)] == [RowSpan(1, 1), RowSpan(3, 3)]
        assert len(shown(artifact)) == 3


class TestTexts:
    def test_strings_of_every_kind(self) -> None:
        one = uuid.UUID("12345678-1234-5678-1234-567812345678")
        table = pa.table(
            {
                "s": pa.array(["é\tx", None], pa.string()),
                "l": pa.array(["a", None], pa.large_string()),
                "v": pa.array(["a", None], pa.string_view()),
                "d": pa.array(["a", None]).dictionary_encode(),
                "u": pa.array([one.bytes, None], pa.uuid()),
                "j": pa.array(['{"a": 1}', None], pa.json_()),
                "n": pa.nulls(2),
            }
        )
        artifact = read(table)
        assert [values(artifact, name)[0] for name in "slvdujn"] == ["é\tx", "a", "a", "a", str(one), '{"a": 1}', None]
        assert all(values(artifact, name)[1] is None for name in "slvdujn")
        assert shown(artifact) == [f'é x\ta\ta\ta\t{one}\t{{"a": 1}}\t', "\t\t\t\t\t\t"]

    def test_bytes_that_are_text_throughout_are_text(self) -> None:
        artifact = read(pa.table({"b": pa.array([b"abc", "é".encode()], pa.binary())}))
        assert (values(artifact, "b"), artifact.coverage.complete) == (["abc", "é"], True)

    def test_other_bytes_are_a_lost_column_and_told(self) -> None:
        table = pa.table(
            {"k": [1, 2], "b": pa.array([b"abc", b"\xff\x00"], pa.binary()), "f": pa.array([b"ab", b"cd"], pa.binary(2))}
        )
        artifact = read(table)
        assert [one.stored for one in artifact.datasets[0].columns] == [True, False, False]
        assert artifact.datasets[0].rows.column_names[2:] == ["k"]
        assert (artifact.coverage.lost, artifact.datasets[0].complete) == (("binary_columns",), False)
        assert [warning.code for warning in artifact.warnings] == ["BINARY_COLUMN", "BINARY_COLUMN"]

    def test_members_of_structs_are_columns_and_lists_and_maps_are_json(self) -> None:
        table = pa.table(
            {
                "p": pa.array(
                    [{"x": 1, "q": {"y": "a"}}, None], pa.struct([("x", pa.int32()), ("q", pa.struct([("y", pa.string())]))])
                ),
                "l": pa.array([[Decimal("1.50"), None], []], pa.list_(pa.decimal128(5, 2))),
                "m": pa.array([[("k", dt.date(2024, 1, 2))], None], pa.map_(pa.string(), pa.date32())),
                "i": pa.array([[(1, b"\xff")], []], pa.map_(pa.int32(), pa.binary())),
                "s": pa.array([[{"a": 1.5, "b": 'é"'}], None], pa.list_(pa.struct([("a", pa.float64()), ("b", pa.string())]))),
            }
        )
        artifact = read(table)
        assert [one.name for one in artifact.datasets[0].columns] == ["p.x", "p.q.y", "l", "m", "i", "s"]
        assert (values(artifact, "p.x"), values(artifact, "p.q.y")) == ([1, None], ["a", None])
        assert values(artifact, "l") == ["[1.50, null]", "[]"]
        assert values(artifact, "m") == ['{"k": "2024-01-02"}', None]
        assert values(artifact, "i") == ['[[1, "0xff"]]', "[]"]
        assert values(artifact, "s") == ['[{"a": 1.5, "b": "é\\""}]', None]


class TestRows:
    def test_every_block_and_every_row_reads_back_from_any_row_group(self) -> None:
        table = pa.table({"n": range(10), "t": [f"row {n}" for n in range(10)]})
        content = written(table, row_group_size=3)
        artifact = extract(content, filename="t.parquet")
        assert [(block.type, block.text.split("\n")[0]) for block in artifact.blocks] == [
            (BlockType.METADATA, "n\tt"),
            (BlockType.TABLE, "0\trow 0"),
        ]
        for block in artifact.blocks:
            assert resolve(content, block.locator, filename="t.parquet") == block.text
        assert resolve(content, RowSpan(3, 7), filename="t.parquet") == "\n".join(f"{n}\trow {n}" for n in range(2, 7))
        for n, place in enumerate(values(artifact, ROW_LOCATOR)):
            assert resolve(content, from_json(place), filename="t.parquet") == f"{n}\trow {n}"

    @pytest.mark.parametrize("place", [RowSpan(0, 1), RowSpan(2, 4), RowSpan(3, 2), ByteSpan(0, 4), LineSpan(1, 1)])
    def test_a_place_that_is_not_there_is_refused(self, place: RowSpan) -> None:
        with pytest.raises(LocatorNotFound):
            resolve(written(pa.table({"n": [1, 2, 3]})), place, filename="t.parquet")

    def test_a_file_without_a_row_is_an_empty_dataset(self) -> None:
        kinds = [
            pa.int32(),
            pa.string(),
            pa.decimal128(50 - 12, 2),
            pa.timestamp("us"),
            pa.float16(),
            pa.list_(pa.int8()),
            pa.bool_(),
        ]
        artifact = read(pa.schema([(f"c{n}", kind) for n, kind in enumerate(kinds)]).empty_table())
        assert (artifact.datasets[0].rows.num_rows, len(artifact.datasets[0].columns)) == (0, len(kinds))

    def test_the_text_ends_where_its_limit_is_and_the_dataset_has_all_rows(self) -> None:
        table = pa.table({"t": [f"word{n}" for n in range(40_000)]})
        artifact = read(table, limits=Limits(max_text_chars=200_000))
        place = artifact.blocks[-1].locator
        assert isinstance(place, RowSpan)
        told = place.last
        assert told < 40_000 == artifact.datasets[0].rows.num_rows
        assert len(artifact.blocks[-1].text.split("\n")) == told
        assert artifact.coverage.lost == ("table_text",)
        assert [(warning.code, warning.locator) for warning in artifact.warnings] == [
            ("CONTENT_TRUNCATED", RowSpan(told + 1, 40_000))
        ]


class TestRefusals:
    def test_more_rows_or_columns_than_the_limits_are_refused_before_they_are_read(self) -> None:
        with pytest.raises(TooManyRows):
            read(pa.table({"n": pa.nulls(1001, pa.int8())}), limits=Limits(max_rows=1000))
        with pytest.raises(TooManyColumns):
            read(pa.table({f"c{n}": [1] for n in range(11)}), limits=Limits(max_columns=10))

    def test_a_small_file_of_one_long_string_said_often_is_refused(self) -> None:
        often = pa.DictionaryArray.from_arrays(pa.array(bytes(200_000), pa.int8()), pa.array(["x" * 100_000]))
        content = written(pa.table({"s": often}), compression="zstd")
        assert len(content) < 20_000
        with pytest.raises(DecompressionLimit):
            extract(content, filename="t.parquet")

    def test_a_file_that_says_it_inflates_past_the_limit_is_refused(self) -> None:
        content = written(pa.table({"n": range(100_000)}), use_dictionary=False, compression="zstd")
        with pytest.raises(DecompressionLimit):
            extract(content, filename="t.parquet", limits=Limits(zip_max_inflated_bytes=100_000))

    @pytest.mark.parametrize("kept", [4, 12, 100, 500, 1000])
    def test_a_file_that_ends_early_is_refused(self, kept: int) -> None:
        content = written(pa.table({"n": range(1000)}))
        with pytest.raises(Malformed):
            extract(content[:kept], filename="t.parquet")

    def test_a_page_whose_checksum_is_wrong_is_refused(self) -> None:
        content = bytearray(
            written(pa.table({"n": range(1000)}), write_page_checksum=True, use_dictionary=False, compression="none")
        )
        content[200] ^= 1
        with pytest.raises(Malformed):
            extract(bytes(content), filename="t.parquet")

    def test_text_that_is_no_utf_8_is_refused(self) -> None:
        content = written(pa.table({"s": ["abcdefgh"]}), compression="none", use_dictionary=False, write_statistics=False)
        with pytest.raises(Malformed):
            extract(content.replace(b"abcdefgh", b"abc\xff\xfefgh"), filename="t.parquet")

    def test_an_encrypted_file_is_refused_by_name(self) -> None:
        with pytest.raises(UnsupportedType, match="encrypted"):
            extract(b"PARE" + bytes(100) + b"PARE", filename="t.parquet")
