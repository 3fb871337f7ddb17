// The records of a log as text lines, "kernel_run start=5 duration=2 …", in file order; works also while the log is
// being written.
#pragma once

#include "preload/format/codec.h"

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace prof::test {

struct LinePrinter {
  std::ostringstream out;

  template <class T> void value(const char* name, const T& x) { out << ' ' << name << '=' << format::as_u64(x); }
  void signed_value(const char* name, int64_t x) { out << ' ' << name << '=' << x; }
  void time(const char* name, uint64_t x) { value(name, x); }
  void quick_time(const char* name, uint64_t x) { value(name, x); }
  void quick_value(const char* name, uint64_t x) { value(name, x); }
  void gpu_time(const char* name, uint64_t x) { value(name, x); }
  void depth(const char* name, uint64_t x) { value(name, x); }
  void correlation(const char* name, uint32_t x) { value(name, x); }
  template <class T> void optional(const char* name, const T& x) {
    if (format::as_u64(x) != 0) value(name, x);
  }
  void optional_node(const char* name, uint64_t x) { optional(name, x); }
  void text(const char* name, std::string_view x) { out << ' ' << name << '=' << x; }
  void optional_text(const char* name, std::string_view x) { text(name, x); }
  void pairs(const char* name, const format::CallPairs& x) {
    out << ' ' << name << '=';
    for (uint32_t i = 0; i < x.count; ++i) out << x.data[i].time << ':' << x.data[i].correlation << ';';
  }
  void spans(const char* name, const format::CallPairs& x) { pairs(name, x); }
  void numbers(const char* name, const format::Numbers& x) {
    out << ' ' << name << '=';
    x.for_each([&](uint64_t number) { out << number << ';'; });
  }
  void moments(const char* name, const format::CallPairs& x) { pairs(name, x); }
  void launch_of(const char* name, uint32_t x, const char* stream_name, format::GpuStreamId stream) {
    value(name, x), value(stream_name, stream);
  }
};

// Of the records named `kind`.
inline std::vector<std::string> log_lines(const std::string& path, std::string_view kind) {
  using namespace format;
  std::vector<std::string> lines;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::string bytes(static_cast<size_t>(file.tellg()), 0);
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (size_t at = kBlocksOffset; at + kBlockBytes <= bytes.size(); at += kBlockBytes) {
    Block block;
    std::memcpy(&block, bytes.data() + at, sizeof block);
    if (block.header.magic != kBlockMagic || block.header.committed > kPayloadBytes) continue;
    Cursor from{block.payload, block.payload + block.header.committed};
    CodecState state;
    state.tick = block.header.base_tick;
    CallPair scratch[kMaxCallPairs];
    while (from.ok && !from.at_end()) {
      const uint64_t tag = from.varint();
      bool known = false;
      AllKinds::for_each([&]<class T>() {
        if (known || T::kKind != tag >> 3) return;
        known = true;
        T record;
        if (!decode_fields(from, state, scratch, tag & 7, record) || T::kName != kind) return;
        LinePrinter printer;
        T::visit(record, printer);
        lines.push_back(std::string(T::kName) + printer.out.str());
      });
      if (!known) from.fail();
    }
  }
  return lines;
}

}  // namespace prof::test
