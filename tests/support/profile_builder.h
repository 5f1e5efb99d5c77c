// Builds profile files for tests, record by record, with real libprotobuf messages.
#ifndef MEMAGENT_TESTS_SUPPORT_PROFILE_BUILDER_H_
#define MEMAGENT_TESTS_SUPPORT_PROFILE_BUILDER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/profile/crc32c.h"
#include "agent/profile/profile.pb.h"

namespace memagent::tests {

// References that it hands out stay valid as long as the builder.
class ProfileBuilder {
 public:
  ProfileBuilder() {
    header_.set_magic(0x544e4547414d454d);
    header_.set_format_major(1);
    header_.set_agent_version("0.1.0");
    totals_.set_time(1);
  }

  v1::Header& header() { return header_; }
  v1::Totals& totals() { return totals_; }
  v1::Footer& footer() { return footer_; }
  v1::Events& events() { return events_; }
  void OmitFooter() { has_footer_ = false; }

  uint32_t String(std::string_view text) {
    if (text.empty()) return 0;
    uint32_t& id = string_ids_[std::string(text)];
    if (id == 0) {
      strings_.add_text(std::string(text));
      id = static_cast<uint32_t>(strings_.text_size());
    }
    return id;
  }

  uint32_t Module(std::string_view path, std::string_view build_id = "") {
    v1::Module& module = *modules_.add_module();
    module.set_path(String(path));
    module.set_build_id(std::string(build_id));
    return static_cast<uint32_t>(modules_.module_size());
  }

  uint32_t Thread(int32_t tid, std::string_view name, bool main = false) {
    v1::Thread& thread = *threads_.add_thread();
    thread.set_tid(tid);
    thread.set_name(String(name));
    thread.set_main(main);
    const auto id = static_cast<uint32_t>(threads_.thread_size());
    totals_.add_thread()->set_thread(id);
    return id;
  }
  v1::ThreadTotal& ThreadTotal(uint32_t id) {
    return *totals_.mutable_thread(static_cast<int>(id) - 1);
  }

  // A return address; `function` is the symbol's name, "" for none.
  uint32_t Frame(uint32_t module, uint64_t address, std::string_view function) {
    return AddFrame(module, address, function, false);
  }
  // The address of an instruction.
  uint32_t Instruction(uint32_t module, uint64_t address, std::string_view function) {
    return AddFrame(module, address, function, true);
  }

  // Frames innermost first.
  uint32_t Stack(const std::vector<uint32_t>& frames) {
    uint32_t parent = 0;
    for (size_t i = frames.size(); i > 0; --i) {
      stacks_.add_stack_parent(parent);
      stacks_.add_stack_frame(frames[i - 1]);
      parent = static_cast<uint32_t>(stacks_.stack_parent_size());
    }
    return parent;
  }

  v1::Site& Site(v1::RegionKind kind, uint32_t stack, std::string_view name = "") {
    v1::Site& site = *sites_.add_site();
    site.set_id(static_cast<uint32_t>(sites_.site_size()));
    site.set_kind(kind);
    site.set_stack(stack);
    site.set_name(String(name));
    totals_.add_site()->set_site(site.id());
    return site;
  }
  v1::SiteTotal& SiteTotal(const v1::Site& site) {
    return *totals_.mutable_site(static_cast<int>(site.id()) - 1);
  }

  // The whole file.
  std::string Bytes() {
    strings_.set_first(1);
    modules_.set_first(1);
    threads_.set_first(1);
    stacks_.set_first_frame(1);
    stacks_.set_first_stack(1);
    std::string bytes;
    uint32_t seq = 0;
    const auto add = [&](auto setter) {
      v1::Chunk chunk;
      setter(chunk);
      chunk.set_seq(seq++);
      bytes += Framed(chunk);
    };
    add([&](v1::Chunk& c) { *c.mutable_header() = header_; });
    add([&](v1::Chunk& c) { *c.mutable_strings() = strings_; });
    add([&](v1::Chunk& c) { *c.mutable_modules() = modules_; });
    add([&](v1::Chunk& c) { *c.mutable_threads() = threads_; });
    add([&](v1::Chunk& c) { *c.mutable_call_stacks() = stacks_; });
    add([&](v1::Chunk& c) { *c.mutable_sites() = sites_; });
    add([&](v1::Chunk& c) { *c.mutable_symbols() = Symbols(); });
    add([&](v1::Chunk& c) { *c.mutable_events() = events_; });
    add([&](v1::Chunk& c) { *c.mutable_totals() = totals_; });
    footer_.set_chunks(seq + 1);
    if (has_footer_) add([&](v1::Chunk& c) { *c.mutable_footer() = footer_; });
    return bytes;
  }

 private:
  uint32_t AddFrame(uint32_t module, uint64_t address, std::string_view function,
                    bool instruction) {
    stacks_.add_frame_module(module);
    stacks_.add_frame_address(address);
    stacks_.add_frame_is_instruction(instruction);
    functions_.push_back(String(function));
    return static_cast<uint32_t>(stacks_.frame_module_size());
  }

  v1::Symbols Symbols() const {
    v1::Symbols symbols;
    for (size_t i = 0; i < functions_.size(); ++i) {
      symbols.add_frame(static_cast<uint32_t>(i + 1));
      symbols.add_function(functions_[i]);
      symbols.add_function_offset(4);
    }
    return symbols;
  }

  // As the agent frames a chunk: the checksum first, of all bytes behind it.
  static std::string Framed(const v1::Chunk& chunk) {
    std::string rest = chunk.SerializeAsString();
    if (chunk.seq() == 0) rest = std::string("\x10\0", 2) + rest;  // the agent always writes it
    const uint32_t crc = profile::Crc32c(std::span<const char>(rest.data(), rest.size()));
    std::string body = "\x0d";
    for (int shift = 0; shift < 32; shift += 8) body += static_cast<char>(crc >> shift & 0xff);
    body += rest;
    std::string length;
    size_t left = body.size();
    for (; left > 0x7f; left >>= 7) length += static_cast<char>((left & 0x7f) | 0x80);
    length += static_cast<char>(left);
    return "\x0a" + length + body;
  }

  v1::Header header_;
  v1::StringTable strings_;
  v1::Modules modules_;
  v1::Threads threads_;
  v1::CallStacks stacks_;
  v1::Sites sites_;
  v1::Totals totals_;
  v1::Events events_;
  v1::Footer footer_;
  bool has_footer_ = true;
  std::unordered_map<std::string, uint32_t> string_ids_;
  std::vector<uint32_t> functions_;  // by frame id - 1
};

}  // namespace memagent::tests

#endif  // MEMAGENT_TESTS_SUPPORT_PROFILE_BUILDER_H_
