// Encodes the records of model.h as protobuf messages. Fields at their default are left out, as
// proto3 does. Strings that go through the string table come as ids. Pure; drain thread.
#ifndef MEMAGENT_AGENT_PROFILE_ENCODE_H_
#define MEMAGENT_AGENT_PROFILE_ENCODE_H_

#include <cstdint>
#include <span>

#include "agent/profile/buffer.h"
#include "agent/profile/model.h"

namespace memagent::profile {

void EncodeHeader(MessageWriter& out, const HeaderData& header);
void EncodeModule(MessageWriter& out, const ModuleData& module, uint32_t path_id);
void EncodeThread(MessageWriter& out, const ThreadData& thread, uint32_t name_id);
void EncodeFrames(MessageWriter& out, uint32_t first, std::span<const FrameData> frames);
void EncodeStacks(MessageWriter& out, uint32_t first, std::span<const StackData> stacks);
void EncodeSite(MessageWriter& out, const SiteData& site, uint32_t name_id);
void EncodeAccounting(MessageWriter& out, const AccountingData& accounting);
void EncodeThreadTotal(MessageWriter& out, const ThreadTotalData& total, uint32_t name_id);
void EncodeSiteTotal(MessageWriter& out, const SiteTotalData& total);
void EncodeOwnCost(MessageWriter& out, const OwnCostData& cost);
void EncodeCodeFate(MessageWriter& out, const CodeFateData& fate);
void EncodeAppliedPlacement(MessageWriter& out, const AppliedPlacementData& placement);
void EncodeEventTotal(MessageWriter& out, const EventTotalData& event);
void EncodeEconomy(MessageWriter& out, const EconomyData& economy);
// Into a Totals.
void EncodePlacement(MessageWriter& out, const PlacementData& placement);
void EncodeRawSamples(MessageWriter& out, std::span<const RawSampleData> samples, bool continued);
void EncodeEvent(MessageWriter& out, const EventData& event);
void EncodeSymbols(MessageWriter& out, std::span<const SymbolData> symbols,
                   std::span<const uint32_t> function_ids);
void EncodeFooter(MessageWriter& out, const FooterData& footer, uint32_t chunks);

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_ENCODE_H_
