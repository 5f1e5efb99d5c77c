// What a perf_mem_data_src word says of an access: the one decoder, for every engine and import.
//
// The word has an old half (a set of level bits with a hit or miss bit) and a new one (a level's
// number, a remote bit, hops); producers fill one, the other, or both with different answers. The
// rules, each for a producer that needs it (source: perf_abi 1.4, 6.4):
//
//   level     the number, unless it is absent or "not available"; then the bits. Three exceptions:
//             a remote-memory bit beside a cache's number is memory (Intel before Skylake, source
//             0xb); region MMIO is I/O though the number says memory (Intel 7.2); "any cache"
//             beside the L3 bit is L3 (AMD before Zen 4: the L3, or a cache of the same L3's
//             cores). A miss says what the access went beyond, not where it ended.
//   locality  1. hops: a core of the same node; another node; another socket or board.
//             2. the remote bit: another node, of the same socket or not.
//             3. old bits: remote memory and "remote cache, 2 hops" are another node. "Remote
//             cache,
//                1 hop" alone is not known: AMD on Linux 6.1 says it of a neighbour in the node,
//                Intel before 4.14 of another socket. With a number it is near, as nothing above
//                said remote (HiSilicon's peer cluster).
//             4. the level: L1, its fill buffers and L2 are of the same core, unless another core
//                had the line; L3, memory-side cache and memory are of the same node. I/O, uncached
//                memory, a cache of nobody knows whom, and misses: unknown.
//   snoop     the strongest claim: modified, peer, forward, hit, miss, none.
//
// "Not available" bits say nothing; beside a positive bit they don't count.
//
// What no word can say: CXL and persistent memory are mostly nodes of their own; kSameNode means
// that they hang at this node's socket. Arm's source "DRAM" is said of the other socket's too on
// some parts: the SPE engine must not believe it (perf_abi 4.5). AMD's prefetches look like loads
// (ibs_raw.h). Stores mostly have no level. The page's node is the witness for all of these.
#ifndef MEMAGENT_AGENT_DECODE_DATA_SOURCE_H_
#define MEMAGENT_AGENT_DECODE_DATA_SOURCE_H_

#include <cstdint>

#include "agent/base/data_source.h"

namespace memagent::decode {

// Any 64 bits are welcome: values that no kernel of today writes become kUnknown. An op of kUnknown
// means that the sample is not of a memory access (IBS samples all instructions). Pure; any thread.
DataSource DecodeDataSource(uint64_t bits);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_DATA_SOURCE_H_
