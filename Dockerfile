# Two images of one file: `--target extractor` and `--target knowledge`. Each installs only what it needs.
FROM python:3.12.12-slim-bookworm AS base
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
RUN groupadd --gid 10001 loom && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent loom

FROM base AS build
RUN python -m venv /opt/loom
ENV PATH=/opt/loom/bin:$PATH
WORKDIR /src
COPY requirements/ requirements/

FROM build AS extractor-build
RUN pip install --require-hashes -r requirements/extractor.txt
COPY pyproject.toml README.md ./
COPY artifact/ artifact/
COPY services/ services/
COPY protos/ protos/
COPY extractor_svc/ extractor_svc/
COPY knowledge_svc/ knowledge_svc/
COPY clients/ clients/
RUN pip install --no-deps --no-build-isolation .

FROM build AS knowledge-build
RUN pip install --require-hashes -r requirements/knowledge.txt
COPY pyproject.toml README.md ./
COPY artifact/ artifact/
COPY services/ services/
COPY protos/ protos/
COPY extractor_svc/ extractor_svc/
COPY knowledge_svc/ knowledge_svc/
COPY clients/ clients/
RUN pip install --no-deps --no-build-isolation .

FROM base AS extractor
COPY --from=extractor-build /opt/loom /opt/loom
ENV PATH=/opt/loom/bin:$PATH
USER 10001:10001
EXPOSE 7778
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-m", "services.healthcheck", "127.0.0.1:7778"]
ENTRYPOINT ["python", "-m", "extractor_svc"]

FROM base AS knowledge
COPY --from=knowledge-build /opt/loom /opt/loom
RUN mkdir /data && chown 10001:10001 /data
ENV PATH=/opt/loom/bin:$PATH \
    LOOM_DATA_DIR=/data
USER 10001:10001
VOLUME ["/data"]
EXPOSE 7777
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-m", "services.healthcheck", "127.0.0.1:7777"]
ENTRYPOINT ["python", "-m", "knowledge_svc"]
