// What `memagent run --place SITE=PLACEMENT` asks for. Pure.
#ifndef MEMAGENT_INJECT_PLACEMENT_REQUEST_H_
#define MEMAGENT_INJECT_PLACEMENT_REQUEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memagent::inject {

struct PlacementRequest {
  std::string text;      // as asked
  std::string site;      // "S3"; "": a function is meant
  std::string function;  // of "fn:NAME"
  std::string file;  // behind "@": the site's profile; the function's executable or library, or ""
  std::string placement;  // as the agent takes it: its nodes are always named
};

// Reads "S3@FILE=interleave", "fn:NAME=bind:0" (or "bind=0"), "fn:NAME@FILE=block". `memory_nodes`
// are those of this machine that have memory: the only ones that may be named, and meant where none
// is. False: `problem` is one sentence.
bool ParsePlacementRequest(std::string_view text, const std::vector<uint32_t>& memory_nodes,
                           PlacementRequest& request, std::string& problem);

// The lines of a file of such texts: without empty ones and those that begin with "#".
std::vector<std::string> PlacementTexts(std::string_view file);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_PLACEMENT_REQUEST_H_
