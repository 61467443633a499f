"""Where the server is, and with which token it is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from clients.extractor import ExtractorClient
from clients.knowledge import KnowledgeClient, file_uri


class SettingsFault(Exception):
    """A setting does not hold; the message says where it stands."""


def find_token(given: str | None, environ: Mapping[str, str], home: Path) -> str:
    """The token: as given, else LOOM_API_KEY, else "token" of ~/.loom/config.json, else ~/.loom/token, else none.

    Raises:
        SettingsFault: a file is there and cannot be read.
    """
    return given or environ.get("LOOM_API_KEY") or _configured(home / ".loom" / "config.json") or _kept(home / ".loom" / "token")


def open_client(server: str, token: str | None, *, namespace: str = "", ca_file: Path | None = None) -> KnowledgeClient:
    """A client as the command's options, the environment and the files in the home folder say.

    Raises:
        SettingsFault: the address, the token's file or the authority's file does not hold.
    """
    found = find_token(token, os.environ, Path.home())
    try:
        return KnowledgeClient(server, token=found, namespace=namespace, ca_file=ca_file)
    except (ValueError, OSError) as error:
        raise SettingsFault(str(error)) from error


def open_extractor(address: str) -> ExtractorClient:
    """A client of the extractor at an address.

    Raises:
        SettingsFault: the address does not hold.
    """
    try:
        return ExtractorClient(address)
    except ValueError as error:
        raise SettingsFault(str(error)) from error


def source_uri_of(text: str) -> str:
    """The source_uri that a person named: a local file by its path, anything else as it stands."""
    return file_uri(text) if ":" not in text and Path(text).exists() else text


def _configured(path: Path) -> str:
    text = _kept(path)
    if not text:
        return ""
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise SettingsFault(f"{path} is not JSON: {error}") from error
    token = settings.get("token", "") if isinstance(settings, dict) else None
    if not isinstance(token, str):
        raise SettingsFault(f'{path} must hold an object with "token" as text')
    return token


def _kept(path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsFault(f"cannot read {path}: {error}") from error
