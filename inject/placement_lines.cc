#include "inject/placement_lines.h"

#include <algorithm>
#include <cstdio>

namespace memagent::inject {
namespace {

constexpr size_t kNamesShown = 4;
constexpr const char* kAnyFrame = "*";

std::string RangesText(const std::string& module, const std::vector<os::ElfRange>& ranges) {
  std::string text = module;
  char separator = ':';
  for (const os::ElfRange& range : ranges) {
    char numbers[40];
    snprintf(numbers, sizeof(numbers), "%c%llx-%llx", separator,
             static_cast<unsigned long long>(range.start),
             static_cast<unsigned long long>(range.end));
    text += numbers;
    separator = ',';
  }
  return text;
}

// Names come from files: they must not break the line into other fields or lines.
std::string OneField(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return text.empty() ? "?" : text;
}

std::string Line(const PlacementRequest& request, const std::string& meaning,
                 std::string_view match, const std::string& frames) {
  return OneField(request.text) + "\t" + OneField(meaning) + "\t" + request.placement + "\t" +
         std::string(match) + frames;
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string PlacementLines::LineFor(const PlacementRequest& request, std::string& problem) {
  const std::string line =
      request.site.empty() ? FunctionLine(request, problem) : SiteLine(request, problem);
  if (line.empty()) problem = "--place '" + request.text + "': " + problem + ".";
  return line;
}

const ModuleFile* PlacementLines::Module(const std::string& path) {
  const auto [place, fresh] = modules_.try_emplace(path);
  if (fresh) place->second = ModuleFile::Open(path);
  return place->second.get();
}

std::string PlacementLines::FunctionLine(const PlacementRequest& request, std::string& problem) {
  const std::string& path = request.file.empty() ? program_ : request.file;
  const ModuleFile* module = Module(path);
  if (module == nullptr) {
    problem = "'" + path + "' is no program or library that can be read";
    return "";
  }
  const auto ranges = module->FunctionsNamed(request.function);
  if (ranges.empty()) {
    problem = "'" + path + "' has no function " + request.function +
              ": it may be inlined or stripped; one of a library is fn:NAME@LIBRARY";
    return "";
  }
  return Line(request, "what " + request.function + " of " + BaseName(path) + " allocates", "any",
              "\t" + RangesText(module->key(), ranges));
}

const profile::Profile* PlacementLines::Load(const std::string& path, std::string& problem) {
  const auto [place, fresh] = profiles_.try_emplace(path);
  if (fresh) place->second = profile::LoadProfile(path);
  if (place->second.profile) return &*place->second.profile;
  problem = place->second.problem;
  while (problem.ends_with('.')) problem.pop_back();
  return nullptr;
}

// A program that was built anew may have another name or place than in the profile, and the command
// that is run may be another one that only starts it.
std::string PlacementLines::SiteLine(const PlacementRequest& request, std::string& problem) {
  const profile::Profile* profile = Load(request.file, problem);
  if (profile == nullptr) return "";
  const uint32_t id =
      queries_.site_number == nullptr ? 0 : queries_.site_number(*profile, request.site);
  const auto site = profile->sites.find(id);
  if (id == 0 || site == profile->sites.end()) {
    problem = "the profile has no site " + request.site;
    return "";
  }
  const memagent::v1::RegionKind kind = site->second.site.kind();
  if (site->second.site.stack() == 0 ||
      (kind != memagent::v1::HEAP && kind != memagent::v1::MMAP)) {
    problem = request.site +
              " is nothing that the program allocates: only blocks of the heap and "
              "of mmap can be placed";
    return "";
  }
  Stack stack = Resolve(*profile, site->second, program_, problem);
  if (stack.frames.empty()) {
    std::string ignored;
    stack = Resolve(*profile, site->second, profile->header.process().executable(), ignored);
  }
  if (stack.frames.empty()) return "";
  return Line(request, stack.meaning, site->second.site.stack_cut() ? "inner" : "stack",
              stack.frames);
}

PlacementLines::Call PlacementLines::CallAt(const profile::Profile& profile, uint32_t frame) {
  const auto& module = profile.ModuleOf(frame);
  return {std::string(profile.Text(module.path())), module.build_id(),
          std::string(profile.FunctionOf(frame)), profile.frames[frame].address};
}

PlacementLines::Stack PlacementLines::Resolve(const profile::Profile& profile,
                                              const profile::Site& site, const std::string& program,
                                              std::string& problem) {
  Stack stack;
  size_t names = 0;
  bool any_known = false;
  for (const uint32_t frame : profile.FramesOf(site.site.stack())) {
    Call call = CallAt(profile, frame);
    if (call.path == profile.header.process().executable()) call.path = program;
    const std::string text = FrameText(call, problem);
    if (text.empty()) return {};
    any_known = any_known || text != kAnyFrame;
    stack.frames += "\t" + text;
    if (!call.function.empty() && ++names <= kNamesShown) {
      stack.meaning += (names > 1 ? " < " : "") + PlainName(call.function);
    }
  }
  if (!any_known) {
    problem = "nothing of its call stack has a name or is in a file of the same build";
    return {};
  }
  return stack;
}

// The same build: the very call. Another one: any call in the function of that name. Where neither
// is known, and of code that is in no file, any.
std::string PlacementLines::FrameText(const Call& call, std::string& problem) {
  if (call.path.empty() || call.path.front() == '[') return kAnyFrame;
  const ModuleFile* module = Module(call.path);
  if (module == nullptr) {
    problem = "its call stack goes through '" + call.path + "', which can't be read";
    return "";
  }
  if (!call.build_id.empty() && call.build_id == module->build_id()) {
    return RangesText(module->key(), {{call.address - 1, call.address}});
  }
  if (call.function.empty()) return kAnyFrame;
  const auto ranges = module->FunctionsNamed(call.function);
  if (ranges.empty()) {
    problem = "its call stack goes through " + PlainName(call.function) + ", which '" + call.path +
              "' no longer has";
    return "";
  }
  return RangesText(module->key(), ranges);
}

}  // namespace memagent::inject
