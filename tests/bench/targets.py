"""The project's targets for what it costs, and whether what was measured meets them."""
import dataclasses
import statistics

from pairing import statistic
from tools import HEAPTRACK, SAMPLED, TRACKED

ONE_THREAD = 'malloc + free, 1 thread'
PROGRAM_LIMITS = {'sqlite3': 1.05, 'python3': 1.08, 'redis-server': 1.10, 'clang++ -O2 -c': 1.15}


@dataclasses.dataclass(frozen=True)
class Target:
    what: str
    limit: float
    unit: str
    measured: float

    @property
    def met(self):
        return self.measured <= self.limit

    @property
    def limit_text(self):
        return f'{self.limit:g} {self.unit}'

    @property
    def measured_text(self):
        return f'{self.measured:.3g} {self.unit}'


def _added(results, case, tool=TRACKED):
    return results[case].added(tool).median


def _growth(results, small, large):
    """How many times more a pair costs, against plain's own growth."""
    few, many = results[small], results[large]
    return (many.value(TRACKED) / few.value(TRACKED)) / (statistics.median(many.plain) / statistics.median(few.plain))


def _sampling_points(results, program):
    """What sampling adds, in points of plain's time: paired with the run that only tracks."""
    pairs = zip(results[program].pairs[TRACKED], results[program].pairs[SAMPLED])
    return statistic([100 * (sampled - tracked) / plain for (plain, tracked), (_, sampled) in pairs]).median


def _estimate_error(results, program):
    """By how many percent memagent's own estimate of what it adds differs from what the pairs show."""
    done = results[program]
    return 100 * abs((done.estimates[TRACKED] - 1) / (done.ratio(TRACKED).median - 1) - 1)


def _all():
    """(what, limit, unit, function of the results by case name)."""
    yield 'added to malloc + free, 1 thread', 50, 'ns', lambda r: _added(r, ONE_THREAD)
    yield "the same, part of heaptrack's", 0.1, 'x', lambda r: _added(r, ONE_THREAD) / _added(r, ONE_THREAD, HEAPTRACK)
    yield ('the same, 2 threads against 1', 1.3, 'x',
           lambda r: _added(r, 'malloc + free, 2 threads') / _added(r, ONE_THREAD))
    yield 'for a live block of 64 bytes', 32, 'bytes', lambda r: _added(r, 'a live block')
    for program, limit in PROGRAM_LIMITS.items():
        yield program, limit, 'x', lambda r, program=program: r[program].ratio(TRACKED).median
        yield (f'{program}, sampling at 1 kHz more', 2, 'points',
               lambda r, program=program: _sampling_points(r, program))
        yield (f"{program}, memagent's own estimate is off by", 20, '%',
               lambda r, program=program: _estimate_error(r, program))
    yield 'start and end of `/bin/true`', 1, 'ms', lambda r: _added(r, 'start and end')
    yield 'the same, sampling', 1, 'ms', lambda r: _added(r, 'start and end', SAMPLED)
    yield 'thread create + join', 15, 'us', lambda r: _added(r, 'thread create + join')
    yield 'the same, sampling', 15, 'us', lambda r: _added(r, 'thread create + join', SAMPLED)
    yield 'dump with 1M live blocks and 10,000 sites', 300, 'ms', lambda r: _added(r, 'final dump')
    yield ("growth from 1k to 10M live blocks, against plain's", 2, 'x',
           lambda r: _growth(r, 'malloc + free, 1k live', 'malloc + free, 10M live'))
    yield ("growth from 1 to 1,000 threads, against plain's", 2, 'x',
           lambda r: _growth(r, '1 thread in turns', '1,000 threads in turns'))
    yield 'capture of a known stack, depth 16', 20, 'ns', lambda r: _added(r, 'capture, depth 16')


def judge(results):
    """Targets of what was measured. `results`: [(Case, Comparison)]."""
    by_name = {case.name: done for case, done in results}
    found = []
    for what, limit, unit, measured in _all():
        try:
            found.append(Target(what, limit, unit, measured(by_name)))
        except KeyError:  # not measured
            pass
    return found


def text_lines(results):
    for target in judge(results):
        yield (f'target: {target.what:55} at most {target.limit_text:12} {target.measured_text:14} '
               f'{"met" if target.met else "NOT MET"}')
