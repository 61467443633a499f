"""The record in DuckDB and the blobs in files: what is true and durable. No index, no rule of the domain."""
