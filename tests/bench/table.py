"""What was measured, as text for people and as Markdown for README.md."""
import statistics
import textwrap

import targets
import tools

TEXT_ROW = '{:24} {:17} {:>12} {:>12} {:>22} {:>8} {:>18}'
PEER_NOTE = '''heaptrack writes raw data; its interpreter, another process, is not counted. jemalloc and gperftools are other
allocators too. The last three do a tenth of the work, next to a plain run of the same. dhat also sees every access.'''


def number(value):
    """Three digits that mean something."""
    size = abs(value)
    return f'{value:,.0f}' if size >= 100 else f'{value:.1f}' if size >= 10 else f'{value:.2f}'


def signed(value):
    return ('+' if value >= 0 else '') + number(value)


def amount(value, unit):
    return f'{number(value)} {unit}' if value else '-'


def times(value):
    return f'{value:.3f}' if value < 10 else number(value)


def text_header():
    return TEXT_ROW.format('', '', 'plain', 'added', '(quartiles)', 'x plain', '(quartiles)')


def text_lines(case, comparison):
    """One line for each tool: what it adds and how many times plain that is."""
    for tool, pairs in comparison.pairs.items():
        added, ratio = comparison.added(tool), comparison.ratio(tool)
        yield TEXT_ROW.format(
            case.name, tool, amount(statistics.median(plain for plain, _ in pairs), case.unit),
            signed(added.median), f'{signed(added.low)} to {signed(added.high)}',
            *((times(ratio.median), f'{times(ratio.low)} to {times(ratio.high)}') if ratio else ('-', '-'))
        ) + (f'  by its own estimate {times(comparison.estimates[tool])}' if tool in comparison.estimates else '')
    for tool, reason in comparison.failures.items():
        yield f'{case.name:24} {tool:17} not measured: {reason}'


def cell(case, comparison, tool):
    if comparison is None or tool not in comparison.pairs:
        return ''
    if case.shown == 'ratio':
        value = comparison.ratio(tool)
        return f'{times(value.median)} x ({times(value.low)}–{times(value.high)})'
    value = comparison.added(tool)
    return f'{signed(value.median)} {case.unit} ({signed(value.low)} to {signed(value.high)})'


def markdown_table(header, rows):
    lines = [header, ['---'] * len(header), *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)


def own_table(results):
    rows = [[f'{case.name}: {case.meaning}', amount(statistics.median(done.plain), case.unit),
             *(cell(case, done, tool) for tool in tools.OURS)]
            for case, done in results if any(tool in done.pairs for tool in tools.OURS)]
    return markdown_table(['what', 'plain', 'everything tracked', 'and sampled at 1 kHz'], rows)


def peer_table(results):
    shown = [(case, done) for case, done in results if any(peer in done.pairs for peer in tools.PEERS)]
    columns = [tool for tool in (tools.TRACKED, *tools.PEERS) if any(tool in done.pairs for _, done in shown)]
    rows = [[case.name, *(cell(case, done, tool).partition(' (')[0] for tool in columns)] for case, done in shown]
    return markdown_table(['', *columns], rows) if rows else ''


def target_table(found):
    return markdown_table(['target', 'at most', 'measured', ''],
                          [[target.what, target.limit_text, target.measured_text, 'met' if target.met else 'not met']
                           for target in found]) if found else ''


def markdown(machine, results):
    """`results`: [(Case, Comparison)]."""
    peers = peer_table(results)
    parts = [textwrap.fill(machine, 110), own_table(results), peers, PEER_NOTE if peers else '',
             target_table(targets.judge(results))]
    return '\n\n'.join(part for part in parts if part) + '\n'
