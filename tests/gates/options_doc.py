#!/usr/bin/env python3
"""docs/OPTIONS.md is made from the option table; this checks it, and with --write makes it anew."""
import re
import sys

import gate

ROW = re.compile(r'^MEMAGENT_OPTION\((\w+),\s*(\w+),\s*("[^"]*"|\w+),\s*"([^"]*)",\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)',
                 re.M)
HEAD = '''# Options

Made from `agent/base/options.inc` by `tests/gates/options_doc.py --write`; a test keeps the two alike.

Set them in `MEMAGENT_OPTIONS` as comma-separated `name=value` pairs (a comma in a value is written `\\,`), or as
flags of `memagent run` (`--name value`, which wins over the variable). An unknown name or a bad value gives one
warning and is left out; the program always runs.

| option | values | default | meaning |
|---|---|---|---|
'''
TAIL = '''
## Environment variables

| variable | meaning |
|---|---|
| `MEMAGENT_OPTIONS` | the options above |
| `MEMAGENT=off` | the agent stays away: nothing is hooked or measured |
| `MEMAGENT_LIBRARY` | for `memagent run`: another `libmemagent.so` than the one beside the executable |
| `MEMAGENT_RUN_REPORT` | set by `memagent run`: the file in which agents name the profiles they write |
'''


def made_from_table():
    table = (gate.ROOT / 'agent/base/options.inc').read_text()
    rows = ROW.findall(table)
    if len(rows) != len(re.findall(r'^MEMAGENT_OPTION\(', table, re.M)):
        sys.exit('options.inc has a row that this script cannot read')
    text = HEAD
    for _, name, default, values, meaning in rows:
        meaning = ''.join(re.findall(r'"((?:\\.|[^"\\])*)"', meaning)).replace('|', '\\|')
        values = values.replace('|', '\\|')
        text += f'| `{name}` | {values} | `{default.strip(chr(34))}` | {meaning} |\n'
    return text + TAIL


def main():
    path = gate.ROOT / 'docs/OPTIONS.md'
    if sys.argv[1:] == ['--write']:
        path.write_text(made_from_table())
        return
    same = path.exists() and path.read_text() == made_from_table()
    gate.finish([] if same else ['docs/OPTIONS.md differs: run tests/gates/options_doc.py --write'],
                'docs/OPTIONS.md agrees with the option table')


main()
