import pytest

from services.settings import (
    Address,
    Command,
    Setting,
    SettingsFault,
    address,
    duration,
    exit_with,
    read_settings,
    size,
    switch,
    whole,
)

COMMAND = Command("loom-test", "A program that is tested.", "More is in the README.")
SETTINGS = (
    Setting("workers", "T_WORKERS", whole(1, 8), "2", "how many", "pool"),
    Setting("most", "T_MOST", size(1, 1 << 30), "64MiB", "largest", "pool", "SIZE"),
    Setting("loud", "T_LOUD", switch, "off", "say more", "logs", switch=True),
)


def read(*argv: str, **environ: str) -> dict[str, object]:
    return read_settings(SETTINGS, argv, environ, command=COMMAND)


def test_flags_beat_the_environment_which_beats_defaults():
    assert read() == {"workers": 2, "most": 64 * 1024 * 1024, "loud": False}
    assert read(T_WORKERS="3", T_LOUD="on") == {"workers": 3, "most": 64 * 1024 * 1024, "loud": True}
    assert read("--workers", "4", "--loud", T_WORKERS="3") == {"workers": 4, "most": 64 * 1024 * 1024, "loud": True}


def test_every_fault_is_reported_at_once():
    with pytest.raises(SettingsFault) as caught:
        read("--workers", "99", "--sped", "fast", "stray", T_MOST="huge", T_LOUD="maybe")
    assert caught.value.faults == (
        "--sped: there is no such flag",
        "stray: takes flags only",
        "--workers = '99': takes a whole number from 1 to 8",
        "T_MOST = 'huge': takes a size from 1 to 1073741824 bytes, such as 64MiB",
        "T_LOUD = 'maybe': takes on or off",
    )


def test_a_flag_without_its_value_is_one_fault_among_others():
    with pytest.raises(SettingsFault) as caught:
        read("--workers", "--most", "1kb", "--wrokers=3", "--most")
    assert caught.value.faults == (
        "--workers: takes a value",
        "--wrokers: there is no such flag; --workers is one",
        "--most: takes a value",
    )


@pytest.mark.parametrize(
    ("argv", "loud"),
    [(["--loud"], True), (["--loud", "off"], False), (["--loud=off"], False), (["--loud", "--workers", "3"], True)],
)
def test_a_switch_stands_alone_or_takes_on_or_off_and_beats_the_environment(argv, loud):
    assert read(*argv, T_LOUD="off" if loud else "on")["loud"] is loud


def test_a_flag_may_be_joined_to_its_value_and_the_last_one_counts():
    assert read("--workers=3", "--workers=5")["workers"] == 5
    with pytest.raises(SettingsFault, match="--workers = '-1': takes a whole number from 1 to 8"):
        read("--workers", "-1")


def test_a_variable_that_is_empty_counts_as_not_set():
    assert read(T_WORKERS="", T_LOUD="")["workers"] == 2


def test_a_flag_may_not_be_cut_short():
    with pytest.raises(SettingsFault, match="--work: there is no such flag"):
        read("--work", "3")


def test_faults_end_the_process_with_status_2_and_name_the_help(capsys):
    with pytest.raises(SystemExit) as ended:
        exit_with(SettingsFault(["a", "b"]), "loom-test")
    assert ended.value.code == 2
    assert capsys.readouterr().err == "loom-test: 2 settings do not hold:\n  a\n  b\ntry loom-test --help\n"


def test_a_single_fault_is_told_in_the_singular(capsys):
    with pytest.raises(SystemExit):
        exit_with(SettingsFault(["a"]), "loom-test")
    assert capsys.readouterr().err.startswith("loom-test: 1 setting does not hold:\n")


def test_help_names_flags_variables_and_defaults(capsys):
    with pytest.raises(SystemExit) as ended:
        read("--help")
    shown = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    assert "--most SIZE largest (default 64MiB) [T_MOST]" in shown
    assert "--loud [on|off] say more (default off) [T_LOUD]" in shown
    assert "pool: --workers" in shown
    assert "More is in the README." in shown


def test_version_is_printed(capsys):
    with pytest.raises(SystemExit):
        read("--version")
    assert capsys.readouterr().out.startswith("loom-test ")


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        (size(0, 1 << 40), "64MiB", 67_108_864),
        (size(0, 1 << 40), "2 kb", 2000),
        (size(0, 1 << 40), "17", 17),
        (duration(0, 3600), "15m", 900.0),
        (duration(0, 3600), "250ms", 0.25),
        (duration(0, 3600), "1.5s", 1.5),
        (duration(0, 3600), "30", 30.0),
        (address, "127.0.0.1:7777", Address("127.0.0.1", 7777)),
        (address, "[::1]:0", Address("::1", 0)),
    ],
)
def test_readers_take_what_a_person_writes(reader, text, value):
    assert reader(text) == value


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (size(0, 10), "11"),
        (size(0, 10), "1 parsec"),
        (duration(1, 2), "0.5s"),
        (duration(1, 2), "soon"),
        (address, "7777"),
        (address, "host:99999"),
        (whole(0, 5), "1.5"),
    ],
)
def test_readers_refuse_what_does_not_hold(reader, text):
    with pytest.raises(ValueError, match="takes"):
        reader(text)


@pytest.mark.parametrize(
    ("text", "loopback"),
    [
        ("127.0.0.1:1", True),
        ("127.9.9.9:1", True),
        ("[::1]:1", True),
        ("localhost:1", True),
        ("0.0.0.0:1", False),
        ("10.0.0.1:1", False),
    ],
)
def test_an_address_knows_whether_it_is_loopback(text, loopback):
    assert address(text).loopback is loopback
