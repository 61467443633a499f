"""Names of the contract's enums as the checklists and the command write them: lower case, without the enum's prefix."""

from __future__ import annotations

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper


def name_of(enum: EnumTypeWrapper, number: int) -> str:
    """The name of a value, such as "ready"; empty for the unspecified one, the number for one this client does not know."""
    if number == 0:
        return ""
    names = {value: name for name, value in enum.items()}
    if number not in names:
        return str(number)
    return names[number].removeprefix(prefix(enum)).lower()


def contract_name(enum: EnumTypeWrapper, name: str) -> str:
    """The contract's own name of the value called `name`, such as "SEARCH_MODE_LEXICAL"; empty is the unspecified one.

    Raises:
        ValueError: there is none; the message lists those there are.
    """
    found = prefix(enum) + (name.upper() or "UNSPECIFIED")
    if found not in [known for known, _ in enum.items()]:
        known = ", ".join(name_of(enum, number) for number in enum.values() if number)
        raise ValueError(f"{name!r} is not one of {known}")
    return found


def prefix(enum: EnumTypeWrapper) -> str:
    """What every name of the enum starts with."""
    return enum.Name(0).removesuffix("UNSPECIFIED")
