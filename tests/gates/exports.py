#!/usr/bin/env python3
"""libmemagent.so defines exactly the dynamic symbols in exports.txt: what it interposes, by intent."""
import re

import gate

# What allocators and loaders call while they hold their locks: a hook there would come back into
# them, whatever its reason (pitfalls P17; dlopen: P62).
NEVER = re.compile(r'pthread_(mutex|spin|rwlock|cond|once|key|[gs]etspecific|sigmask|getattr).*|sigprocmask|'
                   r'dl(m?open|v?sym|addr1?|_iterate_phdr|error)|sem_.*|__tls_get_addr|getenv|'
                   r'(open|read|write|close)(64)?')


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
    problems += [f'{symbol}: allocators and loaders call it under their locks'
                 for symbol in sorted(exported) if NEVER.fullmatch(symbol)]
    gate.finish(problems, f'{len(exported)} exported symbols are the intended ones')


main()
