// Walks over the records of a perf.data file, in the file's order. Pure; trusts no length.
#ifndef MEMAGENT_VIEWER_IMPORT_RECORD_WALK_H_
#define MEMAGENT_VIEWER_IMPORT_RECORD_WALK_H_

#include <cstdint>
#include <span>

namespace memagent::importer {

struct RawRecord {
  uint32_t type = 0;
  uint16_t misc = 0;
  std::span<const uint8_t> bytes;  // header included
  std::span<const uint8_t> data;   // what follows an AUXTRACE record, not counted in its size

  std::span<const uint8_t> body() const { return bytes.subspan(8); }
};

class RecordWalk {
 public:
  explicit RecordWalk(std::span<const uint8_t> records) : records_(records) {}

  // False at the end, and where no record can be.
  bool Next(RawRecord& record);

  // Only after Next() gave false: bytes are left, which are no whole record.
  bool cut_short() const { return at_ < records_.size(); }
  uint64_t offset() const { return at_; }

 private:
  std::span<const uint8_t> records_;
  uint64_t at_ = 0;
};

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_RECORD_WALK_H_
