// Builds .eh_frame bytes and small ELF shared objects for the tests.
#ifndef MEMAGENT_TESTS_UNIT_CAPTURE_UNWIND_BUILDER_H_
#define MEMAGENT_TESTS_UNIT_CAPTURE_UNWIND_BUILDER_H_

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace memagent::capture {

using Bytes = std::vector<uint8_t>;

template <typename T>
void Append(Bytes& bytes, T value) {
  const auto* raw = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(value));
}
inline void Append(Bytes& bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

// A CIE with augmentation "zR" (or "zRS"), code alignment 1, data alignment -8, CFA = rsp + 8 and
// the return address at CFA - 8, at offset 0; followed by one FDE. Pointers are 4 bytes, relative
// to themselves. The section stands at `address`.
struct EhFrameBuilder {
  Bytes bytes;
  uintptr_t address;
  size_t fde_offset = 0;

  EhFrameBuilder(uintptr_t section_address, uintptr_t function, uint32_t size,
                 const Bytes& instructions, bool signal = false)
      : address(section_address) {
    Bytes cie;
    Append(cie, uint32_t{0});
    Append(cie, uint8_t{1});
    Append(cie, signal ? Bytes{'z', 'R', 'S', 0} : Bytes{'z', 'R', 0});
    Append(cie, Bytes{1, 0x78, 16, 1, 0x1b});      // alignments, RA column, encoding
    Append(cie, Bytes{0x0c, 7, 8, 0x80 + 16, 1});  // def_cfa rsp 8; offset rip -8
    AppendRecord(cie);
    fde_offset = bytes.size();
    Bytes fde;
    Append(fde, static_cast<uint32_t>(fde_offset + 4));  // back to the CIE
    Append(fde, static_cast<int32_t>(function - (address + fde_offset + 8)));
    Append(fde, size);
    Append(fde, uint8_t{0});
    Append(fde, instructions);
    AppendRecord(fde);
    Append(bytes, uint32_t{0});
  }

  void AppendRecord(Bytes record) {
    while (record.size() % 4 != 0) record.push_back(0);
    Append(bytes, static_cast<uint32_t>(record.size()));
    Append(bytes, record);
  }
};

// An ELF shared object with one segment, one function `f` that makes a frame of `frame_bytes` (a
// multiple of 128 plus 8, below 32 KiB), calls its first argument and returns.
inline Bytes BuildSharedObject(uint32_t frame_bytes) {
  constexpr size_t kCode = 0x400, kHeader = 0x500, kFrames = 0x540, kDynamic = 0x700,
                   kSize = 0x1000;
  Bytes file(kSize);
  const auto put = [&file](size_t at, const Bytes& data) {
    std::memcpy(file.data() + at, data.data(), data.size());
  };
  const auto put_value = [&file](size_t at, const auto& value) {
    std::memcpy(file.data() + at, &value, sizeof(value));
  };
  Bytes code{0x48, 0x81, 0xec};  // sub $frame_bytes, %rsp
  Append(code, frame_bytes);
  Append(code, Bytes{0xff, 0xd7, 0x48, 0x81, 0xc4});  // call *%rdi; add $frame_bytes, %rsp
  Append(code, frame_bytes);
  Append(code, uint8_t{0xc3});
  put(kCode, code);
  const uint32_t cfa = frame_bytes + 8;
  const Bytes instructions{0x40 + 7, 0x0e,  // after sub: def_cfa_offset
                           static_cast<uint8_t>((cfa & 0x7f) | 0x80),
                           static_cast<uint8_t>((cfa >> 7 & 0x7f) | 0x80),
                           static_cast<uint8_t>(cfa >> 14)};
  const EhFrameBuilder frames(kFrames, kCode, static_cast<uint32_t>(code.size()), instructions);
  put(kFrames, frames.bytes);
  Bytes header{1, 0x1b, 0x03, 0x3b};
  Append(header, static_cast<int32_t>(kFrames - (kHeader + 4)));
  Append(header, uint32_t{1});
  Append(header, static_cast<int32_t>(kCode - kHeader));
  Append(header, static_cast<int32_t>(kFrames + frames.fde_offset - kHeader));
  put(kHeader, header);

  // .dynsym (null, f), .dynstr, .hash with one bucket.
  constexpr size_t kSymbols = 0x200, kStrings = 0x240, kHash = 0x260;
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_shndx = 1;
  symbol.st_value = kCode;
  symbol.st_size = code.size();
  put_value(kSymbols + sizeof(symbol), symbol);
  put(kStrings, Bytes{0, 'f', 0});
  put_value(kHash, std::array<uint32_t, 5>{1, 2, 1, 0, 0});
  const std::array<Elf64_Dyn, 6> dynamic{{{DT_HASH, {kHash}},
                                          {DT_SYMTAB, {kSymbols}},
                                          {DT_STRTAB, {kStrings}},
                                          {DT_STRSZ, {3}},
                                          {DT_SYMENT, {sizeof(Elf64_Sym)}},
                                          {DT_NULL, {0}}}};
  put_value(kDynamic, dynamic);

  Elf64_Ehdr elf{};
  std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  elf.e_ident[EI_DATA] = ELFDATA2LSB;
  elf.e_ident[EI_VERSION] = EV_CURRENT;
  elf.e_type = ET_DYN;
  elf.e_machine = EM_X86_64;
  elf.e_version = EV_CURRENT;
  elf.e_phoff = sizeof(elf);
  elf.e_ehsize = sizeof(elf);
  elf.e_phentsize = sizeof(Elf64_Phdr);
  elf.e_phnum = 4;
  put_value(0, elf);
  const std::array<Elf64_Phdr, 4> headers{
      {{PT_LOAD, PF_R | PF_W | PF_X, 0, 0, 0, kSize, kSize, 0x1000},
       {PT_DYNAMIC, PF_R, kDynamic, kDynamic, 0, sizeof(dynamic), sizeof(dynamic), 8},
       {PT_GNU_EH_FRAME, PF_R, kHeader, kHeader, 0, header.size(), header.size(), 4},
       {PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16}}};
  put_value(sizeof(elf), headers);
  return file;
}

// A path under which dlopen finds `file`; empty without memory.
inline std::string PublishFile(const Bytes& file, int& descriptor) {
  descriptor = memfd_create("unwind_test", MFD_CLOEXEC);
  if (write(descriptor, file.data(), file.size()) != static_cast<ssize_t>(file.size())) return {};
  return "/proc/self/fd/" + std::to_string(descriptor);
}

}  // namespace memagent::capture

#endif  // MEMAGENT_TESTS_UNIT_CAPTURE_UNWIND_BUILDER_H_
