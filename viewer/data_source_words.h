// perf_mem_data_src in the words of `perf script` and `perf mem report` (Linux 7.2), for people who
// compare our figures with perf's. What an access was is for DecodeDataSource() to say: these words
// repeat what the kernel wrote, "Remote L3 hit" for remote memory included (facts: perf_abi 6.1).
#ifndef MEMAGENT_VIEWER_DATA_SOURCE_WORDS_H_
#define MEMAGENT_VIEWER_DATA_SOURCE_WORDS_H_

#include <cstdint>
#include <string>

namespace memagent::viewer {

struct PerfWords {
  std::string op;       // "LOAD"
  std::string level;    // "Remote node, same socket RAM hit"
  std::string snoop;    // "None or Miss"
  std::string tlb;      // "L1 or L2 hit"
  std::string lock;     // "Yes"
  std::string blocked;  // " Data Addr": perf has a blank in front of each
};

PerfWords PerfWordsOf(uint64_t data_src);

// "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A". perf's own output ends after 82
// characters; this does not.
std::string PerfScriptText(uint64_t data_src);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DATA_SOURCE_WORDS_H_
