#!/usr/bin/env python3
"""libmemagent.so defines exactly the dynamic symbols in exports.txt: what it interposes, by intent."""
import gate


def main():
    library = gate.require_library()
    exported = {line.split()[0].split('@')[0]
                for line in gate.output_of('nm', '-D', '--defined-only', '-P', library).splitlines()}
    allowed = gate.golden('exports.txt')
    problems = [f'{symbol}: exported, but not in tests/gates/exports.txt'
                for symbol in sorted(exported - set(allowed))]
    problems += [f'{symbol}: in tests/gates/exports.txt, but not exported'
                 for symbol in sorted(set(allowed) - exported)]
    problems += [f'{symbol}: its line in tests/gates/exports.txt has no reason'
                 for symbol, reason in allowed.items() if not reason]
    gate.finish(problems, f'{len(exported)} exported symbols are the intended ones')


main()
