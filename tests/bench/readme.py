"""Puts the tables into README.md, between two markers."""
import pathlib

README = pathlib.Path(__file__).resolve().parents[2] / 'README.md'
BEGIN = '<!-- figures: written by tests/bench/run --write-readme -->'
END = '<!-- end of figures -->'


def write(text, path=README):
    before, _, rest = path.read_text().partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f'run: {path} lacks the markers "{BEGIN}" and "{END}"')
    path.write_text(f'{before}{BEGIN}\n{text}{END}{after}')
