#include "viewer/quality.h"

#include <algorithm>
#include <utility>

#include "viewer/concat.h"
#include "viewer/text.h"

namespace memagent::viewer {
namespace {

using Word = Quality::Word;

// Where a share of something bad starts to matter. Chosen so that "good" keeps what is lost below
// the interval of a typical headline share (10k samples: +-1 %).
constexpr double kFairLoss = 0.01;
constexpr double kPoorLoss = 0.10;
// What the hooks take shifts the program's own proportions as well.
constexpr double kFairInAgent = 0.10;
constexpr double kPoorInAgent = 0.33;
constexpr double kFairUnattributed = 0.10;
constexpr double kPoorUnattributed = 0.33;
constexpr double kFairMultiplexed = 0.90;  // of the enabled time
// +-5 points for a share of one half needs 385 samples, +-10 points 97.
constexpr uint64_t kFairSamples = 385;
constexpr uint64_t kPoorSamples = 97;

class Judge {
 public:
  explicit Judge(const View& view) : view_(view) {}

  Quality Run() {
    JudgeAmount();
    JudgeLosses();
    JudgeEvents();
    JudgeThreads();
    JudgeFile();
    return std::move(quality_);
  }

 private:
  void Complain(Word word, std::string reason) {
    quality_.word = std::max(quality_.word, word);
    quality_.reasons.push_back(std::move(reason));
  }

  // Complains when `share` reaches a limit.
  void Limit(double share, double fair, double poor, std::string_view text) {
    if (share < fair) return;
    Complain(share < poor ? Word::kFair : Word::kPoor, Concat(Percent(share), " ", text));
  }

  void JudgeAmount() {
    const uint64_t samples = view_.tally.MemorySamples();
    if (view_.engine == "none") {
      return Complain(Word::kPoor,
                      view_.IsImport()
                          ? "No memory accesses were recorded."
                          : "No engine sampled memory accesses: memagent check says why.");
    }
    if (samples >= kFairSamples) return;
    Complain(samples < kPoorSamples ? Word::kPoor : Word::kFair,
             Concat("Only ", Plural(samples, "memory sample"),
                    view_.IsImport() ? ": record longer, or with a smaller period."
                                     : ": run longer or raise rate=."));
  }

  void JudgeLosses() {
    const Tally& tally = view_.tally;
    Limit(Share(tally.Lost(), tally.seen), kFairLoss, kPoorLoss,
          view_.IsImport() ? "of the samples were lost: record with -m 4M or a larger period."
                           : "of the samples were lost: raise ring_pages= or lower rate=.");
    Limit(Share(tally.InAgent(), tally.seen), kFairInAgent, kPoorInAgent,
          "of the samples fell into memagent's own hooks: they are its cost, and in no share.");
    Limit(Share(tally.UnattributedMemory(), tally.MemorySamples()), kFairUnattributed,
          kPoorUnattributed, "of the memory samples could not be attributed.");
    if (!tally.Balances()) {
      Complain(Word::kPoor, "The sample accounting does not balance: the file is damaged.");
    }
  }

  // On machines with several kinds of cores, one PMU's event runs while another's can't.
  double ShareRun(const memagent::v1::EventTotal& event) const {
    const std::string_view own = event.event();
    uint64_t running = 0;
    for (const auto& other : view_.profile.event_totals) {
      const std::string_view name = other.event();
      const bool twin = own.starts_with("cpu_") && name.starts_with("cpu_") &&
                        name.substr(name.find('/') + 1) == own.substr(own.find('/') + 1);
      if ((twin || name == own) &&
          __builtin_add_overflow(running, other.running_nanos(), &running)) {
        return 1;
      }
    }
    return Share(running, event.enabled_nanos());
  }

  void JudgeEvents() {
    for (const auto& event : view_.profile.event_totals) {
      const std::string name = Printable(event.event(), Charset::kAscii);
      if (IsSilent(event)) {
        Complain(Word::kPoor, Concat("The event ", name,
                                     " was open and never ran, so it measured nothing: stop other "
                                     "profilers and the NMI watchdog (kernel.nmi_watchdog=0)."));
      } else if (event.enabled_nanos() > 0 && ShareRun(event) < kFairMultiplexed) {
        Complain(Word::kFair, Concat("The event ", name, " ran only ", Percent(ShareRun(event)),
                                     " of the time, its samples count for more: stop other "
                                     "profilers."));
      }
      if (event.throttled() > 0) {
        Complain(Word::kFair,
                 Concat("The kernel stopped ", name, " ", Plural(event.throttled(), "time"),
                        " until the next tick, since it sampled too fast",
                        view_.IsImport() ? ": use a larger period." : ": lower rate="));
      }
    }
  }

  void JudgeThreads() {
    uint64_t enabled = 0;
    uint64_t running = 0;
    uint64_t not_sampled = 0;
    for (const ThreadView& thread : view_.threads) {
      enabled += thread.time_enabled_nanos;
      running += thread.time_running_nanos;
      if (!thread.not_sampled.empty()) ++not_sampled;
    }
    // Profiles of newer agents tell it event by event.
    if (view_.profile.event_totals.empty() && enabled > 0 &&
        Share(running, enabled) < kFairMultiplexed) {
      Complain(Word::kFair, Concat("The events ran only ", Percent(Share(running, enabled)),
                                   " of the time: stop other profilers."));
    }
    if (not_sampled > 0) {
      Complain(Word::kFair,
               Concat(Plural(not_sampled, "thread"), " could not be sampled: see memagent info."));
    }
  }

  void JudgeFile() {
    const profile::LoadReport& load = view_.profile.load;
    if (load.chunks_damaged > 0 || load.chunks_missing > 0) {
      Complain(Word::kPoor, Concat(Plural(load.chunks_damaged + load.chunks_missing, "part"),
                                   " of the file are damaged or missing."));
    }
    if (view_.cut_short) {
      Complain(Word::kPoor, "The file describes more than fits into 512 MiB: rows are left out.");
    }
    if (!view_.profile.footer) {
      Complain(Word::kFair, Concat("The program was killed or still runs: this is its state after ",
                                   HumanDuration(view_.wall_nanos), "."));
    }
  }

  const View& view_;
  Quality quality_;
};

}  // namespace

Quality JudgeQuality(const View& view) { return Judge(view).Run(); }

std::string_view QualityWord(Word word) {
  switch (word) {
    case Word::kGood:
      return "good";
    case Word::kFair:
      return "fair";
    case Word::kPoor:
      break;
  }
  return "poor";
}

}  // namespace memagent::viewer
