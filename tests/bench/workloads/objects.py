"""Objects, dictionaries, lists, strings and JSON, as a program that moves records about makes them, and
some computing between that allocates little.

    objects.py RECORDS

Prints a checksum.
"""
import collections
import json
import sys
import zlib


class Node:
    def __init__(self, key, value):
        self.key = key
        self.value = value
        self.left = self.right = None


def insert(root, key, value):
    node = root
    while key != node.key:
        side = 'left' if key < node.key else 'right'
        below = getattr(node, side)
        if below is None:
            setattr(node, side, Node(key, value))
            return
        node = below
    node.value = value


def distance(one, other):
    """Edit distance (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, left in enumerate(one):
        diagonal, row[0] = row[0], i + 1
        for j, right in enumerate(other):
            changed = diagonal + (left != right)
            diagonal = row[j + 1]
            added = (diagonal if diagonal < row[j] else row[j]) + 1
            row[j + 1] = changed if changed < added else added
    return row[-1]


def make_records(count):
    return [{'id': i, 'name': f'name {i * 7919 % count}', 'tags': [f'tag{i % 17}', f'tag{i % 23}'],
             'place': {'x': i * 0.5, 'y': i % 360}} for i in range(count)]


def main():
    records = make_records(int(sys.argv[1]))
    text = json.dumps(records)
    again = json.loads(text)
    by_name = collections.defaultdict(list)
    for record in again:
        by_name[record['name']].append(record)
    root = Node('name', None)
    for record in again:
        insert(root, f'{record["id"] * 40503 % 65537} {record["name"]}', record)
    words = collections.Counter(word for record in records for word in record['name'].split() + record['tags'])
    lines = '\n'.join(f'{name}: {len(found)}' for name, found in sorted(by_name.items()))
    upper = [line.upper().replace('NAME', 'key') for line in lines.split('\n')]
    names = sorted(by_name, key=lambda name: (len(name), name[::-1]))
    distances = sum(distance(one, other) for one, other in zip(names, names[1:]))
    vowels = sum(text.count(letter) for letter in 'aeiou')
    print(zlib.crc32(text.encode()), zlib.crc32('\n'.join(upper).encode()), distances, vowels, words.most_common(3),
          sum(len(str(record)) for record in again))


main()
