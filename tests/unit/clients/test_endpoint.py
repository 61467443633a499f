from __future__ import annotations

import json
from pathlib import Path

import pytest

from clients import KnowledgeClient
from clients.endpoint import SERVICE_CONFIG, parse_endpoint
from tests.unit.clients.fakes import Fake


@pytest.mark.parametrize(
    ("address", "target", "tls"),
    [
        ("127.0.0.1:7777", "127.0.0.1:7777", False),
        ("http://loom.example:7777/", "loom.example:7777", False),
        ("https://loom.example:443", "loom.example:443", True),
        ("grpcs://loom.example:443", "loom.example:443", True),
        ("dns:///loom.example:7777", "dns:///loom.example:7777", False),
        ("[::1]:7777", "[::1]:7777", False),
    ],
)
def test_an_address_names_its_target_and_whether_the_line_is_tls(address: str, target: str, tls: bool) -> None:
    endpoint = parse_endpoint(address)
    assert (endpoint.target, endpoint.tls) == (target, tls)


def test_a_certificate_authority_means_tls() -> None:
    assert parse_endpoint("loom.example:443", ca_file="ca.pem").tls


def test_an_address_without_a_port_is_refused() -> None:
    with pytest.raises(ValueError, match="has no port; write host:port"):
        parse_endpoint("loom.example")


def test_a_plain_address_with_a_certificate_authority_is_refused() -> None:
    with pytest.raises(ValueError, match="write https://"):
        parse_endpoint("http://loom.example:7777", ca_file="ca.pem")


def test_a_certificate_authority_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        KnowledgeClient("loom.example:443", ca_file=tmp_path / "none.pem")


@pytest.mark.parametrize("address", ["127.0.0.1:7777", "localhost:7777", "[::1]:7777", "127.9.9.9:1"])
def test_this_machine_is_known_as_such(address: str) -> None:
    assert parse_endpoint(address).loopback


def test_a_token_does_not_travel_in_the_clear_to_another_machine_unless_said_out_loud() -> None:
    with pytest.raises(ValueError, match="unencrypted"):
        KnowledgeClient("loom.example:7777", token="secret")
    for address in ("https://loom.example:7777", "http://loom.example:7777", "127.0.0.1:7777"):
        KnowledgeClient(address, token="secret").close()


def test_the_token_and_a_fresh_request_id_go_with_every_call(fake: Fake) -> None:
    from loom.knowledge.v1 import search_pb2

    fake.on("Search", search_pb2.SearchResponse())
    with KnowledgeClient(fake.address, token="secret") as client:
        client.search("a")
        client.search("b")
    first, second = (asked.metadata for asked in fake.calls("Search"))
    assert first["authorization"] == second["authorization"] == "Bearer secret"
    assert first["x-request-id"] != second["x-request-id"]
    assert "secret" not in repr(client.connection.line)


def test_without_a_token_no_authorization_is_sent(fake: Fake, client: KnowledgeClient) -> None:
    from loom.knowledge.v1 import search_pb2

    fake.on("Search", search_pb2.SearchResponse())
    client.search("a")
    assert "authorization" not in fake.calls("Search")[0].metadata


def test_only_unavailable_is_retried_and_retries_are_throttled() -> None:
    config = json.loads(SERVICE_CONFIG)
    policy = config["methodConfig"][0]["retryPolicy"]
    assert policy["retryableStatusCodes"] == ["UNAVAILABLE"]
    assert policy["maxAttempts"] == 3
    assert set(config["retryThrottling"]) == {"maxTokens", "tokenRatio"}
