// The drain thread's work: the profile on disk, and who is told of it.
#include <fcntl.h>

#include <charconv>

#include "agent/base/arena.h"
#include "agent/base/syscall.h"
#include "agent/profile/output_name.h"
#include "agent/runtime/drain_loop.h"
#include "agent/runtime/mpi_rank.h"

namespace memagent::runtime {
namespace {

std::string_view FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

base::String DrainLoop::OutputPath() const {
  profile::OutputFacts facts;
  const std::string_view pattern = options_.output.view();
  base::String rank;
  if (pattern.find("%r") != std::string_view::npos) rank = MpiRank();
  facts.program = FileName(late_.process.executable);
  facts.pid = static_cast<uint32_t>(control_.pid);
  facts.host = late_.machine.host_name;
  facts.start_unix_seconds = started_unix_ / 1'000'000'000;
  facts.rank = rank;
  facts.working_directory = late_.process.working_directory;
  return profile::ExpandPattern(pattern, facts);
}

bool DrainLoop::WriteHeaderTo(profile::ProfileWriter& writer) {
  return WriteHeader(writer, control_, early_, late_, selection_, observation_.engine(), own_cost_.skid(),
                     started_, started_unix_);
}

profile::OwnCostData DrainLoop::OwnCost() const {
  profile::OwnCostData own;
  own.bytes_mapped = base::BytesMapped();
  own.page_node_rung =
      late_.topology.nodes.size() == 1 ? "none" : os::RungName(pipeline_.page_nodes().rung());
  own.clock_error_nanos = clock_.ErrorBoundNanos();
  return own;
}

void DrainLoop::WriteCheckpoint(const char* how) {
  if (output_failed_) return;
  reserve_.Release();
  attributor_.Refresh();
  const auto header = [this](profile::ProfileWriter& writer) { return WriteHeaderTo(writer); };
  if (!checkpoint_.Begin(OutputPath(), header)) {
    output_failed_ = true;
    AppendRunReport(checkpoint_.problem());
    return;
  }
  AppendRunReport({});
  const capture::EnginePlan* plan = observation_.engine().plan;
  const bool changed = header_plan_ != nullptr && plan != header_plan_;
  if (changed || (how == nullptr && checkpoint_.IsOvergrown())) checkpoint_.Rewrite(header);
  header_plan_ = plan;
  checkpoint_.Write(how, OwnCost(), economy_.Data());
  reserve_.Take();
}

// `memagent run` learns of the profile through a file it named; a person, with verbose=1 or when
// there is no profile, on stderr, where the host thread says it: this thread has no stderr.
void DrainLoop::Announce(const char* how) {
  const base::String problem = checkpoint_.problem();
  base::String line;
  const bool silent = checkpoint_.stopped_by_limit() || control_.settings->output_problem_said;
  if (!problem.empty() && (options_.verbose || !silent)) {
    line = problem;
  } else if (options_.verbose && problem.empty()) {
    line.append("profile written to ").append(checkpoint_.path()).append(" (").append(how);
    line.append(").");
  }
  control_.SetAnnouncement(!line.empty() && MaySpeak(*control_.settings) ? line : base::String());
}

void DrainLoop::AppendRunReport(std::string_view problem) {
  const std::string_view report = control_.settings->run_report.view();
  if (report.empty() || std::exchange(reported_, true)) return;
  base::String line(problem.empty() ? "profile\t" : "problem\t");
  char digits[16];
  line.append(digits, std::to_chars(digits, std::end(digits), control_.pid).ptr);
  line.append("\t").append(problem.empty() ? checkpoint_.path() : problem).push_back('\n');
  const os::UniqueFd file(base::Syscall(SYS_openat, AT_FDCWD, report.data(),
                                        O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0));
  if (file.valid()) base::Syscall(SYS_write, file.get(), line.data(), line.size());
}

}  // namespace memagent::runtime
