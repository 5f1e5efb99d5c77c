// From what --place asks for to the rules that the agent follows (agent/base/placement_rule.h):
// looks functions up in the program and its libraries as they are on disk now.
#ifndef MEMAGENT_INJECT_PLACEMENT_LINES_H_
#define MEMAGENT_INJECT_PLACEMENT_LINES_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/profile/reader.h"
#include "inject/commands.h"
#include "inject/module_file.h"
#include "inject/placement_request.h"

namespace memagent::inject {

class PlacementLines {
 public:
  // `program`: the file that is about to run.
  PlacementLines(std::string program, const ProfileQueries& queries)
      : program_(std::move(program)), queries_(queries) {}

  // The agent's line, without its newline; "" when there is none: `problem` is one sentence.
  std::string LineFor(const PlacementRequest& request, std::string& problem);

 private:
  struct Stack {
    std::string frames;  // with a tab before each
    std::string meaning;
  };
  struct Call {
    std::string path;  // of its module; "": in none
    std::string build_id;
    std::string function;  // as the symbol is; "": not known
    uint64_t address = 0;  // ELF address of the return address
  };

  std::string FunctionLine(const PlacementRequest& request, std::string& problem);
  std::string SiteLine(const PlacementRequest& request, std::string& problem);
  const profile::Profile* Load(const std::string& path, std::string& problem);
  // The call stack of the profile's program, which is the file `program` now.
  Stack Resolve(const profile::Profile& profile, const profile::Site& site,
                const std::string& program, std::string& problem);
  static Call CallAt(const profile::Profile& profile, uint32_t frame);
  std::string FrameText(const Call& call, std::string& problem);
  const ModuleFile* Module(const std::string& path);

  std::string program_;
  ProfileQueries queries_;
  std::map<std::string, profile::LoadResult> profiles_;
  std::map<std::string, std::unique_ptr<ModuleFile>> modules_;
};

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_PLACEMENT_LINES_H_
