"""The gRPC client of the extractor, behind the domain's `Extractor` port."""
