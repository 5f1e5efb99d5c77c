"""Refuses system calls of a program that is about to be executed, as containers do, or kills it for them."""
import ctypes
import errno
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
RET_ALLOW, RET_ERRNO, RET_KILL_PROCESS = 0x7fff0000, 0x00050000, 0x80000000
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
NUMBERS = {'move_pages': 279, 'get_mempolicy': 239, 'perf_event_open': 298,
           'mbind': 237}  # asm/unistd_64.h


def instruction(code, value, if_true=0, if_false=0):
    return struct.pack('<HBBI', code, if_true, if_false, value)


def filter_of(calls, verdict):
    parts = [instruction(LOAD_WORD, 0)]  # seccomp_data.nr
    for call in calls:
        parts.append(instruction(JUMP_IF_EQUAL, NUMBERS[call], 0, 1))
        parts.append(instruction(RETURN, verdict))
    parts.append(instruction(RETURN, RET_ALLOW))
    return parts


def refuse(*calls):
    """A preexec_fn for subprocess: these calls give EPERM from now on."""
    return judge(calls, RET_ERRNO | errno.EPERM)


def kill(*calls):
    """A preexec_fn for subprocess: these calls kill from now on, as systemd's SystemCallFilter= does."""
    return judge(calls, RET_KILL_PROCESS)


def judge(calls, verdict):
    parts = filter_of(calls, verdict)
    code = ctypes.create_string_buffer(b''.join(parts))
    program = ctypes.create_string_buffer(struct.pack('<HxxxxxxQ', len(parts), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)

    def install(code=code):  # keeps the filter's memory
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)
    return install
