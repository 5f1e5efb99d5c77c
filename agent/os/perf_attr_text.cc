#include "agent/os/perf_attr_text.h"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace memagent::os {
namespace {

struct Flag {
  bool set;
  std::string_view name;
};

void AddWord(base::String& text, std::string_view word) {
  if (!text.empty()) text += ' ';
  text += word;
}

void AddNumber(base::String& text, std::string_view name, uint64_t value, int base) {
  char digits[24];
  const auto result = std::to_chars(digits, digits + sizeof(digits), value, base);
  AddWord(text, name);
  text += base == 16 ? "=0x" : "=";
  text.append(digits, result.ptr);
}

void AddIfSet(base::String& text, std::string_view name, uint64_t value, int base = 10) {
  if (value != 0) AddNumber(text, name, value, base);
}

void AddFlags(base::String& text, const perf_event_attr& attr) {
  const Flag flags[] = {
      {attr.disabled != 0, "disabled"},
      {attr.inherit != 0, "inherit"},
      {attr.exclude_user != 0, "exclude_user"},
      {attr.exclude_kernel != 0, "exclude_kernel"},
      {attr.exclude_hv != 0, "exclude_hv"},
      {attr.exclude_idle != 0, "exclude_idle"},
      {attr.exclude_guest != 0, "exclude_guest"},
      {attr.freq != 0, "freq"},
      {attr.task != 0, "task"},
      {attr.watermark != 0, "watermark"},
      {attr.sample_id_all != 0, "sample_id_all"},
      {attr.use_clockid != 0, "use_clockid"},
      {attr.remove_on_exec != 0, "remove_on_exec"},
  };
  for (const Flag& flag : flags) {
    if (flag.set) AddWord(text, flag.name);
  }
}

}  // namespace

base::String PerfAttrText(const perf_event_attr& attr) {
  base::String text;
  AddNumber(text, "type", attr.type, 10);
  AddNumber(text, "config", attr.config, 16);
  AddIfSet(text, "size", attr.size);
  AddIfSet(text, attr.freq ? "sample_freq" : "sample_period", attr.sample_period);
  AddIfSet(text, "sample_type", attr.sample_type, 16);
  AddIfSet(text, "read_format", attr.read_format, 16);
  AddFlags(text, attr);
  AddIfSet(text, "precise_ip", attr.precise_ip);
  AddIfSet(text, "wakeup", attr.wakeup_events);
  AddIfSet(text, "config1", attr.config1, 16);
  AddIfSet(text, "config2", attr.config2, 16);
  AddIfSet(text, "sample_regs_user", attr.sample_regs_user, 16);
  if (attr.use_clockid) AddNumber(text, "clockid", static_cast<uint64_t>(attr.clockid), 10);
  return text;
}

}  // namespace memagent::os
