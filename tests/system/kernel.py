"""Prepares what a guest boots from: Debian's own kernel, fetched once and kept in a cache.

  apt-get download   the kernel's image and headers and a static busybox, in a state of apt's of our
                     own: nothing is installed, no root needed
  vmlinux            taken out of bzImage: QEMU starts it directly (PVH), which saves the five
                     seconds that unpacking it takes in an emulated processor
  initramfs          busybox, the modules that reach the host's files, tests/system/init
  simpmu.ko          the simulated PMU, built against the headers (tests/system/simpmu)

The cache is build/guest of the checkout, or what MEMAGENT_GUEST_CACHE names. Each part is made anew
when its sources change. What can't be had on this machine raises Unavailable; all else that goes
wrong is an error.
"""
import contextlib
import dataclasses
import fcntl
import hashlib
import lzma
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time

import initramfs

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
QEMU = 'qemu-system-x86_64'
# What the initramfs needs to mount the host's files; the rest of the modules stays in the package.
MODULE_FOLDERS = r'drivers/virtio|net/9p|fs/9p|fs/netfs|fs/fscache|fs/overlayfs'
WANTED_MODULES = ('virtio_pci', '9pnet_virtio', '9p', 'overlay')
RETRY_SECONDS = 600  # how long a failed download is not tried again


class Unavailable(Exception):
    """This machine can't run a guest; str() is the reason."""


@dataclasses.dataclass(frozen=True)
class Files:
    """What a guest boots from."""
    kernel: pathlib.Path
    initramfs: pathlib.Path
    module: pathlib.Path  # simpmu.ko
    release: str  # "6.1.0-57-amd64"


def say(text):
    print(f'guest: {text}', file=sys.stderr, flush=True)


def cache_folder():
    return pathlib.Path(os.environ.get('MEMAGENT_GUEST_CACHE') or ROOT / 'build/guest').resolve()


def prepare(cache=None):
    """Makes what is missing and returns the Files. Safe to call from many processes at once."""
    cache = pathlib.Path(cache or cache_folder())
    check_machine()
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fetch_once(cache)
        release = (cache / 'release').read_text()
        make_initramfs(cache)
        make_module(cache)
    kernel = cache / 'vmlinux'
    if not kernel.exists():
        kernel = one(cache / 'image', '**/boot/vmlinuz-*')
    return Files(kernel, cache / 'initramfs.cpio', cache / 'simpmu/simpmu.ko', release)


def check_machine():
    if platform.machine() != 'x86_64':
        raise Unavailable(f'the guest is x86-64, this machine is {platform.machine()}')
    for program, package in ((QEMU, 'qemu-system-x86'), ('apt-get', 'apt'), ('dpkg-deb', 'dpkg'),
                             ('make', 'make')):
        if shutil.which(program) is None:
            raise Unavailable(f'{program} is not installed (package {package})')


def one(folder, pattern):
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise RuntimeError(f'{len(found)} files match {folder}/{pattern}')
    return found[0]


@contextlib.contextmanager
def timed(what):
    """Says what was done and how long it took; the body may append figures to what it is given."""
    start, figures = time.monotonic(), []
    yield figures
    say(f'{what}: {time.monotonic() - start:.1f} s' + ''.join(f', {figure}' for figure in figures))


def fetch_once(cache):
    """Downloads and unpacks the packages; a failure is remembered for a while."""
    refused = cache / 'unavailable'
    if (cache / 'release').exists():
        return
    if refused.exists() and time.time() - refused.stat().st_mtime < RETRY_SECONDS:
        raise Unavailable(refused.read_text())
    try:
        unpack(cache, Apt(cache / 'apt').download(cache / 'packages'))
    except Unavailable as reason:
        refused.write_text(str(reason))
        raise
    refused.unlink(missing_ok=True)


class Apt:
    """apt-get with lists of its own: the machine's may be empty or old, and are not ours to change.

    The sources are the machine's; where MEMAGENT_GUEST_SUITE names a suite of Debian, such as
    bookworm-backports, guests run that suite's kernel.
    """

    def __init__(self, folder):
        self.options = [f'-oDir::State::Lists={folder}/lists', f'-oDir::Cache={folder}/cache',
                        '-oAcquire::Languages=none', '-oAPT::Sandbox::User=root', '-oDebug::NoLocking=1']
        for name in ('lists/partial', 'cache/archives/partial'):
            (folder / name).mkdir(parents=True, exist_ok=True)
        suite = os.environ.get('MEMAGENT_GUEST_SUITE')
        if suite:
            self.add_suite(folder / 'sources', suite)

    def add_suite(self, sources, suite):
        """The machine's sources and the suite, which is preferred."""
        sources.mkdir()
        for path in (pathlib.Path('/etc/apt/sources.list'), *pathlib.Path('/etc/apt/sources.list.d').glob('*')):
            if path.exists():
                shutil.copy(path, sources)
        (sources / 'guest.list').write_text(
            f'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {self.mirror()} {suite} main\n')
        self.options += ['-oDir::Etc::SourceList=/dev/null', f'-oDir::Etc::SourceParts={sources}',
                         f'-oAPT::Default-Release={suite}']

    def mirror(self):
        """Where the machine has Debian's packages from: other suites lie beside its own."""
        targets = self.call('apt-get', 'indextargets', '--no-release-info', '--format',
                            '$(REPO_URI) $(RELEASE) $(COMPONENT)', 'Created-By: Packages').stdout
        own = platform.freedesktop_os_release().get('VERSION_CODENAME')
        for line in targets.splitlines():
            uri, *kind = line.split()
            if kind == [own, 'main']:
                return uri
        raise Unavailable(f'the machine has no source of the packages of {own}')

    def call(self, program, *words, cwd=None):
        finished = subprocess.run([program, '-q', *self.options, *words], capture_output=True, text=True,
                                  cwd=cwd, stdin=subprocess.DEVNULL, env={**os.environ, 'LC_ALL': 'C'})
        if finished.returncode != 0:
            lines = finished.stderr.strip().splitlines() or ['no message']
            raise Unavailable(f'{program} {words[0]} failed: {lines[-1]}')
        return finished

    def update(self):
        """Gets the lists of packages. Without a network apt-get only warns."""
        complaints = self.call('apt-get', 'update').stderr.strip().splitlines()
        if not self.call('apt-cache', 'pkgnames', 'linux-image-amd64').stdout:
            raise Unavailable(f'no list of packages: {complaints[0] if complaints else "no sources"}')

    def dependency(self, package, pattern):
        """The package that `package` depends on and whose name matches, such as the current kernel."""
        text = self.call('apt-cache', 'depends', package).stdout
        for name in re.findall(r'^\s*\|?Depends: (\S+)', text, re.M):
            if re.match(pattern, name):
                return name
        raise Unavailable(f'no dependency of {package} matches {pattern}')

    def download(self, folder):
        """Fetches the packages; the list of their files."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        with timed('lists of packages'):
            self.update()
        image = self.dependency('linux-image-amd64', 'linux-image-')
        headers = self.dependency('linux-headers-amd64', 'linux-headers-')
        names = [image, headers, self.dependency(headers, 'linux-headers-.*-common'),
                 self.dependency(headers, 'linux-kbuild-'), 'busybox-static']
        with timed(f'download of {", ".join(names)}') as figures:
            self.call('apt-get', 'download', *names, cwd=folder)
            files = sorted(folder.glob('*.deb'))
            figures.append(f'{sum(file.stat().st_size for file in files) / 1e6:.1f} MB')
        return files


def unpack(cache, packages):
    """Unpacks what is needed, takes vmlinux out, and writes `release` as a sign that all is there."""
    with timed('unpacking'):
        for package in packages:
            if package.name.startswith('linux-image-'):
                kept = rf'(usr/)?boot/vmlinuz-|(usr/)?lib/modules/[^/]+/kernel/({MODULE_FOLDERS})/'
                unpack_package(package, cache / 'image', kept)
            elif package.name.startswith('busybox'):
                unpack_package(package, cache / 'busybox', r'(usr/)?bin/busybox$')
            else:
                unpack_package(package, cache / 'headers', r'usr/(src|lib)/')
        image = one(cache / 'image', '**/boot/vmlinuz-*')
        vmlinux = extract_vmlinux(image.read_bytes())
        if vmlinux:
            (cache / 'vmlinux').write_bytes(vmlinux)
    shutil.rmtree(cache / 'packages')
    shutil.rmtree(cache / 'apt')
    (cache / 'release').write_text(image.name.removeprefix('vmlinuz-'))


def unpack_package(package, folder, kept):
    """The members of a .deb whose names match the expression."""
    process = subprocess.Popen(['dpkg-deb', '--fsys-tarfile', str(package)], stdout=subprocess.PIPE)
    with process.stdout, tarfile.open(fileobj=process.stdout, mode='r|') as archive:
        for member in archive:
            name = member.name.removeprefix('./')
            if not member.isdir() and re.match(kept, name):
                archive.extract(member, folder)
    if process.wait() != 0:
        raise RuntimeError(f'dpkg-deb could not read {package}')


def extract_vmlinux(image):
    """The ELF kernel inside a bzImage; None when we can't unpack it: then bzImage is booted.

    Documentation/arch/x86/boot.rst: byte 0x1f1 is the number of 512-byte setup sectors after the
    first, 0x248 and 0x24c the payload's offset from the end of these and its length. The payload
    ends in the unpacked size, which gzip and zstd would take for garbage.
    """
    start = ((image[0x1f1] or 4) + 1) * 512 + int.from_bytes(image[0x248:0x24c], 'little')
    payload = image[start:start + int.from_bytes(image[0x24c:0x250], 'little')]
    if payload.startswith(b'\xfd7zXZ\0'):
        return lzma.LZMADecompressor().decompress(payload)
    for magic, program in ((b'\x1f\x8b', 'gzip'), (b'\x28\xb5\x2f\xfd', 'zstd')):
        if payload.startswith(magic) and shutil.which(program):
            finished = subprocess.run([program, '-dc'], input=payload[:-4], capture_output=True)
            return finished.stdout if finished.returncode == 0 else None
    return None


def is_current(stamp, sources):
    """Whether `stamp` was written for these sources; returns (bool, text to write when they are made)."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + b'\0' + source.read_bytes())
    return stamp.exists() and stamp.read_text() == digest.hexdigest(), digest.hexdigest()


def make_initramfs(cache):
    stamp = cache / 'initramfs.stamp'
    current, digest = is_current(stamp, [HERE / 'init', HERE / 'initramfs.py', HERE / 'kernel.py'])
    if not current:
        busybox = one(cache / 'busybox', '**/bin/busybox')
        initramfs.write(cache / 'initramfs.cpio', busybox, HERE / 'init', cache / 'image', WANTED_MODULES)
        stamp.write_text(digest)


def make_module(cache):
    """Builds simpmu.ko; the compiler must be the kernel's, which the headers name."""
    source, folder, stamp = HERE / 'simpmu', cache / 'simpmu', cache / 'simpmu.stamp'
    sources = sorted(path for path in source.iterdir() if path.is_file())
    current, digest = is_current(stamp, sources)
    if current:
        return
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    headers = one(cache / 'headers', 'usr/src/linux-headers-*[!n]')  # not -common
    makefile = headers / 'Makefile'
    # The headers expect to lie in /usr/src.
    makefile.write_text(re.sub(r'(?<![\w/])/usr/src/', f'{cache}/headers/usr/src/', makefile.read_text()))
    with timed('building simpmu.ko'):
        # Without BTF, which wants pahole and the kernel's vmlinux.
        finished = subprocess.run(['make', '-C', str(headers), f'M={folder}', 'CONFIG_DEBUG_INFO_BTF_MODULES=',
                                   'modules'], capture_output=True, text=True)
    if finished.returncode != 0:
        raise RuntimeError(f'simpmu.ko does not build:\n{finished.stdout[-3000:]}\n{finished.stderr[-3000:]}')
    stamp.write_text(digest)
