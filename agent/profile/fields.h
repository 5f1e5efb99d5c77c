// Field numbers of profile.proto, for the encoder. Enumerators count on by one from the last value
// given; the round-trip tests parse what is written with them by the generated classes.
#ifndef MEMAGENT_AGENT_PROFILE_FIELDS_H_
#define MEMAGENT_AGENT_PROFILE_FIELDS_H_

#include <cstdint>

#include "agent/profile/fields_placement.h"

namespace memagent::profile::field {

struct Header {
  enum : uint32_t {
    kMagic = 1,
    kFormatMajor,
    kFormatMinor,
    kAgentVersion,
    kStartUnixNanos,
    kStartMonotonicNanos,
    kProcess,
    kMachine,
    kKernel,
    kEngines,
    kOptions,
    kImportedFrom,
  };
};
struct Process {
  enum : uint32_t {
    kPid = 1,
    kParentPid,
    kExecutable,
    kArguments,
    kWorkingDirectory,
    kHost,
    kForkedWithoutExec,
  };
};
struct Machine {
  enum : uint32_t {
    kArchitecture = 1,
    kCpuModel,
    kCpuFamily,
    kCpuModelNumber,
    kCpuStepping,
    kMicrocode,
    kHypervisor,
    kPageBytes,
    kCacheLineBytes,
    kNodes,
    kDistances,
    kCpuNodes,
  };
};
struct Node {
  enum : uint32_t { kId = 1, kCpuList, kMemoryTotalBytes };
};
struct Kernel {
  enum : uint32_t {
    kRelease = 1,
    kPerfEventParanoid,
    kMaxSampleRate,
    kMlockKib,
    kTransparentHugepage,
    kNumaBalancing,
  };
};
struct Engine {
  enum : uint32_t {
    kKind = 1,
    kInUse,
    kEvent,
    kPeriod,
    kPeriodUnit,
    kRateHz,
    kExactAttr,
    kKnowsLatency,
    kKnowsDataSource,
    kKnowsLoadsAndStores,
    kRefused,
    kRefusedErrno,
    kRemedy,
    kSkidTicksOnNext,
    kSkidTicksTotal,
    kFaultPeriod,
  };
};
struct StringTable {
  enum : uint32_t { kText = 1, kFirst };
};
struct Modules {
  enum : uint32_t { kModule = 1, kFirst, kUnload };
};
struct Module {
  enum : uint32_t { kPath = 1, kBuildId, kStart, kEnd, kLoadBias, kLoaded, kUnloaded };
};
struct ModuleUnload {
  enum : uint32_t { kModule = 1, kUnloaded };
};
struct Threads {
  enum : uint32_t { kThread = 1, kFirst };
};
struct Thread {
  enum : uint32_t { kTid = 1, kName, kStarted, kMain };
};
struct CallStacks {
  enum : uint32_t {
    kFrameModule = 1,
    kFrameAddress,
    kStackParent,
    kStackFrame,
    kFirstFrame,
    kFirstStack,
    kFrameIsInstruction,
  };
};
struct Sites {
  enum : uint32_t { kSite = 1 };
};
struct Site {
  enum : uint32_t { kId = 1, kKind, kStack, kName, kModule, kAddress, kSizeBytes, kStackCut };
};
struct Totals {
  enum : uint32_t {
    kTime = 1,
    kFinal,
    kAccounting,
    kThread,
    kSite,
    kOwnCost,
    kMore,
    kEconomy,
    kEvent,
    kFate,
    kPlacementCall,
    kPlacementCallsLeftOut,
    kNode,
    kNumaPagesMigrated,
    kNumaHintFaults,
    kAppliedPlacement,
  };
};
struct Accounting {
  enum : uint32_t {
    kSamplesSeen = 1,
    kAttributed,
    kUnattributed,
    kDropped,
    kEvidenceExact,
    kEvidenceApproximate,
    kEvidencePcOnly,
    kEvidenceNone,
    kFaultsSeen,
    kFaultsAttributed,
    kFaultsUnattributed,
    kFaultsDropped,
    kUntracked,
  };
};
struct ReasonCount {
  enum : uint32_t { kReason = 1, kCount };
};
struct ThreadTotal {
  enum : uint32_t {
    kThread = 1,
    kAccounting,
    kTimeEnabledNanos,
    kTimeRunningNanos,
    kThrottled,
    kSamplesByNode,
    kEnded,
    kName,
    kUnobservedNanos,
    kNotSampled,
    kNodeChanges,
  };
};
struct SiteTotal {
  enum : uint32_t {
    kSite = 1,
    kAllocations,
    kFrees,
    kBytesAllocated,
    kBytesFreed,
    kBytesPeak,
    kSamples,
    kEvidenceExact,
    kEvidenceApproximate,
    kEvidencePcOnly,
    kCellThread,
    kCellCpuNode,
    kCellMemoryNode,
    kCellSamples,
    kCodeFrame,
    kCodeSamples,
    kCodeRemoteSamples,
    kFirstTouch,
    kPageNode,
    kPageCount,
    kPagesNotPresent,
    kInheritedBlocks,
    kInheritedBytes,
    kSampled,
    kKind,
    kLatencyFloor,
    kLatencySamples,
    kCellLatencySamples,
    kCellLatencyCycles,
    kCodeLatencySamples,
    kCodeLatencyCycles,
    kCellStores,
    kCellPositions,
    kStripPosition,
    kStripCpuNode,
    kStripMemoryNode,
    kStripSamples,
    kSharing,
    kPagesMoved,
    kPolicy,
    kHugePages,
    kHugePagesAsked,
    kStripSamplesLeftOut,
    kTouchedPagesTold,
    kTouchedPagesHuge,
  };
};
struct CodeFate {
  enum : uint32_t {
    kFrame = 1,
    kSamples,
    kRetired,
    kKilledBeforeMap,
    kKilledAfterMap,
    kTrap,
    kTrapped,
    kIcacheMisses,
    kStalled,
    kInWindow,
  };
};
struct AppliedPlacement {
  enum : uint32_t {
    kRule = 1,
    kSites,
    kBlocks,
    kBytes,
    kTooSmallBlocks,
    kRefusedCalls,
    kRefusedErrno,
    kSite,
    kOverLimitBlocks,
    kMovedBlocks,
    kFreedBlocks,
    kSitesMatched,
    kUncutMappings,
    kOverruledCalls,
  };
};
struct EventTotal {
  enum : uint32_t {
    kEvent = 1,
    kExactAttr,
    kLoss,
    kThreads,
    kEnabledNanos,
    kRunningNanos,
    kOccurrences,
    kSamples,
    kLost,
    kThrottled,
  };
};
struct AccessKind {
  enum : uint32_t {
    kOp = 1,
    kLevel,
    kLocality,
    kSnoop,
    kTlb,
    kLocked,
    kBlockedData,
    kBlockedAddress,
    kRegion,
    kPage,
    kSamples,
    kLatencySamples,
    kLatencyCycles,
    kPageBytes,
    kInstructionSamples,
    kInstructionCycles,
    kTlbRefillSamples,
    kTlbRefillCycles,
  };
};
struct SampledCounts {
  enum : uint32_t {
    kPickedAllocations = 1,
    kPickedFrees,
    kAllocationsVariance,
    kFreesVariance,
    kBytesAllocatedVariance,
    kBytesFreedVariance,
    kBytesPeakVariance,
    kBlocksLiveVariance,
    kBytesLiveVariance,
  };
};
struct Economy {
  enum : uint32_t {
    kSampleBytes = 1,
    kLargestSampleBytes,
    kBudgetShare,
    kOverheadShare,
    kBudgetSteps,
    kPeriodFactor,
    kLargestPeriodFactor,
    kSamplesTaken,
    kSampleWeightSquares,
  };
};
struct FirstTouch {
  enum : uint32_t { kThread = 1, kCpuNode, kFrame, kPages, kFaults, kPositions };
};
struct OwnCost {
  enum : uint32_t {
    kDrainCpuNanos = 1,
    kBytesMapped,
    kAllocationsTracked,
    kLiveBlocks,
    kStacks,
    kStackCacheHits,
    kStackCacheMisses,
    kCheckpoints,
    kCheckpointNanos,
    kPageNodeRung,
    kClockErrorNanos,
    kProfileBytes,
    kProfileRewrites,
    kProcessCpuNanos,
    kEstimatedNanos,
    kEstimatedErrorNanos,
    kPart,
    kHeld,
  };
};
struct CostPart {
  enum : uint32_t {
    kWhat = 1,
    kInside,
    kBasis,
    kCount,
    kSamples,
    kMeanPicos,
    kTotalNanos,
    kErrorNanos,
  };
};
struct HeldMemory {
  enum : uint32_t { kWhat = 1, kMappedBytes, kResidentBytes };
};
struct RawSamples {
  enum : uint32_t {
    kTime = 1,
    kIp,
    kAddress,
    kThread,
    kCpu,
    kSite,
    kEvidence,
    kMemoryNode,
    kContinued,
    kLatency,
    kDataSrc,
  };
};
struct Events {
  enum : uint32_t { kEvent = 1 };
};
struct Event {
  enum : uint32_t { kTime = 1, kSeverity, kCode, kText };
};
struct Symbols {
  enum : uint32_t { kFrame = 1, kFunction, kFunctionOffset };
};
struct Footer {
  enum : uint32_t { kEnded = 1, kHow, kChunks };
};

}  // namespace memagent::profile::field

#endif  // MEMAGENT_AGENT_PROFILE_FIELDS_H_
