#include "agent/profile/output_name.h"

#include <errno.h>

#include <charconv>

namespace memagent::profile {
namespace {

constexpr std::string_view kSuffix = ".memagent";

void AppendNumber(base::String& text, uint64_t number) {
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
  text.append(digits, static_cast<size_t>(end - digits));
}

void AppendWithoutSlashes(base::String& text, std::string_view value) {
  for (const char c : value) text.push_back(c == '/' ? '_' : c);
}

// Appends what %`letter` stands for; false when it is no known letter.
bool AppendValue(base::String& text, char letter, const OutputFacts& facts) {
  switch (letter) {
    case 'e':
      AppendWithoutSlashes(text, facts.program);
      return true;
    case 'p':
      AppendNumber(text, facts.pid);
      return true;
    case 'h':
      AppendWithoutSlashes(text, facts.host);
      return true;
    case 't':
      AppendNumber(text, facts.start_unix_seconds);
      return true;
    case 'r':
      AppendWithoutSlashes(text, facts.rank);
      return true;
    case '%':
      text.push_back('%');
      return true;
    default:
      return false;
  }
}

// Cause and remedy, to stand after "Cannot write the profile PATH: ".
std::string_view Explain(FileProblem problem) {
  switch (problem) {
    case FileProblem::kNone:
      return "";
    case FileProblem::kNoFolder:
      return "its folder does not exist; create it, or name another place with output=";
    case FileProblem::kNotAllowed:
      return "no permission to write there; name another place with output=";
    case FileProblem::kNotAFile:
      return "the name is taken by a folder or a device; give a file name with output=";
    case FileProblem::kNoFreeName:
      return "that name and its numbered variants all exist; remove old profiles";
    case FileProblem::kDiskFull:
      return "the disk is full or the quota used up; what was written before is good";
    case FileProblem::kSizeLimit:
      return "it reached the file size limit (ulimit -f); what was written before is good";
    case FileProblem::kTooBig:
      return "it reached 64 MiB, the most a profile may take; what was written before is good";
    case FileProblem::kReplaced:
      return "it was moved or replaced meanwhile; what has its name now is left alone";
    case FileProblem::kTooManyOpen:
      return "no file descriptor is free; raise ulimit -n";
    case FileProblem::kOther:
      return "the system refused it";
  }
  return "";
}

}  // namespace

base::String ExpandPattern(std::string_view pattern, const OutputFacts& facts) {
  base::String path;
  if (!pattern.starts_with('/')) {
    path.append(facts.working_directory);
    if (!path.ends_with('/')) path.push_back('/');
  }
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool escape = pattern[i] == '%' && i + 1 < pattern.size();
    if (escape && AppendValue(path, pattern[i + 1], facts)) {
      ++i;
    } else {
      path.push_back(pattern[i]);
    }
  }
  return path;
}

base::String NumberedName(std::string_view path, uint32_t number) {
  if (number == 0) return base::String(path);
  const bool has_suffix = path.ends_with(kSuffix);
  base::String name(path.substr(0, path.size() - (has_suffix ? kSuffix.size() : 0)));
  name.push_back('.');
  AppendNumber(name, number);
  if (has_suffix) name.append(kSuffix);
  return name;
}

base::String Describe(FileProblem problem, int error, std::string_view path) {
  if (problem == FileProblem::kNone) return base::String();
  base::String text("Cannot write the profile ");
  text.append(path);
  text.append(": ");
  text.append(Explain(problem));
  if (problem == FileProblem::kOther) {
    text.append(" (errno ");
    AppendNumber(text, static_cast<uint64_t>(error));
    text.push_back(')');
  }
  text.push_back('.');
  return text;
}

FileProblem ProblemOf(int error) {
  switch (error) {
    case 0:
      return FileProblem::kNone;
    case ENOENT:
    case ENOTDIR:
      return FileProblem::kNoFolder;
    case EACCES:
    case EPERM:
    case EROFS:
      return FileProblem::kNotAllowed;
    case EISDIR:
    case ELOOP:
    case ENXIO:
      return FileProblem::kNotAFile;
    case ENOSPC:
    case EDQUOT:
      return FileProblem::kDiskFull;
    case EFBIG:
      return FileProblem::kSizeLimit;
    case EMFILE:
    case ENFILE:
      return FileProblem::kTooManyOpen;
    default:
      return FileProblem::kOther;
  }
}

}  // namespace memagent::profile
