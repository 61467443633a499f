"""The Python SDK, the plan builder and the `loom` command; they speak the contract alone and import neither service.

from clients import KnowledgeClient

with KnowledgeClient() as loom:
    loom.ingest_file("orders.xlsx")
    for hit in loom.search("open orders of the north region").hits:
        print(hit.section, hit.place, hit.similarity)
"""

from clients.errors import LoomError
from clients.extractor import AsyncExtractorClient, ExtractorClient
from clients.knowledge import AsyncKnowledgeClient, KnowledgeClient

__all__ = ["AsyncExtractorClient", "AsyncKnowledgeClient", "ExtractorClient", "KnowledgeClient", "LoomError"]
