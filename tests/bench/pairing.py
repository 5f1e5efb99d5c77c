"""Paired comparison: machines are shared and drift, so plain and tools take turns in each round, and
what is stated is the median of the differences and ratios within a round, with its quartiles.
"""
import dataclasses
import statistics
import subprocess

from process import Failed

PLAIN = 'plain'


@dataclasses.dataclass(frozen=True)
class Statistic:
    median: float
    low: float    # quartiles
    high: float


def statistic(values):
    ordered = sorted(values)
    return Statistic(statistics.median(ordered), ordered[len(ordered) // 4], ordered[len(ordered) * 3 // 4])


@dataclasses.dataclass(frozen=True)
class Reading:
    """One run: the figure or what holds it, and what the program did; outcomes of tools are compared with plain's."""
    value: object
    outcome: object = None
    estimate: float = None  # times plain, as the tool itself says


@dataclasses.dataclass
class Comparison:
    """Values of one case: of plain, and of each tool with plain's of the same round."""
    plain: list = dataclasses.field(default_factory=list)
    pairs: dict = dataclasses.field(default_factory=dict)
    failures: dict = dataclasses.field(default_factory=dict)
    estimates: dict = dataclasses.field(default_factory=dict)

    def added(self, tool):
        return statistic([value - plain for plain, value in self.pairs[tool]])

    def ratio(self, tool):
        """None where plain has nothing of the kind."""
        pairs = self.pairs[tool]
        return statistic([value / plain for plain, value in pairs]) if all(plain for plain, _ in pairs) else None

    def value(self, tool):
        """The median of what was measured, not paired."""
        return statistics.median(value for _, value in self.pairs[tool])

    def merge(self, other):
        self.plain = self.plain or other.plain
        self.pairs.update(other.pairs)
        self.failures.update(other.failures)
        self.estimates.update(other.estimates)


def take_turns(names, measure, rounds, warm_up=True):
    """Measures every name in each round, in turn first: ([{name: Reading}] by round, {name: failure}).

    measure(name) gives a Reading. What fails, or whose outcome is not that of the first name, is left
    out from then on. The first round is not among the result when it warms up caches.
    """
    done, failures = [], {}
    for number in range(rounds + warm_up):
        readings = {}
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            if name not in failures:
                try:
                    readings[name] = measure(name)
                except (Failed, OSError, subprocess.SubprocessError) as failure:
                    if name == names[0]:
                        raise Failed(str(failure)) from failure
                    failures[name] = str(failure)
        for name, reading in readings.items():
            if reading.outcome != readings[names[0]].outcome:
                failures[name] = 'the program did not do the same as plain'
        done.append(readings)
    return done[warm_up:], failures


def compare(rounds, failures, read=lambda value: value, base=PLAIN):
    """The Comparison of what take_turns gave; `read` takes the figure from a reading's value."""
    figures = [{name: read(reading.value) for name, reading in readings.items()} for readings in rounds]
    names = [name for name in figures[0] if name not in (base, *failures)]
    estimates = {name: statistics.median(readings[name].estimate for readings in rounds)
                 for name in names if rounds[0][name].estimate is not None}
    return Comparison([figure[base] for figure in figures],
                      {name: [(figure[base], figure[name]) for figure in figures] for name in names}, failures, estimates)
