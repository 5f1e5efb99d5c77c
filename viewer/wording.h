// Phrases that several outputs share, so that they say one thing in one way. Results are printable.
#ifndef MEMAGENT_VIEWER_WORDING_H_
#define MEMAGENT_VIEWER_WORDING_H_

#include <string>

#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

// "grid.cc:41"; without lines "libfoo.so+0x1234"; "" when nothing is known.
std::string LocationText(const CodeLine& line, const Terminal& terminal);
// "Grid::fill grid.cc:41"; "unknown code" when nothing is known.
std::string CodeText(const CodeLine& line, const Terminal& terminal);
// What a site is called without its location: the allocating function, the variable, the file.
std::string SiteName(const SiteView& site, const Terminal& terminal);
// Its location: allocating line, or nothing.
std::string SiteLocation(const SiteView& site, const Terminal& terminal);
// "software engine, 1,000 samples per second of each thread's CPU time"
std::string EngineText(const View& view, const Terminal& terminal);
// "stencil 4096 -t 32"
std::string CommandLineText(const View& view, const Terminal& terminal);
// "worker-3", or "thread 4711" for one without a name.
std::string ThreadText(const View& view, uint32_t thread_id, const Terminal& terminal);
// "~1.20 MiB ±3 %" for an estimate, `text` as it is for an exact count.
std::string EstimateText(std::string_view text, uint64_t count, double variance,
                         const Terminal& terminal);
// How the blocks were chosen that counts are estimated from.
std::string SamplingText(const View& view, const Terminal& terminal);
// What budget= allowed, what was spent and what it changed.
std::string BudgetText(const View& view);
// "node 0", "an unknown node"
std::string NodeText(int32_t node);
// The last component of a path.
std::string_view BaseName(std::string_view path);
// The text in quotes for a shell when it needs them.
std::string ShellWord(std::string_view text);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_WORDING_H_
