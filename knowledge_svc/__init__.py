"""The knowledge service: documents, search, ingest and datasets. `app` wires it; nothing is opened at import."""
