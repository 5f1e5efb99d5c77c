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

    def with_options(self, text):
        """The same with more options for memagent, which take the place of earlier ones."""
        variables = tuple((name, f'{value},{text}' if name == 'MEMAGENT_OPTIONS' else value)
                          for name, value in self.variables)
        return dataclasses.replace(self, variables=variables)

    def command(self, words, folder):
        return [*(word.format(folder=folder) for word in self.prefix), *words]


TRACKED = 'memagent'
SAMPLED = 'memagent sampling'
HEAPTRACK = 'heaptrack'
GPERFTOOLS = 'gperftools'
JEMALLOC = 'jemalloc all'
JEMALLOC_SAMPLED = 'jemalloc 512 KiB'
DHAT = 'valgrind dhat'
OURS = (TRACKED, SAMPLED)
PEERS = (HEAPTRACK, JEMALLOC_SAMPLED, JEMALLOC, GPERFTOOLS, DHAT)


def all_tools(build, options=''):
    """{name: Tool}; `options` are more options of memagent's."""
    library = str(pathlib.Path(build).resolve() / 'agent/libmemagent.so')
    ours = ','.join(filter(None, ['output={folder}/%e.%p.memagent', options]))
    jemalloc = 'prof:true,prof_final:true,prof_prefix:{folder}/jemalloc'
    tools = [
        Tool(PLAIN, ''),
        Tool(TRACKED, 'every allocation', library, (('MEMAGENT_OPTIONS', f'{ours},engine=none'),)),
        Tool(SAMPLED, 'every allocation; samples memory accesses at 1 kHz', library,
             (('MEMAGENT_OPTIONS', f'{ours},engine=software,rate=1000'),)),
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
