"""What the gate scripts share."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIP = 77  # SKIP_RETURN_CODE in CMakeLists.txt


def skip(reason):
    print(f'SKIPPED: {reason}')
    sys.exit(SKIP)


def finish(problems, what):
    """Prints the problems and ends the script with the verdict."""
    for problem in problems:
        print(problem)
    print(f'{len(problems)} problem(s): {what}' if problems else f'ok: {what}')
    sys.exit(1 if problems else 0)


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def source_files(*folders, suffixes=('.h', '.cc', '.inc')):
    """Paths below ROOT of our sources, tracked or not: a new file is judged before its commit."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix in suffixes and path.is_file():
                yield path.relative_to(ROOT)


def tracked_files():
    if not (ROOT / '.git').exists():
        skip('not a git checkout')
    # The checkout may belong to another user than the one who tests it.
    text = output_of('git', '-c', f'safe.directory={ROOT}', 'ls-files', '-z')
    return [name for name in text.split('\0') if name and os.path.isfile(ROOT / name)]


def require_library():
    library = pathlib.Path(sys.argv[1])
    if not library.exists():
        sys.exit(f'{library} is not built: build the target memagent_so')
    return str(library.resolve())


def golden(name):
    """Lines of a golden file as {first word: rest}; '#' starts a comment line."""
    rows = {}
    for line in (ROOT / 'tests/gates' / name).read_text().splitlines():
        if line.strip() and not line.startswith('#'):
            word, _, rest = line.strip().partition(' ')
            rows[word] = rest.strip()
    return rows


def without_comments(text):
    """The source with comments, strings and preprocessor lines blanked, line breaks kept."""
    def blank(match):
        token = match.group(0)
        return '\n' * token.count('\n') + (' ' if token.startswith('/') else '""')
    text = re.sub(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                  blank, text, flags=re.S)
    return re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', lambda m: '\n' * m.group(0).count('\n'), text,
                  flags=re.M)
