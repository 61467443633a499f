"""The composition root of the extractor: builds the pool and the servicer, and serves."""

from __future__ import annotations

from typing import Final

from loom.extractor.v1 import extractor_pb2, extractor_pb2_grpc

from extractor_svc.config import NAME, ExtractorConfig
from extractor_svc.pool import ExtractorPool
from extractor_svc.refused_types import REFUSED
from extractor_svc.registry import READERS
from extractor_svc.servicer import ExtractorServicer, ServicerSettings
from services.server import LoomServer, Service, serve_until_stopped
from services.version import __version__

DOMAIN: Final = "loom.extractor.v1"
SERVICE_NAME: Final = extractor_pb2.DESCRIPTOR.services_by_name["ExtractorService"].full_name


class ExtractorApp:
    """A pool and the server before it."""

    def __init__(self, config: ExtractorConfig) -> None:
        self.pool = ExtractorPool(config.pool)
        servicer = ExtractorServicer(self.pool, servicer_settings(config))
        add = extractor_pb2_grpc.add_ExtractorServiceServicer_to_server
        service = Service(SERVICE_NAME, lambda server: add(servicer, server))  # type: ignore[no-untyped-call]  # generated
        self.server = LoomServer(config.server, (service,), domain=DOMAIN, minimum={})


def servicer_settings(config: ExtractorConfig) -> ServicerSettings:
    """What the servicer takes of the service's settings."""
    return ServicerSettings(
        version=__version__,
        readers=READERS,
        refused_extensions=tuple(REFUSED),
        upload=config.upload,
        max_uploads=config.max_uploads,
        workers=config.pool.workers,
        timeout_s=config.pool.child.limits.timeout_s,
        spool_folder=config.spool_folder,
    )


async def serve(config: ExtractorConfig) -> None:
    """Serves until the process is asked to stop."""
    app = ExtractorApp(config)
    await serve_until_stopped(app.server, name=NAME, on_start=(app.pool.start,), on_stop=(app.pool.close,))
