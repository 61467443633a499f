"""Immutable Parquet snapshots and the engine that runs typed plans over them. No other table is reachable from here."""
