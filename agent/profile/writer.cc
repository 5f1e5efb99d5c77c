#include "agent/profile/writer.h"

#include <algorithm>

#include "agent/profile/encode.h"
#include "agent/profile/encode_fields.h"
#include "agent/profile/fields.h"

namespace memagent::profile {
namespace {

// Rows of a columnar table in one chunk: at most 40 bytes each, so about a full chunk.
constexpr size_t kRowsPerChunk = 4096;

// Writes `records` as repeated messages in as many chunks as needed. `encode(message, record)`
// fills one message; with `first_field`, each chunk carries the id of its first record.
template <typename Record, typename Encode>
bool WriteTable(ChunkWriter& chunks, ChunkBody kind, uint32_t record_field, uint32_t first_field,
                uint32_t first, std::span<const Record> records, Encode encode) {
  bool stored = true;
  size_t next = 0;
  while (next < records.size()) {
    MessageWriter body(chunks.body());
    if (first_field != 0) PutUint(body, first_field, first + next);
    do {
      MessageWriter message(body, record_field);
      encode(message, records[next++]);
    } while (next < records.size() && chunks.body_bytes() < ProfileWriter::kChunkBytes);
    stored &= chunks.Commit(kind);
  }
  return stored;
}

// Calls write(start, rows) for every kRowsPerChunk records and commits after each.
template <typename Record, typename Write>
bool WriteColumns(ChunkWriter& chunks, ChunkBody kind, std::span<const Record> records,
                  Write write) {
  bool stored = true;
  for (size_t start = 0; start < records.size(); start += kRowsPerChunk) {
    const size_t count = std::min(kRowsPerChunk, records.size() - start);
    MessageWriter body(chunks.body());
    write(body, start, records.subspan(start, count));
    stored &= chunks.Commit(kind);
  }
  return stored;
}

}  // namespace

bool ProfileWriter::FlushStrings() {
  bool stored = true;
  while (strings_written_ < strings_.size()) {
    MessageWriter body(chunks_.body());
    PutUint(body, field::StringTable::kFirst, strings_written_ + 1);
    while (strings_written_ < strings_.size() && !Full()) {
      const std::string_view text = strings_.Text(++strings_written_);
      body.add_bytes(field::StringTable::kText, text.data(), text.size());
    }
    stored &= chunks_.Commit(ChunkBody::kStrings);
  }
  return stored;
}

bool ProfileWriter::WriteHeader(const HeaderData& header) {
  MessageWriter body(chunks_.body());
  EncodeHeader(body, header);
  return chunks_.Commit(ChunkBody::kHeader);
}

bool ProfileWriter::WriteModules(uint32_t first, std::span<const ModuleData> modules) {
  for (const ModuleData& module : modules) strings_.Intern(module.path);
  const bool stored = FlushStrings();
  const auto encode = [this](MessageWriter& message, const ModuleData& module) {
    EncodeModule(message, module, strings_.Intern(module.path));
  };
  return WriteTable(chunks_, ChunkBody::kModules, field::Modules::kModule, field::Modules::kFirst,
                    first, modules, encode) &&
         stored;
}

bool ProfileWriter::WriteModuleUnloads(std::span<const ModuleUnloadData> unloads) {
  const auto encode = [](MessageWriter& message, const ModuleUnloadData& unload) {
    PutUint(message, field::ModuleUnload::kModule, unload.module);
    PutFixed(message, field::ModuleUnload::kUnloaded, unload.unloaded);
  };
  return WriteTable(chunks_, ChunkBody::kModules, field::Modules::kUnload, 0, 0, unloads, encode);
}

bool ProfileWriter::WriteThreads(uint32_t first, std::span<const ThreadData> threads) {
  for (const ThreadData& thread : threads) strings_.Intern(thread.name);
  const bool stored = FlushStrings();
  const auto encode = [this](MessageWriter& message, const ThreadData& thread) {
    EncodeThread(message, thread, strings_.Intern(thread.name));
  };
  return WriteTable(chunks_, ChunkBody::kThreads, field::Threads::kThread, field::Threads::kFirst,
                    first, threads, encode) &&
         stored;
}

bool ProfileWriter::WriteFrames(uint32_t first, std::span<const FrameData> frames) {
  const auto write = [first](MessageWriter& body, size_t start, std::span<const FrameData> rows) {
    EncodeFrames(body, first + static_cast<uint32_t>(start), rows);
  };
  return WriteColumns(chunks_, ChunkBody::kCallStacks, frames, write);
}

bool ProfileWriter::WriteStacks(uint32_t first, std::span<const StackData> stacks) {
  const auto write = [first](MessageWriter& body, size_t start, std::span<const StackData> rows) {
    EncodeStacks(body, first + static_cast<uint32_t>(start), rows);
  };
  return WriteColumns(chunks_, ChunkBody::kCallStacks, stacks, write);
}

bool ProfileWriter::WriteSites(std::span<const SiteData> sites) {
  for (const SiteData& site : sites) strings_.Intern(site.name);
  const bool stored = FlushStrings();
  const auto encode = [this](MessageWriter& message, const SiteData& site) {
    EncodeSite(message, site, strings_.Intern(site.name));
  };
  return WriteTable(chunks_, ChunkBody::kSites, field::Sites::kSite, 0, 0, sites, encode) && stored;
}

bool ProfileWriter::WriteRawSamples(std::span<const RawSampleData> samples) {
  const auto write = [](MessageWriter& body, size_t start, std::span<const RawSampleData> rows) {
    EncodeRawSamples(body, rows, start != 0);
  };
  return WriteColumns(chunks_, ChunkBody::kRawSamples, samples, write);
}

bool ProfileWriter::WriteEvents(std::span<const EventData> events) {
  return WriteTable(chunks_, ChunkBody::kEvents, field::Events::kEvent, 0, 0, events, EncodeEvent);
}

bool ProfileWriter::WriteSymbols(std::span<const SymbolData> symbols) {
  base::Vector<uint32_t> functions;
  functions.reserve(symbols.size());
  for (const SymbolData& symbol : symbols) functions.push_back(strings_.Intern(symbol.function));
  const bool stored = FlushStrings();
  const std::span<const uint32_t> ids(functions.data(), functions.size());
  const auto write = [ids](MessageWriter& body, size_t start, std::span<const SymbolData> rows) {
    EncodeSymbols(body, rows, ids.subspan(start, rows.size()));
  };
  return WriteColumns(chunks_, ChunkBody::kSymbols, symbols, write) && stored;
}

bool ProfileWriter::WriteFooter(const FooterData& footer) {
  MessageWriter body(chunks_.body());
  EncodeFooter(body, footer, chunks_.chunks() + 1);
  return chunks_.Commit(ChunkBody::kFooter);
}

void ProfileWriter::StartTotalsPart() {
  MessageWriter body(chunks_.body());
  PutFixed(body, field::Totals::kTime, totals_time_);
  PutBool(body, field::Totals::kFinal, totals_final_);
}

bool ProfileWriter::CommitTotalsPart(bool more) {
  MessageWriter body(chunks_.body());
  PutBool(body, field::Totals::kMore, more);
  totals_stored_ &= chunks_.Commit(ChunkBody::kTotals);
  return totals_stored_;
}

void ProfileWriter::BeginTotals(Nanos time, bool final) {
  totals_time_ = time;
  totals_final_ = final;
  totals_stored_ = true;
  StartTotalsPart();
}

bool ProfileWriter::AddThreadTotal(const ThreadTotalData& total) {
  const uint32_t name_id = strings_.Intern(total.name);
  if (Full() || name_id > strings_written_) {
    CommitTotalsPart(true);
    totals_stored_ &= FlushStrings();
    StartTotalsPart();
  }
  MessageWriter body(chunks_.body());
  MessageWriter message(body, field::Totals::kThread);
  EncodeThreadTotal(message, total, name_id);
  return totals_stored_;
}

bool ProfileWriter::AddSiteTotal(const SiteTotalData& total) {
  if (Full()) {
    CommitTotalsPart(true);
    StartTotalsPart();
  }
  MessageWriter body(chunks_.body());
  MessageWriter message(body, field::Totals::kSite);
  EncodeSiteTotal(message, total);
  return totals_stored_;
}

bool ProfileWriter::AddAppliedPlacement(const AppliedPlacementData& placement) {
  if (Full()) {
    CommitTotalsPart(true);
    StartTotalsPart();
  }
  MessageWriter body(chunks_.body());
  MessageWriter message(body, field::Totals::kAppliedPlacement);
  EncodeAppliedPlacement(message, placement);
  return totals_stored_;
}

bool ProfileWriter::EndTotals(const AccountingData& accounting, const OwnCostData& own_cost,
                              const EconomyData& economy, std::span<const EventTotalData> events,
                              std::span<const CodeFateData> fates,
                              const PlacementData& placement) {
  {
    MessageWriter body(chunks_.body());
    {
      MessageWriter message(body, field::Totals::kAccounting);
      EncodeAccounting(message, accounting);
    }
    {
      MessageWriter message(body, field::Totals::kOwnCost);
      EncodeOwnCost(message, own_cost);
    }
    if (economy.any()) {
      MessageWriter message(body, field::Totals::kEconomy);
      EncodeEconomy(message, economy);
    }
    for (const EventTotalData& event : events) {
      MessageWriter message(body, field::Totals::kEvent);
      EncodeEventTotal(message, event);
    }
    for (const CodeFateData& fate : fates) {
      MessageWriter message(body, field::Totals::kFate);
      EncodeCodeFate(message, fate);
    }
    EncodePlacement(body, placement);
  }
  return CommitTotalsPart(false);
}

void ProfileWriter::StartOver() {
  chunks_.StartOver();
  strings_written_ = 0;
}

}  // namespace memagent::profile
