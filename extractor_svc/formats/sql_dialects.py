"""Which SQL a script is written in, and what of it decides where a statement ends."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from sqlglot.dialects import DIALECTS

from extractor_svc.errors import InvalidOption

Fold: TypeAlias = Callable[[str], str]

_KNOWN: Final = {name.lower() for name in DIALECTS}
_ALSO_KNOWN_AS: Final = {
    "ansi": "",
    "generic": "",
    "postgresql": "postgres",
    "mariadb": "mysql",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "t-sql": "tsql",
    "plsql": "oracle",
    "pl/sql": "oracle",
    "sqlite3": "sqlite",
}
_LOOKED_AT: Final = 200_000
_ENOUGH: Final = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """How a dialect writes what may hold a semicolon that ends nothing.

    `backslash` escapes in strings; `hashes` start comments anywhere in a line; `spaced_dashes` start one only before white
    space; `slashes` start one as two; comments are `nested`; names stand in `brackets`; strings between three quotes are
    `tripled`, between `$` signs `dollars`, behind a Q `q_quotes`. In `batches` statements need no semicolon and GO ends all;
    a `block` of procedural code ends at a line with a slash.
    """

    backslash: bool = False
    hashes: bool = False
    spaced_dashes: bool = False
    slashes: bool = False
    nested: bool = False
    brackets: bool = False
    tripled: bool = False
    dollars: bool = False
    q_quotes: bool = False
    batches: bool = False
    slash_lines: bool = False


_MYSQL: Final = Rules(backslash=True, hashes=True, spaced_dashes=True)
_POSTGRES: Final = Rules(nested=True, dollars=True)
_HIVE: Final = Rules(backslash=True)
_TSQL: Final = Rules(nested=True, brackets=True, batches=True)
_RULES: Final = {
    "": Rules(dollars=True),
    "mysql": _MYSQL,
    "doris": _MYSQL,
    "starrocks": _MYSQL,
    "singlestore": _MYSQL,
    "postgres": _POSTGRES,
    "redshift": _POSTGRES,
    "materialize": _POSTGRES,
    "risingwave": _POSTGRES,
    "duckdb": _POSTGRES,
    "snowflake": Rules(backslash=True, slashes=True, dollars=True),
    "bigquery": Rules(backslash=True, hashes=True, tripled=True),
    "clickhouse": Rules(backslash=True, dollars=True),
    "hive": _HIVE,
    "spark": _HIVE,
    "spark2": _HIVE,
    "databricks": Rules(backslash=True, dollars=True),
    "tsql": _TSQL,
    "fabric": _TSQL,
    "sqlite": Rules(brackets=True),
    "oracle": Rules(q_quotes=True, slash_lines=True),
}
_SIGNS: Final = tuple(
    (dialect, weight, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for dialect, weight, pattern in (
        ("postgres", 5, r"^-- PostgreSQL database (?:cluster )?dump"),
        ("postgres", 3, r"\$(?:[a-z_]\w*)?\$\s|\bplpgsql\b|::[a-z]+|\bFROM stdin;|^\\(?:c|connect|restrict|copy)\b"),
        ("postgres", 2, r"\b(?:BIG|SMALL)?SERIAL\b|\bALTER TABLE ONLY\b|\bnextval\(|\bTIMESTAMPTZ\b|\bJSONB\b|\bILIKE\b"),
        ("postgres", 2, r"\b(?:timestamp|time) with(?:out)? time zone\b|\bcharacter varying\b|\bON CONFLICT\b"),
        ("mysql", 5, r"^-- (?:MySQL|MariaDB) dump|^DELIMITER\s"),
        ("mysql", 3, r"\bENGINE\s*=\s*(?:InnoDB|MyISAM|Aria|MEMORY)\b|\bAUTO_INCREMENT\b|/\*!\d{5}|\bDEFINER\s*=|`\w+`\."),
        ("mysql", 3, r"(?:TABLE|INTO|EXISTS|FROM|JOIN|USE|DATABASE)\s+`\w+`(?!\.)"),
        ("tsql", 5, r"^\s*GO\s*$|\[dbo\]|\bSET NOCOUNT\b|\bDECLARE\s+@\w"),
        ("tsql", 3, r"\bSELECT\s+TOP\b|\bIDENTITY\s*\(\s*\d|\bGETDATE\(\)|@@\w+|\bWITH\s*\(NOLOCK\)|\bTRY_CONVERT\b"),
        ("tsql", 3, r"\b(?:TABLE|INTO|EXISTS|FROM|JOIN)\s+\[\w"),
        ("sqlite", 5, r"\bAUTOINCREMENT\b|\bsqlite_(?:master|sequence|schema)\b|\bWITHOUT\s+ROWID\b|^\s*PRAGMA\s"),
        ("sqlite", 3, r"\b(?:TABLE|INTO|EXISTS|FROM|JOIN)\s+\[\w"),
        ("sqlite", 1, r"\]\s+INTEGER\b"),
        ("oracle", 3, r"\bVARCHAR2\b|\bFROM\s+DUAL\b|\bSYSDATE\b|%(?:ROW)?TYPE\b|\bPACKAGE\s+BODY\b|\bDBMS_\w+\."),
        ("oracle", 3, r"^/\s*$|^(?:PROMPT|WHENEVER|SPOOL)\s"),
        (
            "snowflake",
            3,
            r"\bCOPY\s+INTO\b|\bVARIANT\b|\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:STAGE|WAREHOUSE|FILE\s+FORMAT)\b|\bFLATTEN\(",
        ),
        ("bigquery", 4, r"`[\w-]+\.[\w-]+\.[\w*-]+`|\bSAFE_CAST\(|\b(?:INT|FLOAT)64\b"),
        ("clickhouse", 6, r"\bENGINE\s*=\s*(?:\w*MergeTree|Distributed|Log|TinyLog)\b"),
        ("spark", 4, r"\bUSING\s+(?:delta|parquet|iceberg|orc)\b|\bLATERAL\s+VIEW\b|\bSTORED\s+AS\b|\bTBLPROPERTIES\b"),
    )
)
_FOLDS: Final[dict[str, Fold]] = {
    **dict.fromkeys(("postgres", "redshift", "materialize", "risingwave", "trino", "presto", "athena"), str.lower),
    **dict.fromkeys(("hive", "spark", "spark2", "databricks"), str.lower),
    **dict.fromkeys(("oracle", "snowflake", "exasol"), str.upper),
}
_BACKSLASH_QUOTE_IN_WORD: Final = re.compile(r"\\'\w")


def chosen_dialect(option: str) -> str:
    """The dialect that an option names, as the parser calls it; empty for the neutral one.

    Raises:
        InvalidOption: there is no such dialect.
    """
    name = option.strip().lower()
    name = _ALSO_KNOWN_AS.get(name, name)
    if name and name not in _KNOWN:
        known = ", ".join(sorted(_KNOWN))
        raise InvalidOption(f"no SQL dialect is named {option[:40]}; use one of: {known}", metadata={"sql_dialect": option[:40]})
    return name


def detected_dialect(text: str) -> str:
    """The dialect that the script's first part shows signs of; empty, the neutral one, where they are few."""
    sample = text[:_LOOKED_AT]
    scores: dict[str, int] = {}
    for dialect, weight, sign in _SIGNS:
        if sign.search(sample):
            scores[dialect] = scores.get(dialect, 0) + weight
    best = max(scores, key=lambda dialect: scores[dialect], default="")
    return best if scores.get(best, 0) >= _ENOUGH else ""


def fold_of(dialect: str) -> Fold:
    """What a dialect makes of a name without quotes; one that compares without regard to case keeps it as it is written."""
    return _FOLDS.get(dialect, str)


def rules_of(dialect: str, text: str) -> Rules:
    """What ends statements in a dialect; of a neutral script, what it shows of it."""
    if dialect:
        return _RULES.get(dialect, _RULES[""])
    return Rules(dollars=True, backslash=bool(_BACKSLASH_QUOTE_IN_WORD.search(text)))
