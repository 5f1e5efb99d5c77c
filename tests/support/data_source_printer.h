// How gtest prints a DataSource when two differ.
#ifndef MEMAGENT_TESTS_SUPPORT_DATA_SOURCE_PRINTER_H_
#define MEMAGENT_TESTS_SUPPORT_DATA_SOURCE_PRINTER_H_

#include <ostream>

#include "agent/base/data_source.h"

namespace memagent {

inline void PrintTo(const DataSource& source, std::ostream* out) {
  *out << "op " << int{static_cast<uint8_t>(source.op)} << " level "
       << int{static_cast<uint8_t>(source.level)} << " locality "
       << int{static_cast<uint8_t>(source.locality)} << " snoop "
       << int{static_cast<uint8_t>(source.snoop)} << " tlb "
       << int{static_cast<uint8_t>(source.tlb)} << " locked " << source.locked << " blocked "
       << source.blocked_data << source.blocked_address << " region " << int{source.region};
}

}  // namespace memagent

#endif  // MEMAGENT_TESTS_SUPPORT_DATA_SOURCE_PRINTER_H_
