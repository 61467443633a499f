"""A child's entry point: gives up the network, loads the formats, gives up the rest, then reads documents."""

from __future__ import annotations

import argparse
import json
import sys

from extractor_svc.sandbox import SandboxMode, confine, isolate


def main() -> int:
    """Runs until the parent closes the socket (0) or a document leaves the process in doubt (1)."""
    arguments = _parser().parse_args()
    mode = SandboxMode(arguments.sandbox)
    network = isolate(mode, parent_pid=arguments.parent)
    # The formats come after: their libraries start threads, and a thread keeps the network it started with.
    from extractor_svc import reading
    from extractor_svc.limits import Limits

    limits = Limits(**json.loads(arguments.limits))
    reader = reading.mock_reader() if arguments.mock_format else reading.READER
    channel = reading.Channel(arguments.channel)
    protections = confine(mode, network, memory_bytes=limits.memory_bytes)
    try:
        return reading.serve(channel, reader, limits=limits, protections=protections)
    except Exception as error:  # the worker loop: what no reader should raise is told, and the process ends
        channel.send(reading.crash(error))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="extractor_svc.worker", description=__doc__)
    parser.add_argument("--channel", type=int, required=True, help="descriptor of the socket to the parent")
    parser.add_argument("--parent", type=int, required=True, help="process id of the parent")
    parser.add_argument("--limits", required=True, help="bounds of one document, as JSON")
    parser.add_argument("--sandbox", choices=[mode.value for mode in SandboxMode], required=True)
    parser.add_argument("--mock-format", action="store_true", help="read .mock scripts too; for the service's own tests")
    return parser


if __name__ == "__main__":
    sys.exit(main())
