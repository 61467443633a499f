"""What is derived from the record to find passages: vectors, BM25, keys, the embedding model. All of it can be rebuilt."""

import os

# Read when the inference engine is loaded, which else writes to its user's folder and reports.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
