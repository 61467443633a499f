"""L-KEYS-03 to 07, one case a line."""

from __future__ import annotations

import pytest

from knowledge_svc.domain.identifiers import identifiers, normalise_key

CASES = [
    ("L-KEYS-03 underscore", "where is orders_daily filled", ("orders_daily",)),
    ("L-KEYS-03 dot", "what reads sales.orders here", ("sales.orders",)),
    ("L-KEYS-03 dollar", "what is $ref for", ("$ref",)),
    ("L-KEYS-03 digit", "fit b07 now", ("b07",)),
    ("L-KEYS-03 camel case", "raise maxPoolSize please", ("maxPoolSize",)),
    ("L-KEYS-03 several, once each, in order", "join a_b with c.d and a_b", ("a_b", "c.d")),
    ("L-KEYS-04 whole query", "customers", ("customers",)),
    ("L-KEYS-04 whole query with space around it", "  customers ", ("customers",)),
    ("L-KEYS-04 whole query with punctuation", "`customers`?", ("customers",)),
    ("L-KEYS-05 acronym", "what is the TTL of an ID", ()),
    ("L-KEYS-05 capital first letter", "Who owns Orders", ()),
    ("L-KEYS-06 dash in a dotted path", "raise pool.max-size now", ("pool.max-size",)),
    ("L-KEYS-06 dash in the first segment", "raise db-pool.size now", ("db-pool.size",)),
    ("L-KEYS-06 dash elsewhere joins nothing", "fit VALVE-B07 here", ("B07",)),
    ("L-KEYS-06 dash between words", "a state-of-the-art pump", ()),
    ("L-KEYS-07 plain words", "which pumps leak oil", ()),
    ("end of a sentence is no dot of a path", "Who fills orders_daily. Nobody.", ("orders_daily",)),
    ("question mark", "what is orders.amount?", ("orders.amount",)),
    ("nothing", "", ()),
    ("only signs", "... --- *", ()),
]


@pytest.mark.parametrize(("query", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_identifiers_of_a_question(query: str, expected: tuple[str, ...]) -> None:
    assert identifiers(query) == expected


@pytest.mark.parametrize(
    ("written", "key"),
    [("Orders_Daily", "orders_daily"), (" pool.max-size ", "pool.max-size"), ("ＡＢ", "ab"), ("STRASSE", "strasse")],
)
def test_names_are_compared_without_case(written: str, key: str) -> None:
    assert normalise_key(written) == key


def test_the_same_words_in_another_order_are_another_key() -> None:
    assert normalise_key("orders_daily") != normalise_key("daily_orders")
