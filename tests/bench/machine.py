"""What a table of figures must say about where and when they were measured."""
import datetime
import os
import pathlib
import platform
import re


def cpu_model():
    text = pathlib.Path('/proc/cpuinfo').read_text()
    fields = dict(re.findall(r'^(model name|cpu family|model|CPU implementer|CPU part)\s*: (.*)$', text, re.M))
    details = ', '.join(f'{name} {value}' for name, value in sorted(fields.items()) if name != 'model name')
    return f'{fields.get("model name", platform.machine())} ({details})'


def in_guest():
    return ' hypervisor' in pathlib.Path('/proc/cpuinfo').read_text()


def describe(rounds, scale):
    memory = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30
    guest = 'a virtual machine with ' if in_guest() else ''
    part = '' if scale == 1 else f' of {scale:g} of the work'
    return (f'{datetime.date.today()}: {guest}{os.cpu_count()} CPUs, {cpu_model()}, {memory:.0f} GiB, '
            f'Linux {platform.release()}, {" ".join(platform.libc_ver())}, python {platform.python_version()}; '
            f'{rounds} rounds{part}, medians and quartiles of paired runs')
