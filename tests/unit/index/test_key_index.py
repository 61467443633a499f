"""Exact names and who holds them."""

from __future__ import annotations

import numpy as np

from knowledge_svc.index.keys import KeyIndex


def made() -> KeyIndex:
    index = KeyIndex()
    index.append(0, [("Orders_Daily", "amount"), ()])
    index.append(2, [("daily_orders",), ("orders_daily", "ORDERS_DAILY", "")])
    return index


def test_holders_are_found_whatever_the_case_and_told_what_they_hold() -> None:
    held = made().holders(["ORDERS_daily", "amount", "unknown"], allowed=np.ones(4, dtype=np.bool_))
    assert held == {0: ("ORDERS_daily", "amount"), 3: ("ORDERS_daily",)}


def test_the_same_words_in_another_order_are_another_name() -> None:
    assert made().holders(["daily_orders"], allowed=np.ones(4, dtype=np.bool_)) == {2: ("daily_orders",)}


def test_only_allowed_positions_count_and_later_ones_are_not_seen() -> None:
    assert made().holders(["orders_daily"], allowed=np.array([False, True, True, True])) == {3: ("orders_daily",)}
    assert made().holders(["orders_daily"], allowed=np.array([True])) == {0: ("orders_daily",)}


def test_keeping_some_positions_counts_them_anew() -> None:
    kept = made().keep(np.array([False, False, True, True]))
    assert dict(kept.items()) == {"daily_orders": [0], "orders_daily": [1]}
