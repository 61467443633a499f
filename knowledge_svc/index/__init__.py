"""What is derived from the record to find passages: vectors, BM25, keys, the embedding model. All of it can be rebuilt."""
