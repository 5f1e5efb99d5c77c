// memagent dump: the profile's records as protobuf text, for looking into the format.
#include <google/protobuf/text_format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "agent/profile/profile.pb.h"
#include "viewer/command_line.h"
#include "viewer/commands.h"
#include "viewer/concat.h"

namespace memagent::viewer {
namespace {

// Up to one byte more than the reader takes, so that "too big" can be told.
std::optional<std::string> ReadBytes(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return std::nullopt;
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string bytes;
  char buffer[65536];
  while (in.read(buffer, sizeof buffer), in.gcount() > 0) {
    bytes.append(buffer, static_cast<size_t>(in.gcount()));
    if (bytes.size() > profile::kMaxFileBytes) break;
  }
  return in.bad() ? std::nullopt : std::optional<std::string>(std::move(bytes));
}

}  // namespace

int DumpCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err) {
  std::string path;
  CLI::App app("The records of a profile as protobuf text.", "memagent dump");
  app.add_option("FILE", path, "Profile; - is stdin")->required();
  if (const auto code = ParseWords(app, std::move(args), out, err)) return *code;
  const std::optional<std::string> bytes = ReadBytes(path);
  if (!bytes) {
    Complain(err, Concat("cannot read ", path, ": check the name and your permissions."));
    return kExitUsage;
  }
  // The reader judges the file first: its sentences name what is wrong, and whether it is ours.
  const profile::LoadResult checked = profile::ParseProfile(*bytes, path);
  for (const std::string& warning : checked.warnings) Complain(err, warning);
  if (!checked.profile) {
    Complain(err, checked.problem);
    return kExitUsage;
  }
  memagent::v1::ProfileFile file;
  file.ParsePartialFromString(*bytes);  // of a truncated file, all whole chunks before the cut
  std::string text;
  google::protobuf::TextFormat::PrintToString(file, &text);
  out << text;
  return kExitOk;
}

}  // namespace memagent::viewer
