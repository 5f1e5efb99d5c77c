// Writes the records of a profile as chunks: plain data (model.h) in, encoded chunks to a Sink.
//
// Every function returns false when the sink refused a chunk; the writer stays usable and the
// caller may ignore it (a full disk ends the writing, never the program). Strings are interned here
// and reach the file before the record that uses them. Tables bigger than a chunk are split.
//
// Order: WriteHeader first; a record before what refers to it (stacks before sites, threads before
// totals). Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_PROFILE_WRITER_H_
#define MEMAGENT_AGENT_PROFILE_WRITER_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "agent/profile/chunk_writer.h"
#include "agent/profile/model.h"
#include "agent/profile/string_table.h"

namespace memagent::profile {

// "MEMAGENT" read as a little-endian number, and the version rules of FORMAT.md.
inline constexpr uint64_t kFormatMagic = 0x544e4547414d454d;
inline constexpr uint32_t kFormatMajor = 1;
inline constexpr uint32_t kFormatMinor = 0;

class ProfileWriter {
 public:
  explicit ProfileWriter(Sink& sink) : chunks_(sink) {}

  bool WriteHeader(const HeaderData& header);
  // `first` is the id of the span's first record; ids go up by one.
  bool WriteModules(uint32_t first, std::span<const ModuleData> modules);
  bool WriteModuleUnloads(std::span<const ModuleUnloadData> unloads);
  bool WriteThreads(uint32_t first, std::span<const ThreadData> threads);
  bool WriteFrames(uint32_t first, std::span<const FrameData> frames);
  bool WriteStacks(uint32_t first, std::span<const StackData> stacks);
  bool WriteSites(std::span<const SiteData> sites);
  bool WriteRawSamples(std::span<const RawSampleData> samples);
  bool WriteEvents(std::span<const EventData> events);
  bool WriteSymbols(std::span<const SymbolData> symbols);
  bool WriteFooter(const FooterData& footer);

  // One checkpoint: Begin, then threads and sites that changed in any order, then End. Nothing else
  // may be written in between. It counts for a reader only when its last chunk is whole.
  void BeginTotals(Nanos time, bool final);
  bool AddThreadTotal(const ThreadTotalData& total);
  bool AddSiteTotal(const SiteTotalData& total);
  bool AddAppliedPlacement(const AppliedPlacementData& placement);
  bool EndTotals(const AccountingData& accounting, const OwnCostData& own_cost,
                 const EconomyData& economy = {}, std::span<const EventTotalData> events = {},
                 std::span<const CodeFateData> fates = {}, const PlacementData& placement = {});

  // The sink has begun a new file: write everything again, the header first. Interned strings
  // keep their ids.
  void StartOver();

  uint32_t chunks() const { return chunks_.chunks(); }

  // A body at least this big is committed; one record more may follow it. Small enough that a kill
  // in the middle of a write loses little, big enough that framing (about 15 bytes) is nothing.
  static constexpr size_t kChunkBytes = size_t{128} << 10;

 private:
  bool Full() const { return chunks_.body_bytes() >= kChunkBytes; }
  // Writes the strings interned since the last call. Only while no body is under construction.
  bool FlushStrings();
  bool CommitTotalsPart(bool more);
  void StartTotalsPart();

  ChunkWriter chunks_;
  StringTable strings_;
  uint32_t strings_written_ = 0;
  Nanos totals_time_ = 0;
  bool totals_final_ = false;
  bool totals_stored_ = true;
};

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_WRITER_H_
