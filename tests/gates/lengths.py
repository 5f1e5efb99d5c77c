#!/usr/bin/env python3
"""Functions of at most 40 lines and files of at most 400, unless the file's header says why.

A header that says so holds "Long function: ..." or "Long file: ..." in its first comment. Prints the
median and the 90th percentile as well. Function ends are found by matching braces.
"""
import re

import gate

FUNCTION_LIMIT = 40
FILE_LIMIT = 400
FOLDERS = ('agent', 'inject', 'viewer', 'examples')


def is_scope(head):
    """True for namespace, class and the like, whose braces hold functions."""
    return (re.search(r'\b(namespace|class|struct|union|enum|extern\s*"")', head)
            and not re.search(r'\)\s*(const|noexcept|override|final|->.*)*\s*$', head.strip()))


def functions(source):
    """Yields (first line, lines) of every function body with its braces."""
    text = gate.without_comments(source)
    stack, start, line = [], 0, 1
    for at, char in enumerate(text):
        inside = any(kind == 'function' for kind, _ in stack)
        if char == '\n':
            line += 1
        elif char == ';' and not inside:
            start = at + 1
        elif char == '{':
            head = text[start:at]
            if inside:
                stack.append(('block', line))
            elif is_scope(head):
                stack.append(('scope', line))
                start = at + 1
            elif ')' in head and '=' not in head.split('(')[0]:
                stack.append(('function', line))
            else:
                stack.append(('block', line))
        elif char == '}' and stack:
            kind, first = stack.pop()
            if kind == 'function':
                yield first, line - first + 1
            if not any(other == 'function' for other, _ in stack):
                start = at + 1


def header_of(source):
    match = re.match(r'(?:[ \t]*//[^\n]*\n)+', source)
    return match.group(0) if match else ''


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def main():
    problems, all_lengths, file_lengths = [], [], []
    for path in gate.source_files(*FOLDERS, suffixes=('.h', '.cc')):
        source = (gate.ROOT / path).read_text()
        header = header_of(source)
        lines = source.count('\n')
        file_lengths.append(lines)
        if lines > FILE_LIMIT and 'Long file:' not in header:
            problems.append(f'{path}: {lines} lines')
        for first, length in functions(source):
            all_lengths.append(length)
            if length > FUNCTION_LIMIT and 'Long function:' not in header:
                problems.append(f'{path}:{first}: a function of {length} lines')
    gate.finish(problems, f'{len(all_lengths)} functions, lines median {percentile(all_lengths, .5)} '
                f'p90 {percentile(all_lengths, .9)} max {max(all_lengths)}; {len(file_lengths)} files, '
                f'lines median {percentile(file_lengths, .5)} max {max(file_lengths)}')


main()
