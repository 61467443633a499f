"""The workers of the durable ingest queue. What a job means stands in the domain."""
