// What do the entries of thunks (thunk_entry.S) share? The frame of a call, the answer of BEGIN, and the search for a
// name among the rows of a table. cudart.cpp and library.cpp use it, in the program.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Banks of thunks; each bank has one thunk for every row. The exported banks are for the versions of a library. The
// other banks are for functions that dlsym finds in further copies of it.
#define PROF_EXPORTED_BANKS 3
#define PROF_OTHER_BANKS 3
// For the assembler: the thunks of the other banks. `number` is its symbol that counts thunks; its value here is the
// number of exported thunks.
#define PROF_OTHER_THUNKS(number, thunk) \
  ".rept " number " / " PROF_TEXT(PROF_EXPORTED_BANKS) " * " PROF_TEXT(PROF_OTHER_BANKS) "\n" thunk ".endr\n"
#define PROF_TEXT(value) PROF_TEXT_OF(value)
#define PROF_TEXT_OF(value) #value

namespace prof::preload {

inline constexpr uint32_t kExportedBanks = PROF_EXPORTED_BANKS, kBanks = kExportedBanks + PROF_OTHER_BANKS;
inline constexpr size_t kThunkBytes = 16;

// It is on the program's stack while the call runs. The assembler code contains these offsets.
struct ThunkCall {
  uint64_t words[8];  // argument registers; x86-64 has six of them
  uint64_t caller;
  uint64_t result;
  uint64_t begin;
  uint64_t epoch;
  uint64_t slot;  // bank × rows + row; only the low half is written
  void* known;    // BEGIN stores it for END
};
static_assert(sizeof(ThunkCall) == 112 && offsetof(ThunkCall, caller) == 64 && offsetof(ThunkCall, result) == 72 &&
              offsetof(ThunkCall, slot) == 96);

struct ThunkAnswer {
  void* real;
  uint64_t recorded;  // 0: jump to the real function, write no record
};

// Row numbers in the order of the names.
template <class Row, size_t count> constexpr std::array<uint16_t, count> rows_by_name(const Row (&rows)[count]) {
  std::array<uint16_t, count> order{};
  for (size_t i = 0; i < count; ++i) order[i] = static_cast<uint16_t>(i);
  std::sort(order.begin(), order.end(),
            [&](uint16_t a, uint16_t b) { return std::string_view(rows[a].name) < std::string_view(rows[b].name); });
  return order;
}

// The row of a name. -1: no row has it.
template <class Row, size_t count>
int find_row(const Row (&rows)[count], const std::array<uint16_t, count>& order, std::string_view name) {
  const auto* const at = std::lower_bound(order.begin(), order.end(), name, [&](uint16_t row, std::string_view text) {
    return std::string_view(rows[row].name) < text;
  });
  return at != order.end() && name == rows[*at].name ? *at : -1;
}

}  // namespace prof::preload
