"""Writes the initramfs of a guest: busybox, the modules it needs in their order, and /init.

The archive is an uncompressed cpio in the "newc" format
(Documentation/driver-api/early-userspace/buffer-format.rst).
"""
import lzma
import pathlib
import re
import shutil
import stat
import subprocess

FOLDERS = ('proc', 'sys', 'dev', 'host', 'writable', 'newroot', 'bin', 'modules')
COMPRESSED = {'.xz': lzma.decompress,
              '.zst': lambda data: subprocess.run([shutil.which('zstd') or 'zstd', '-dc'], input=data,
                                                  capture_output=True, check=True).stdout}


def read_module(path):
    data = path.read_bytes()
    return COMPRESSED[path.suffix](data) if path.suffix in COMPRESSED else data


def module_name(path):
    """As the kernel writes it: fs/foo-bar.ko.xz is foo_bar."""
    return path.name.split('.ko')[0].replace('-', '_')


def load_order(image, wanted):
    """[(name, content)] of the wanted modules, each after those it depends on.

    A wanted module without a file is built into the kernel.
    """
    paths = {module_name(path): path for path in pathlib.Path(image).rglob('*.ko*')}
    order = {}

    def add(name):
        if name in order or name not in paths:
            return
        content = read_module(paths[name])
        found = re.search(rb'\0depends=([^\0]*)\0', content)
        for needed in found.group(1).decode().split(',') if found else []:
            add(needed.replace('-', '_'))
        order[name] = content

    for name in wanted:
        add(name)
    return list(order.items())


def entry(number, name, mode, content=b''):
    """One file of the archive: 13 numbers of 8 hexadecimal digits, the name, the content."""
    encoded = name.encode() + b'\0'
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    head = b'070701' + b''.join(b'%08X' % field for field in fields) + encoded
    return head + b'\0' * (-len(head) % 4) + content + b'\0' * (-len(content) % 4)


def write(target, busybox, init, image, wanted):
    modules = load_order(image, wanted)
    entries = [(name, stat.S_IFDIR | 0o755, b'') for name in FOLDERS]
    entries.append(('bin/busybox', stat.S_IFREG | 0o755, busybox.read_bytes()))
    entries.append(('init', stat.S_IFREG | 0o755, init.read_bytes()))
    for name, content in modules:
        entries.append((f'modules/{name}.ko', stat.S_IFREG | 0o644, content))
    order = ''.join(f'{name}\n' for name, _ in modules).encode()
    entries.append(('modules/order', stat.S_IFREG | 0o644, order))
    entries.append(('TRAILER!!!', 0, b''))
    target.write_bytes(b''.join(entry(number, *fields) for number, fields in enumerate(entries, 1)))
