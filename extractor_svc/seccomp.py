"""A filter of system calls for a process that only computes: no sockets, no new processes, no changes to files or to others."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# Each call with its number on x86_64 and on aarch64; None where the architecture does not have it.
_REFUSED: Final[Mapping[str, tuple[int | None, int | None]]] = {
    # network
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # processes
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    # files
    "creat": (85, None),
    "truncate": (76, 45),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rmdir": (84, None),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "utimensat": (280, 88),
    "futimesat": (261, None),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "openat2": (437, 437),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    # other processes
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "setpriority": (141, 140),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # memory and queues shared with others
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # identity
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "setgroups": (116, 159),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    # the kernel
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "personality": (135, 92),
    "vhangup": (153, 58),
    "uselib": (134, None),
}


@dataclass(frozen=True, slots=True)
class _Architecture:
    """How one architecture names itself to the filter, and the numbers of the calls that the filter looks into."""

    audit: int
    column: int
    seccomp: int
    clone: int
    open: int | None
    openat: int
    kill: int
    tgkill: int
    prlimit64: int


_ARCHITECTURES: Final[Mapping[str, _Architecture]] = {
    "x86_64": _Architecture(0xC000003E, 0, 317, clone=56, open=2, openat=257, kill=62, tgkill=234, prlimit64=302),
    "aarch64": _Architecture(0xC00000B7, 1, 277, clone=220, open=None, openat=56, kill=129, tgkill=131, prlimit64=261),
}
_CLONE3: Final = 435
_FIRST_UNKNOWN: Final = 451  # calls added to Linux after this table was made: reported as missing, as on an older kernel
_X32: Final = 0x40000000

# Classic BPF.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CLONE_THREAD: Final = 0x10000

_SET_MODE_FILTER, _ALL_THREADS = 1, 1


def install() -> None:
    """Puts the filter on every thread of this process, for good; new privileges must have been given up before.

    Raises:
        OSError: the kernel or the architecture does not have it.
    """
    machine = platform.machine()
    if (architecture := _ARCHITECTURES.get(machine)) is None:
        raise OSError(errno.ENOSYS, f"no table of system calls for {machine}")
    program = build_program(architecture, pid=os.getpid())
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(architecture.seccomp), ctypes.c_long(_SET_MODE_FILTER), ctypes.c_long(_ALL_THREADS), header) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def build_program(architecture: _Architecture, *, pid: int) -> bytes:
    """The filter as BPF instructions of 8 bytes each, for the process `pid`."""
    refuse = _instruction(_RETURN, _ERRNO | errno.EPERM)
    missing = _instruction(_RETURN, _ERRNO | errno.ENOSYS)
    allow = _instruction(_RETURN, _ALLOW)
    numbers = [number for call in _REFUSED.values() if (number := call[architecture.column]) is not None]
    program = [
        _instruction(_LOAD, _ARCHITECTURE_AT),
        _instruction(_EQUAL, architecture.audit, then=1),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER_AT),
        *_when(_AT_LEAST, _X32, refuse),
        *_when(_AT_LEAST, _FIRST_UNKNOWN, missing),
        *_when(_EQUAL, _CLONE3, missing),  # its flags lie in memory, out of a filter's sight; libc falls back to clone
        *_unless_argument(architecture.clone, 0, _ANY_BIT, _CLONE_THREAD),
        *_unless_argument(architecture.kill, 0, _EQUAL, pid),
        *_unless_argument(architecture.tgkill, 0, _EQUAL, pid),
        *_unless_argument(architecture.prlimit64, 0, _EQUAL, 0),
        *_when_argument(architecture.openat, 2, _ANY_BIT, _WRITING),
    ]
    if architecture.open is not None:
        program += _when_argument(architecture.open, 1, _ANY_BIT, _WRITING)
    for number in numbers:
        program += _when(_EQUAL, number, refuse)
    return b"".join([*program, allow])


def _instruction(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", code, then, otherwise, value)


def _when(test: int, value: int, outcome: bytes) -> list[bytes]:
    """If the loaded word passes the test, the outcome; else on with the next instruction."""
    return [_instruction(test, value, otherwise=1), outcome]


def _unless_argument(number: int, argument: int, test: int, value: int) -> list[bytes]:
    """The call `number` is allowed where the low word of an argument passes the test, and refused where it does not."""
    return _on_argument(number, argument, [_instruction(test, value, then=1)])


def _when_argument(number: int, argument: int, test: int, value: int) -> list[bytes]:
    """The call `number` is refused where the low word of an argument passes the test, and allowed where it does not."""
    return _on_argument(number, argument, [_instruction(test, value, otherwise=1)])


def _on_argument(number: int, argument: int, test: list[bytes]) -> list[bytes]:
    refuse = _instruction(_RETURN, _ERRNO | errno.EPERM)
    allow = _instruction(_RETURN, _ALLOW)
    return [
        _instruction(_EQUAL, number, otherwise=4),
        _instruction(_LOAD, _ARGUMENTS_AT + 8 * argument),
        *test,
        refuse,
        allow,
    ]
