"""Settings from flags and environment, every fault reported at once."""

from __future__ import annotations

import argparse
import difflib
import ipaddress
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, NoReturn, TypeVar

from services.version import __version__

T = TypeVar("T")

_ASKS: Final = ("-h", "--help", "--version")
_SIZES: Final = {"": 1, "b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}
_TIMES: Final = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE: Final = re.compile(r"(\d+)\s*([a-z]*)", re.IGNORECASE)
_TIME: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """A host and port to listen on or call."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


@dataclass(frozen=True, slots=True)
class Setting(Generic[T]):
    """One setting: its field in the config, how its text is read, its default as text, and what it is for.

    The flag is the name with dashes, without a unit at its end; `env` is the variable. `switch` marks a flag that stands for `on`
    where no value follows it. `group` heads it in the help.
    """

    name: str
    env: str
    read: Callable[[str], T]
    default: str
    help: str
    group: str = "settings"
    metavar: str = "VALUE"
    switch: bool = False

    @property
    def flag(self) -> str:
        """The flag, with its dashes."""
        return f"--{self.name.removesuffix('_s').removesuffix('_bytes').replace('_', '-')}"


class SettingsFault(Exception):
    """Some settings do not hold; `faults` has one line for each."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class Command:
    """The command line around the settings: program name, what it is, and what else the help says."""

    program: str
    description: str
    epilog: str = ""


def read_settings(
    settings: Sequence[Setting[Any]],  # Any: each setting has a type of its own
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    command: Command,
) -> dict[str, Any]:  # Any: the config's fields, which its constructor names
    """Returns a value for every setting, by its name: from the flag, else the environment, else the default.

    A variable that is empty counts as not set. Prints help or version and exits where asked.

    Raises:
        SettingsFault: with every unknown flag, every flag without its value and every value that does not hold.
    """
    words, faults = _sorted_out(settings, argv)
    given = _parser(settings, command).parse_args(words)
    values: dict[str, Any] = {}
    for setting in settings:
        text, origin = _text_of(setting, getattr(given, setting.name), environ)
        try:
            values[setting.name] = setting.read(text)
        except ValueError as error:
            faults.append(f"{origin} = {text!r}: {error}")
    if faults:
        raise SettingsFault(faults)
    return values


def exit_with(fault: SettingsFault, program: str) -> NoReturn:
    """Prints every fault and ends the process with status 2."""
    count = len(fault.faults)
    print(f"{program}: {count} {'setting does' if count == 1 else 'settings do'} not hold:", file=sys.stderr)
    for line in fault.faults:
        print(f"  {line}", file=sys.stderr)
    print(f"try {program} --help", file=sys.stderr)
    raise SystemExit(2)


def whole(least: int, most: int) -> Callable[[str], int]:
    """Reads a whole number of a range, both ends included."""

    def read(text: str) -> int:
        if not re.fullmatch(r"-?\d+", text.strip()) or not least <= int(text) <= most:
            raise ValueError(f"takes a whole number from {least} to {most}")
        return int(text)

    return read


def size(least: int, most: int) -> Callable[[str], int]:
    """Reads bytes such as `64MiB` or `4096`."""

    def read(text: str) -> int:
        match = _SIZE.fullmatch(text.strip())
        factor = _SIZES.get(match[2].lower()) if match else None
        if match is None or factor is None or not least <= int(match[1]) * factor <= most:
            raise ValueError(f"takes a size from {least} to {most} bytes, such as 64MiB")
        return int(match[1]) * factor

    return read


def duration(least_s: float, most_s: float) -> Callable[[str], float]:
    """Reads seconds such as `30`, `30s`, `250ms` or `15m`."""

    def read(text: str) -> float:
        match = _TIME.fullmatch(text.strip())
        factor = _TIMES.get(match[2].lower()) if match else None
        if match is None or factor is None or not least_s <= float(match[1]) * factor <= most_s:
            raise ValueError(f"takes a time from {least_s:g} to {most_s:g} seconds, such as 30s or 15m")
        return float(match[1]) * factor

    return read


def address(text: str) -> Address:
    """Reads `host:port`; port 0 takes a free one."""
    host, separator, port = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not separator or not host or not port.isdigit() or int(port) > 65535:
        raise ValueError("takes host:port, such as 127.0.0.1:7777")
    return Address(host, int(port))


def optional_address(text: str) -> Address | None:
    """Reads `host:port`; an empty text means that there is none."""
    return address(text) if text else None


def choice(*names: str) -> Callable[[str], str]:
    """Reads one of some names."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"takes one of {', '.join(names)}")
        return text

    return read


def switch(text: str) -> bool:
    """Reads on or off."""
    lowered = text.strip().lower()
    if lowered in ("on", "true", "yes", "1"):
        return True
    if lowered in ("off", "false", "no", "0", ""):
        return False
    raise ValueError("takes on or off")


def words(text: str) -> str:
    """Reads any text."""
    return text


def path(text: str) -> Path:
    """Reads a path that is not empty."""
    if not text:
        raise ValueError("takes a path")
    return Path(text)


def optional_path(text: str) -> Path | None:
    """Reads the path of a file that is there, None from an empty text."""
    if not text:
        return None
    found = Path(text)
    if not found.is_file():
        raise ValueError("there is no such file")
    return found


def _parser(settings: Sequence[Setting[Any]], command: Command) -> argparse.ArgumentParser:  # Any: see read_settings
    parser = argparse.ArgumentParser(
        prog=command.program,
        description=command.description,
        epilog=command.epilog,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{command.program} {__version__}")
    groups = {name: parser.add_argument_group(name) for name in dict.fromkeys(setting.group for setting in settings)}
    for setting in settings:
        shown = f" (default {setting.default})" if setting.default else ""
        text = f"{setting.help}{shown} [{setting.env}]".replace("%", "%%")
        kind: dict[str, Any] = {"nargs": "?", "metavar": "on|off"} if setting.switch else {"metavar": setting.metavar}  # Any: mixed
        groups[setting.group].add_argument(setting.flag, dest=setting.name, help=text, **kind)
    return parser


def _sorted_out(settings: Sequence[Setting[Any]], argv: Sequence[str]) -> tuple[list[str], list[str]]:  # Any: see read_settings
    """The words of the command line that hold, each flag joined to its value, and the faults of the others.

    The parser alone would end the process at the first fault.
    """
    switches = {setting.flag: setting.switch for setting in settings}
    words, faults, rest = [], [], deque(argv)
    while rest:
        word = rest.popleft()
        flag, joined, _ = word.partition("=")
        if word in _ASKS or (flag in switches and joined):
            words.append(word)
            continue
        if not flag.startswith("-"):
            faults.append(f"{word}: takes flags only")
            continue
        value = rest.popleft() if not joined and rest and not rest[0].startswith("--") else None
        if flag not in switches:
            faults.append(f"{flag}: there is no such flag{_meant(flag, switches)}")
        elif value is None and not switches[flag]:
            faults.append(f"{flag}: takes a value")
        else:
            words.append(f"{flag}={'on' if value is None else value}")
    return words, faults


def _meant(flag: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(flag, known, n=1, cutoff=0.75)
    return f"; {near[0]} is one" if near else ""


def _text_of(setting: Setting[Any], flag: str | None, environ: Mapping[str, str]) -> tuple[str, str]:  # Any: see read_settings
    """A setting's text and where it came from."""
    if flag is not None:
        return flag, setting.flag
    if environ.get(setting.env):
        return environ[setting.env], setting.env
    return setting.default, setting.flag
