"""Cases that measure one thing: the malloc loop, threads, sampling."""
from case import Case, printed
from tools import OURS, PEERS, SAMPLED, TRACKED

# A count that is a float grows and shrinks with the work.
CASES = [
    Case('malloc + free, 1 thread', 'loop', 'ns', (*OURS, *PEERS), printed('malloc_pairs', 3e6, 1),
         'a pair, 16 call sites with stacks 13 deep, 64 live blocks of 16 to 256 bytes; CPU time of the thread'),
    Case('malloc + free, 2 threads', 'loop', 'ns', OURS, printed('malloc_pairs', 3e6, 2),
         'the same in two threads at once; CPU time for a pair of each'),
    Case('thread create + join', 'loop', 'us', OURS, printed('thread_churn', 1e3),
         'a thread that does nothing; wall time'),
    Case('memory walk at 1 kHz', 'sampling', 'ms', (SAMPLED,), printed('memory_walk', 5e6, 1),
         'dependent loads in 48 MiB; CPU time of the thread', shown='ratio'),
]
