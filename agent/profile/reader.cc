#include "agent/profile/reader.h"

#include <google/protobuf/stubs/logging.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "agent/profile/reader_frames.h"
#include "agent/profile/reader_merge.h"

namespace memagent::profile {
namespace {

constexpr uint64_t kMagic = 0x544e4547414d454d;  // "MEMAGENT", see profile.proto
constexpr uint32_t kMajor = 1;
constexpr uint32_t kMinor = 0;

// Longest stack the reader walks; the agent keeps 128 frames.
constexpr size_t kMaxFrames = 1024;

LoadResult Refuse(std::string problem) {
  LoadResult result;
  result.problem = std::move(problem);
  return result;
}

std::string NotOurs(std::string_view name) {
  return std::string(name) + " is not a memagent profile.";
}

// Why the header forbids reading on; "" when it doesn't.
std::string CheckHeader(const v1::Header& header, std::string_view name) {
  if (header.magic() != kMagic) return NotOurs(name);
  if (header.format_major() == kMajor) return "";
  return std::string(name) + " has profile format " + std::to_string(header.format_major()) +
         ", this memagent reads format " + std::to_string(kMajor) +
         ": use the memagent that came with the agent that wrote it.";
}

std::string WhyNothing(std::string_view bytes, std::string_view name) {
  if (bytes.empty()) {
    return std::string(name) +
           " is empty: the program ended, or its disk was full, before the first record.";
  }
  if (!LooksLikeChunk(bytes)) return NotOurs(name);
  return std::string(name) + " ends or is damaged inside its first record: nothing can be read.";
}

std::string Count(uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Gaps in sequence numbers, beyond those that damaged chunks explain.
class SequenceCheck {
 public:
  void Saw(uint32_t seq) {
    if (seq > next_) gap_ += seq - next_;
    next_ = uint64_t{seq} + 1;
  }
  uint32_t Missing(uint32_t damaged) const {
    return static_cast<uint32_t>(gap_ > damaged ? gap_ - damaged : 0);
  }

 private:
  uint64_t next_ = 0;
  uint64_t gap_ = 0;
};

void AddWarnings(LoadResult& result, bool header_seen, bool second_profile, std::string_view name) {
  const LoadReport& load = result.profile->load;
  const auto warn = [&](std::string text) { result.warnings.push_back(std::move(text)); };
  const std::string file(name);
  if (!header_seen) {
    warn(file + " has lost its header: how it was made is unknown.");
  }
  if (load.truncated) {
    warn(file +
         " ends in the middle of a record: the program was killed or the disk full while it" +
         " was written. Everything before that is used.");
  }
  if (load.chunks_damaged != 0) {
    warn(Count(load.chunks_damaged, "record") + " of " + file +
         " could not be read (wrong checksum) and left out: numbers or names may be missing.");
  }
  if (load.chunks_missing != 0) {
    warn(Count(load.chunks_missing, "record") + " of " + file +
         " missing: numbers or names may be missing.");
  }
  if (load.strings_cut != 0) {
    warn(Count(load.strings_cut, "name") + " of " + file + " longer than 16 KiB: cut there.");
  }
  if (load.newer_minor) {
    warn(file + " was written by a newer agent: what this memagent does not know is left out.");
  }
  if (second_profile) {
    warn(file + " holds more than one profile: only the first is used.");
  }
  if (result.profile->checkpoint_time == 0) {
    warn(file + " holds no totals: the program ended before its first checkpoint.");
  }
}

struct File {
  explicit File(const std::string& path)
      : stream(path == "-" ? stdin : std::fopen(path.c_str(), "rbe")) {}
  ~File() {
    if (stream != nullptr && stream != stdin) std::fclose(stream);
  }
  std::FILE* stream;
};

// Everything up to one byte over the limit, so that the caller sees "too big"; nullopt: errno.
std::optional<std::string> ReadAll(std::FILE* stream) {
  std::string bytes;
  constexpr size_t kStep = size_t{1} << 18;
  while (bytes.size() <= kMaxFileBytes) {
    const size_t old = bytes.size();
    bytes.resize(old + kStep);
    const size_t got = std::fread(bytes.data() + old, 1, kStep, stream);
    bytes.resize(old + got);
    if (std::ferror(stream) != 0) return std::nullopt;
    if (got == 0) break;
  }
  return bytes;
}

std::string TooBig(std::string_view name) {
  return std::string(name) + " is bigger than any memagent profile (" +
         std::to_string(kMaxFileBytes >> 20) + " MiB).";
}

}  // namespace

Profile::Profile() : strings(1), modules(1), threads(1), frames(1), stacks(1) {}

std::string_view Profile::Text(uint32_t string_id) const {
  return string_id < strings.size() ? std::string_view(strings[string_id]) : std::string_view();
}

std::string_view Profile::FunctionOf(uint32_t frame_id) const {
  return frame_id < frames.size() ? Text(frames[frame_id].function) : std::string_view();
}

const v1::Module& Profile::ModuleOf(uint32_t frame_id) const {
  const uint32_t module = frame_id < frames.size() ? frames[frame_id].module : 0;
  return modules[module < modules.size() ? module : 0];
}

std::vector<uint32_t> Profile::FramesOf(uint32_t stack_id) const {
  std::vector<uint32_t> result;
  while (stack_id != 0 && stack_id < stacks.size() && result.size() < kMaxFrames) {
    result.push_back(stacks[stack_id].frame);
    stack_id = stacks[stack_id].parent;
  }
  return result;
}

LoadResult ParseProfile(std::string_view bytes, std::string_view name) {
  if (bytes.size() > kMaxFileBytes) return Refuse(TooBig(name));
  // What libprotobuf finds wrong is counted and reported here, not printed by it.
  const google::protobuf::LogSilencer silence;
  FrameWalk walk(bytes);
  Merger merger(bytes.size());
  SequenceCheck sequence;
  LoadReport load;
  load.bytes = bytes.size();
  bool header_seen = false, second_profile = false;
  while (const std::optional<std::string_view> encoded = walk.Next()) {
    v1::Chunk chunk;
    if (!chunk.ParseFromArray(encoded->data(), static_cast<int>(encoded->size()))) {
      ++load.chunks_damaged;
      continue;
    }
    if (chunk.has_header()) {
      second_profile = header_seen;
      if (second_profile) break;
      const std::string problem = CheckHeader(chunk.header(), name);
      if (!problem.empty()) return Refuse(problem);
      load.newer_minor = chunk.header().format_minor() > kMinor;
      header_seen = true;
    }
    ++load.chunks_read;
    sequence.Saw(chunk.seq());
    merger.Add(std::move(chunk));
  }
  if (load.chunks_read == 0) return Refuse(WhyNothing(bytes, name));
  load.chunks_damaged += walk.damaged();
  load.chunks_missing = sequence.Missing(load.chunks_damaged);
  load.truncated = walk.truncated();
  LoadResult result;
  result.profile = merger.Finish();
  load.bad_references = result.profile->load.bad_references;
  load.strings_cut = result.profile->load.strings_cut;
  result.profile->load = load;
  AddWarnings(result, header_seen, second_profile, name);
  return result;
}

LoadResult LoadProfile(const std::string& path) {
  const std::string name = path == "-" ? "standard input" : path;
  const File file(path);
  std::optional<std::string> bytes;
  if (file.stream != nullptr) bytes = ReadAll(file.stream);
  if (!bytes) return Refuse("Cannot read " + name + ": " + std::strerror(errno) + ".");
  return ParseProfile(*bytes, name);
}

}  // namespace memagent::profile
