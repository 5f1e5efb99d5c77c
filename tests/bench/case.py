"""What a case of the benchmark is, what it is given when it is measured, and ways to measure."""
import dataclasses
import json
import pathlib
import shutil
import subprocess
import typing

from pairing import PLAIN, Reading
from process import Failed, run_well
from tools import TRACKED

WORKLOADS = pathlib.Path(__file__).resolve().parent / 'workloads'


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    unit: str
    tools: tuple               # names, beside plain
    measure: typing.Callable   # measure(Setting) -> Reading
    meaning: str
    shown: str = 'added'       # or 'ratio': what README.md's table states
    needs: tuple = ()          # programs that must be installed

    def missing(self):
        """Why the case cannot be measured here, or ''."""
        absent = [name for name in self.needs if shutil.which(name) is None]
        return f'{", ".join(absent)} is not installed' if absent else ''


@dataclasses.dataclass(frozen=True)
class Setting:
    """One run of a case: which tool, how much work, and where."""
    tool: object
    build: pathlib.Path
    folder: pathlib.Path   # fresh, removed afterwards
    scale: float

    @property
    def plain(self):
        return self.tool.name == PLAIN

    def count(self, full):
        return max(1, round(full * self.scale))

    def environment(self, more=None):
        return self.tool.environment(self.folder, more)

    def run(self, words, more=None):
        """Runs a program that must end well under the tool."""
        return run_well(self.tool.command(words, self.folder), self.environment(more))

    def run_program(self, name, *arguments):
        """One of tests/bench/programs. An argument that is a float is a count that grows with the work."""
        words = [self.count(word) if isinstance(word, float) else word for word in arguments]
        return self.run([self.build / 'tests/bench' / name, *words])

    def own_info(self):
        """What the one profile that a run of memagent left says of how it was made."""
        profiles = list(self.folder.glob('*.memagent'))
        if len(profiles) != 1:
            raise Failed(f'{len(profiles)} profiles were written')
        return json.loads(subprocess.run([self.build / 'viewer/memagent', 'info', '--format', 'json', profiles[0]],
                                         check=True, capture_output=True).stdout)

    def own_estimate(self):
        """How many times plain's CPU time memagent itself says the run took; None when it does not say."""
        share = self.own_info()['own_cost'].get('share') if self.tool.name == TRACKED else None
        return None if share is None else 1 + share

    def with_options(self, text):
        """The same with more options for memagent; other tools have none."""
        return dataclasses.replace(self, tool=self.tool.with_options(text))


def printed(name, *arguments, options=''):
    """Measures by the number that a program of tests/bench/programs prints first."""
    def measure(setting):
        if options:
            setting = setting.with_options(options)
        return Reading(float(setting.run_program(name, *arguments).stdout.split()[0]))
    return measure


def google(program, benchmark, base=None):
    """CPU time of a benchmark of Google Benchmark's, in ns; `base`, which takes plain's place, is what
    its loop costs without the thing measured.
    """
    def measure(setting):
        name = base if setting.plain else benchmark
        if name is None:
            return Reading(0.0)
        words = [setting.build / 'tests/bench' / program, f'--benchmark_filter=^{name}$', '--benchmark_format=json',
                 f'--benchmark_min_time={max(0.01, 0.2 * setting.scale)}']
        (found,) = json.loads(run_well(words, None).stdout)['benchmarks']
        if found.get('error_occurred'):
            raise Failed(found['error_message'])
        return Reading(found['cpu_time'] * {'ns': 1, 'us': 1e3, 'ms': 1e6}[found['time_unit']])
    return measure
