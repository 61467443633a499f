"""What `loom ingest` was pointed at: files, folders and https pages, as files to send."""

from __future__ import annotations

import mimetypes
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from pathlib import Path, PurePosixPath
from typing import IO, Final
from urllib.parse import unquote, urlsplit

from clients.cli.output import CommandFault, UsageFault
from clients.knowledge import file_uri
from clients.results.ingest import Formats

FETCH_TIMEOUT_S: Final = 30.0
FETCH_MAX_BYTES: Final = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to ingest: its identity, the name its format is known by, and its bytes, at a path or by fetching a page."""

    source_uri: str
    filename: str
    path: Path | None = None

    @property
    def title(self) -> str:
        """The default title: the file's name less its extension."""
        return PurePosixPath(self.filename).stem


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file of a folder that is not ingested, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page: its bytes, and a name with the extension that its address or its media type says."""

    filename: str
    content_type: str
    content: bytes


def find_sources(named: Sequence[str], formats: Callable[[], Formats]) -> tuple[list[Source], list[Skipped]]:
    """The sources named, folders walked in order of their names. `formats` is asked only where there is a folder.

    Raises:
        UsageFault: something named is not there, or is of a scheme that is not read.
    """
    sources: list[Source] = []
    skipped: list[Skipped] = []
    for text in named:
        if text.startswith("https://"):
            sources.append(Source(text, page_name(text, "")))
        elif "://" in text:
            raise UsageFault(f"{text}: only files, folders and https:// pages are read; download it and name the file")
        elif (path := Path(text)).is_dir():
            found, left = _walk(path, formats())
            sources += found
            skipped += left
        elif path.is_file():
            sources.append(Source(file_uri(path), path.name, path))
        else:
            raise UsageFault(f"{text}: there is no such file or folder")
    return _once(sources), skipped


def _walk(folder: Path, formats: Formats) -> tuple[list[Source], list[Skipped]]:
    known = {extension: item for item in formats.formats for extension in item.extensions}
    refused = set(formats.refused_extensions)
    sources, skipped = [], []
    for path in _files(folder):
        extension = path.suffix.lower()
        if extension in known and known[extension].available is False:
            skipped.append(Skipped(path, f"no extractor reads {known[extension].id} files now"))
        elif extension in known:
            sources.append(Source(file_uri(path), path.name, path))
        elif extension in refused:
            skipped.append(Skipped(path, "a legacy format; save it in the current one"))
        else:
            skipped.append(Skipped(path, "no format the service reads has this extension"))
    return sources, skipped


def _files(folder: Path) -> Iterator[Path]:
    """Files below the folder by name; hidden ones and links to folders are passed over."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.is_file():
            yield path


def _once(sources: Sequence[Source]) -> list[Source]:
    return list({source.source_uri: source for source in sources}.values())


class _HttpsOnly(urllib.request.HTTPRedirectHandler):
    """Follows redirects to https alone."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        if not newurl.startswith("https://"):
            raise urllib.error.URLError(f"it redirects to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetch_page(url: str, *, opener: urllib.request.OpenerDirector | None = None) -> Page:
    """Fetches an https page within 30 s, at most 10 MB.

    Raises:
        CommandFault: it cannot be fetched, or is larger.
    """
    opening = opener or urllib.request.build_opener(_HttpsOnly)
    try:
        with opening.open(url, timeout=FETCH_TIMEOUT_S) as answer:
            content: bytes = answer.read(FETCH_MAX_BYTES + 1)
            media_type: str = answer.headers.get_content_type()
    except (urllib.error.URLError, HTTPException, OSError, ValueError) as error:
        raise CommandFault(f"cannot fetch {url}: {getattr(error, 'reason', error)}") from error
    if len(content) > FETCH_MAX_BYTES:
        raise CommandFault(f"{url} is larger than {FETCH_MAX_BYTES // 1024 // 1024} MB; download it and name the file")
    return Page(page_name(url, media_type), media_type, content)


def page_name(url: str, media_type: str) -> str:
    """The name of a page: the last part of its path; without an extension, its media type names one."""
    parts = urlsplit(url)
    name = PurePosixPath(unquote(parts.path)).name or parts.hostname or "page"
    if PurePosixPath(unquote(parts.path)).suffix or not media_type:
        return name
    return name + (mimetypes.guess_extension(media_type) or "")
