#!/usr/bin/env python3
"""Paired timing of a command plain and under the agent.

    tests/bench/paired.py [--build DIR] [-n ROUNDS] [--options TEXT] -- CMD...

Runs plain and profiled in turn (machines are shared and drift), and prints for wall time, CPU time
and peak memory: both medians, the median of the paired differences and of the paired ratios, with
the quartiles of the ratios. The command's output is thrown away; its exit status must not change.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time


def run(command, environment):
    """One run: (wall seconds, CPU seconds, peak KiB, exit status)."""
    start = time.monotonic()
    with open(os.devnull, "r+b") as null:
        process = subprocess.Popen(command, env=environment, stdin=null, stdout=null, stderr=null)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    process.returncode = status
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, status


def quartiles(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 4], ordered[len(ordered) * 3 // 4]


def report(name, plain, profiled, scale, unit):
    differences = [b - a for a, b in zip(plain, profiled)]
    ratios = [b / a for a, b in zip(plain, profiled) if a > 0]
    low, high = quartiles(ratios) if ratios else (0, 0)
    print(f"{name:10} {statistics.median(plain) * scale:10.2f} {statistics.median(profiled) * scale:10.2f} "
          f"{statistics.median(differences) * scale:+10.2f} {unit:4}"
          f"x{statistics.median(ratios) if ratios else 0:.3f}  ({low:.3f} to {high:.3f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build folder (default build/release)")
    parser.add_argument("-n", type=int, default=11, help="rounds (default 11)")
    parser.add_argument("--options", default="", help="MEMAGENT_OPTIONS of the profiled runs")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    library = os.path.abspath(os.path.join(arguments.build, "agent", "libmemagent.so"))
    if not os.path.exists(library):
        sys.exit(f"paired.py: {library} does not exist; build it first")
    with tempfile.TemporaryDirectory() as folder:
        options = f"output={folder}/%e.%p.memagent"
        if arguments.options:
            options += "," + arguments.options
        profiled_environment = dict(os.environ, LD_PRELOAD=library, MEMAGENT_OPTIONS=options)
        plain_runs, profiled_runs = [], []
        for round_number in range(arguments.n + 1):
            plain = run(arguments.command, os.environ)
            profiled = run(arguments.command, profiled_environment)
            if plain[3] != profiled[3]:
                sys.exit(f"paired.py: exit status {plain[3]} became {profiled[3]}")
            if round_number > 0:  # the first pair warms caches
                plain_runs.append(plain)
                profiled_runs.append(profiled)
    print(f"{'':10} {'plain':>10} {'profiled':>10} {'added':>10}     ratio  (quartiles), {arguments.n} pairs")
    report("wall", [r[0] for r in plain_runs], [r[0] for r in profiled_runs], 1e3, "ms")
    report("cpu", [r[1] for r in plain_runs], [r[1] for r in profiled_runs], 1e3, "ms")
    report("peak", [r[2] for r in plain_runs], [r[2] for r in profiled_runs], 1 / 1024, "MiB")


if __name__ == "__main__":
    main()
