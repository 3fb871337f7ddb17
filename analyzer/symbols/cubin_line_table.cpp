// NVIDIA's compilers write inlining into the line table itself (operation 0x90 of DWARF's extended ones): a row names
// the row of its call and the function that was inlined. No .debug_info is needed. elfutils reads it since 0.187; with
// an older one the innermost line is all there is.
//
// The row of the call is numbered from the start of the sequence (1 is its first row), as nvdisasm's listings show for
// CUDA 12 and 13. libdw takes it for a number in the whole table, so dwarf_linecontext() is wrong for every function
// but the first: call_row() undoes that.
#include "analyzer/symbols/cubin_line_table.h"

#if PROF_HAVE_LIBDW

#include <elfutils/libdw.h>
#include <elfutils/version.h>
#include <fmt/format.h>
#include <libelf.h>

#include <algorithm>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr size_t kDeepest = 64;  // inlined functions at one instruction; more are damage

class TableReader {
 public:
  TableReader(Dwarf* dwarf, std::span<const uint64_t> addresses,
              const std::function<void(size_t, std::span<const DebugFrame>)>& found)
      : dwarf_(dwarf), addresses_(addresses), found_(found) {}

  std::string run() {
    std::string why;
    Dwarf_Off at = 0, next = 0;
    Dwarf_CU* unit = nullptr;
    for (;; at = next) {
      Dwarf_Files* files = nullptr;
      Dwarf_Lines* lines = nullptr;
      size_t file_count = 0, line_count = 0;
      const int end = dwarf_next_lines(dwarf_, at, &next, &unit, &files, &file_count, &lines, &line_count);
      if (end > 0) break;
      if (end == 0) {
        rows(lines, line_count);
      } else if (why.empty()) {
        why = fmt::format("its line table is damaged at byte {} of .debug_line: {}", at, dwarf_errmsg(-1));
      }
      if (next <= at) break;
    }
    if (why.empty() && damaged_rows_ != 0) {
      why = fmt::format("{} rows of its line table lead to no file or to no call: damaged", damaged_rows_);
    }
    return why;
  }

 private:
  // Rows are sorted by address, and so are the requested addresses. Sequences do not mix: cubin_file.h.
  void rows(Dwarf_Lines* lines, size_t count) {
    const auto row = [&](size_t i, Dwarf_Addr& address) {
      Dwarf_Line* const line = dwarf_onesrcline(lines, i);
      return line != nullptr && dwarf_lineaddr(line, &address) == 0 ? line : nullptr;
    };
    Dwarf_Addr address = 0, after = 0;
    size_t sequence = 0;  // its first row
    for (size_t i = 0; i + 1 < count; ++i) {
      Dwarf_Line* const line = row(i, address);
      bool end = true;
      if (line == nullptr || dwarf_lineendsequence(line, &end) != 0) continue;
      if (end) {
        sequence = i + 1;
        continue;
      }
      if (row(i + 1, after) == nullptr || after <= address) continue;  // of several rows of an address, the last counts
      const auto first = std::lower_bound(addresses_.begin(), addresses_.end(), address);
      const auto last = std::lower_bound(first, addresses_.end(), after);
      if (first == last) continue;
      read_frames(lines, sequence, i);
      if (frames_.empty()) continue;
      for (auto each = first; each != last; ++each) found_(static_cast<size_t>(each - addresses_.begin()), frames_);
    }
  }

  void read_frames(Dwarf_Lines* lines, size_t sequence, size_t row) {
    frames_.clear();
    while (frames_.size() < kDeepest) {
      Dwarf_Line* const line = dwarf_onesrcline(lines, row);
      DebugFrame& frame = frames_.emplace_back();
      frame.plain = true;
      int number = 0;
      if (dwarf_lineno(line, &number) == 0 && number > 0) frame.line = static_cast<uint32_t>(number);
      if (frame.line == 0 && frames_.size() == 1) {  // a row of no source line
        frames_.clear();
        return;
      }
      Dwarf_Word modified_s = 0, bytes = 0;
      const char* const file = dwarf_linesrc(line, &modified_s, &bytes);
      if (file == nullptr) break;
      frame.file = file;
      frame.modified_s = static_cast<uint32_t>(modified_s);
      frame.file_bytes = static_cast<uint32_t>(bytes);
      const size_t caller = call_row(lines, line);
      const char* const name = inlined_function(line);
      if (caller == kNone && name == nullptr) return;
      frame.inlined = true;
      if (name != nullptr) frame.function = name;
      // Calls are before what they call; a damaged table leads elsewhere. kNone: a call that is not in the table.
      if (caller >= row - sequence) break;
      row = sequence + caller;
    }
    frames_.clear();  // an incomplete chain would name a wrong caller
    ++damaged_rows_;
  }

#if _ELFUTILS_PREREQ(0, 187)
  // The row of the call, counted from the first row of the sequence.
  static size_t call_row(Dwarf_Lines* lines, Dwarf_Line* line) {
    const Dwarf_Line* const context = dwarf_linecontext(lines, line);
    if (context == nullptr) return kNone;
    // libdw keeps rows in an array and does not return the number, only the row of the table with that number.
    const auto place = [](const Dwarf_Line* of) { return reinterpret_cast<uintptr_t>(of); };
    const uintptr_t first = place(dwarf_onesrcline(lines, 0));
    return (place(context) - first) / (place(dwarf_onesrcline(lines, 1)) - first);
  }
  const char* inlined_function(Dwarf_Line* line) const { return dwarf_linefunctionname(dwarf_, line); }
#else
  static size_t call_row(Dwarf_Lines*, Dwarf_Line*) { return kNone; }
  const char* inlined_function(Dwarf_Line*) const { return nullptr; }
#endif

  static constexpr size_t kNone = SIZE_MAX;
  Dwarf* const dwarf_;
  const std::span<const uint64_t> addresses_;
  const std::function<void(size_t, std::span<const DebugFrame>)>& found_;
  std::vector<DebugFrame> frames_;
  uint64_t damaged_rows_ = 0;  // of those that were asked for
};

}  // namespace

std::string read_cubin_line_table(const CubinFile& cubin, std::span<const uint64_t> addresses,
                                  const std::function<void(size_t, std::span<const DebugFrame>)>& found) {
  std::vector<uint8_t> image = cubin.line_table_image();
  if (image.empty()) return cubin.line_problem();
  elf_version(EV_CURRENT);
  Elf* const elf = elf_memory(reinterpret_cast<char*>(image.data()), image.size());
  Dwarf* const dwarf = elf == nullptr ? nullptr : dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  std::string why;
  if (dwarf == nullptr) {
    why = fmt::format("its line table cannot be read: {}", elf == nullptr ? elf_errmsg(-1) : dwarf_errmsg(-1));
  } else {
    why = TableReader(dwarf, addresses, found).run();
  }
  if (dwarf != nullptr) dwarf_end(dwarf);
  if (elf != nullptr) elf_end(elf);
  return why.empty() ? cubin.line_problem() : why;
}

}  // namespace prof::analyzer

#else

namespace prof::analyzer {

std::string read_cubin_line_table(const CubinFile&, std::span<const uint64_t>,
                                  const std::function<void(size_t, std::span<const DebugFrame>)>&) {
  return "built without libdw: no source lines";
}

}  // namespace prof::analyzer

#endif
