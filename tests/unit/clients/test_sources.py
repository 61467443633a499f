from __future__ import annotations

import email.message
import io
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, cast

import pytest

from clients.cli.output import CommandFault, UsageFault
from clients.cli.sources import FETCH_MAX_BYTES, FETCH_TIMEOUT_S, fetch_page, find_sources, page_name
from clients.results.ingest import Formats

FORMATS = Formats((), 0, (), 0.0)


class Answer(io.BytesIO):
    def __init__(self, content: bytes, media_type: str) -> None:
        super().__init__(content)
        self.headers = email.message.Message()
        self.headers["Content-Type"] = media_type


class Site:
    """An opener that answers from memory."""

    def __init__(self, content: bytes, media_type: str) -> None:
        self.content = content
        self.media_type = media_type
        self.asked: list[tuple[str, float]] = []

    def open(self, url: str, timeout: float) -> Answer:
        self.asked.append((url, timeout))
        return Answer(self.content, self.media_type)


def opener(site: Site) -> urllib.request.OpenerDirector:
    return cast("urllib.request.OpenerDirector", site)


def test_a_page_is_fetched_within_its_time() -> None:
    site = Site(b"<p>x</p>", "text/html; charset=utf-8")
    page = fetch_page("https://docs.example/guide/", opener=opener(site))
    assert (page.filename, page.content_type, page.content) == ("guide.html", "text/html", b"<p>x</p>")
    assert site.asked == [("https://docs.example/guide/", FETCH_TIMEOUT_S)]


def test_a_page_over_the_cap_is_refused() -> None:
    with pytest.raises(CommandFault, match="larger than 10 MB"):
        fetch_page("https://docs.example/a.pdf", opener=opener(Site(b"x" * (FETCH_MAX_BYTES + 1), "application/pdf")))


@pytest.mark.parametrize(
    ("url", "media_type", "name"),
    [
        ("https://docs.example/a%20b.pdf?x=1", "text/html", "a b.pdf"),
        ("https://docs.example/report", "application/pdf", "report.pdf"),
        ("https://docs.example/", "text/html", "docs.example.html"),
        ("https://docs.example/report", "application/x-unheard-of", "report"),
    ],
)
def test_a_page_without_an_extension_is_named_by_its_media_type(url: str, media_type: str, name: str) -> None:
    assert page_name(url, media_type) == name


def test_a_redirect_away_from_https_is_not_followed() -> None:
    from clients.cli.sources import _HttpsOnly

    request = urllib.request.Request("https://docs.example/a")
    with pytest.raises(urllib.error.URLError, match="which is not https"):
        _HttpsOnly().redirect_request(request, io.BytesIO(), 302, "Found", cast("Any", {}), "http://docs.example/a")  # Any: unread


def test_a_page_and_a_file_are_sources_by_their_own_uris(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("x")
    sources, skipped = find_sources(["https://docs.example/guide", str(path), str(path)], lambda: FORMATS)
    assert [source.source_uri for source in sources] == ["https://docs.example/guide", f"file://{path}"]
    assert skipped == []


@pytest.mark.parametrize("named", ["s3://bucket/key", "http://docs.example/a", "ftp://x/y", "/nonexistent"])
def test_what_is_not_read_is_refused(named: str) -> None:
    with pytest.raises(UsageFault):
        find_sources([named], lambda: FORMATS)
