"""What a case of the benchmark is, and what it is given when it is measured."""
import dataclasses
import pathlib
import shutil
import sys
import typing

from pairing import PLAIN, Reading
from process import run_well

WORKLOADS = pathlib.Path(__file__).resolve().parent / 'workloads'
SHORT = 0.1  # of the work, for slow tools and their plain partner


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    section: str           # a heading of the tables
    unit: str
    tools: tuple           # names, beside plain
    measure: typing.Callable   # measure(Setting) -> Reading
    meaning: str
    shown: str = 'added'   # or 'ratio': what the tables and targets are about
    needs: tuple = ()      # programs that must be installed


@dataclasses.dataclass(frozen=True)
class Setting:
    """One run of a case: which tool, how much work, and where."""
    tool: object
    build: pathlib.Path
    folder: pathlib.Path   # fresh, removed afterwards
    scale: float

    def count(self, full):
        return max(1, round(full * self.scale))

    def program(self, name):
        return self.build / 'tests/bench' / name

    def environment(self, more=None):
        return self.tool.environment(self.folder, more)

    def run(self, words, more=None):
        """Runs a program that must end well under the tool."""
        return run_well(self.tool.command(words, self.folder), self.environment(more))


def missing_program(case):
    absent = [name for name in case.needs if shutil.which(name) is None]
    return f'{", ".join(absent)} is not installed' if absent else ''


def printed(name, *arguments):
    """Measures a program of tests/bench/programs by the number that it prints first."""
    def measure(setting):
        words = [setting.program(name), *(setting.count(word) if isinstance(word, float) else word
                                          for word in arguments)]
        return Reading(float(setting.run(words).stdout.split()[0]))
    return measure


def is_plain(setting):
    return setting.tool.name == PLAIN


def python():
    return sys.executable
