"""How a program is run plain, under memagent, and under each peer.

Every peer runs as one process with the program: nothing it does outside is counted or needed.
"""
import dataclasses
import glob
import os
import pathlib
import shutil

from pairing import PLAIN

# In the environment of a developer these would change what is measured.
CLEARED = ('LD_PRELOAD', 'MEMAGENT', 'MEMAGENT_OPTIONS', 'MALLOC_CONF', 'HEAPPROFILE')


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    records: str            # what of the program's allocations
    library: str = ''       # to preload: a path or glob
    variables: tuple = ()   # (name, value); {folder} is where output goes
    prefix: tuple = ()      # command in front of the program's
    slow: bool = False      # compared on shorter work

    def missing(self):
        """Why the tool cannot run here, or ''."""
        if self.prefix and shutil.which(self.prefix[0]) is None:
            return f'{self.prefix[0]} is not installed'
        if self.library and not glob.glob(self.library):
            return f'{self.library} does not exist'
        return ''

    def environment(self, folder, more=None):
        variables = {name: value for name, value in os.environ.items() if name not in CLEARED}
        variables.update(more or {})
        if self.library:
            variables['LD_PRELOAD'] = sorted(glob.glob(self.library))[0]
        variables.update((name, value.format(folder=folder)) for name, value in self.variables)
        return variables

    def command(self, words, folder):
        return [*(word.format(folder=folder) for word in self.prefix), *words]


def memagent(name, records, build, options):
    library = pathlib.Path(build).resolve() / 'agent/libmemagent.so'
    options = ','.join(filter(None, ['output={folder}/%e.%p.memagent', options]))
    return Tool(name, records, str(library), (('MEMAGENT_OPTIONS', options),))


TRACKED = 'memagent'
SAMPLED = 'memagent 1 kHz'
HEAPTRACK = 'heaptrack'
GPERFTOOLS = 'gperftools'
JEMALLOC = 'jemalloc all'
JEMALLOC_SAMPLED = 'jemalloc 512 KiB'
DHAT = 'valgrind dhat'
OURS = (TRACKED, SAMPLED)
PEERS = (HEAPTRACK, JEMALLOC_SAMPLED, JEMALLOC, GPERFTOOLS, DHAT)


def all_tools(build, options=''):
    """{name: Tool}; `options` are more options of memagent's."""
    jemalloc = 'prof:true,prof_final:true,prof_prefix:{folder}/jemalloc'
    tools = [
        Tool(PLAIN, ''),
        memagent(TRACKED, 'every allocation', build, ','.join(filter(None, ['engine=none', options]))),
        memagent(SAMPLED, 'every allocation; samples memory accesses at 1 kHz', build,
                 ','.join(filter(None, ['engine=software,rate=1000', options]))),
        # Written raw to a file, as `heaptrack --record-only` of newer releases does. Its command also
        # starts an interpreter and a compressor: not counted.
        Tool(HEAPTRACK, 'every allocation', '/usr/lib*/heaptrack/libheaptrack_preload.so',
             (('DUMP_HEAPTRACK_OUTPUT', '{folder}/heaptrack.$$'),)),
        Tool(JEMALLOC_SAMPLED, 'one allocation in 512 KiB, its default', '/usr/lib*/*/libjemalloc.so.2',
             (('MALLOC_CONF', jemalloc),)),
        Tool(JEMALLOC, 'every allocation', '/usr/lib*/*/libjemalloc.so.2',
             (('MALLOC_CONF', f'{jemalloc},lg_prof_sample:0'),), slow=True),
        Tool(GPERFTOOLS, 'every allocation', '/usr/lib*/*/libtcmalloc.so.4',
             (('HEAPPROFILE', '{folder}/gperftools'),), slow=True),
        Tool(DHAT, 'every allocation and access',
             prefix=('valgrind', '-q', '--tool=dhat', '--dhat-out-file={folder}/dhat.%p'), slow=True),
    ]
    return {tool.name: tool for tool in tools}
