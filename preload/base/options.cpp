#include "preload/base/options.h"

#include "preload/base/environment.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace prof::preload {

namespace detail {
constinit Options g_options;
constinit std::atomic<Reading> g_reading{Reading::NotYet};
}  // namespace detail

namespace {

using detail::g_options;

// Texts that the values point to. A text that does not fit is not valid.
char g_texts[16384];
size_t g_texts_used = 0;
const char* g_entries[kOptionCount];  // in g_texts; null: not set
uint64_t g_not_valid = 0;             // bit: row
static_assert(kOptionCount <= 64);
char g_folder[3840];

uint32_t row_of(std::string_view name) {
#define PROF_OPTION(member, variable, ...) \
  if (name == variable) return kRow_##member;
#define PROF_CHOICES(member, variable, ...) \
  if (name == variable) return kRow_##member;
#include "preload/format/options.def"
#undef PROF_OPTION
#undef PROF_CHOICES
  return kOptionCount;
}

// Copies the entry with its final NUL to memory that stays valid. Returns null if there is no room.
const char* keep(const char* entry, size_t size) {
  if (size + 1 > sizeof g_texts - g_texts_used) return nullptr;
  char* const to = g_texts + g_texts_used;
  std::memcpy(to, entry, size + 1);
  g_texts_used += size + 1;
  return to;
}

// Copies the entry and returns the copied value. Returns null if there is no room, or if an earlier entry has the same
// name. The first entry counts, as in libc.
const char* keep_value(uint32_t row, const char* entry, size_t name_bytes) {
  if (g_entries[row] != nullptr) return nullptr;
  const char* const kept = keep(entry, std::strlen(entry));
  g_entries[row] = kept != nullptr ? kept : "";
  if (kept == nullptr) g_not_valid |= uint64_t{1} << row;
  return kept != nullptr ? kept + name_bytes + 1 : nullptr;
}

template <class Type>
void take(uint32_t row, const char* entry, size_t name_bytes, const char* values, typename Type::Value& to) {
  const char* const text = keep_value(row, entry, name_bytes);
  if (text == nullptr) return;
  typename Type::Value value{};
  if (Type::read(text, values, value)) {
    to = value;
  } else {
    g_not_valid |= uint64_t{1} << row;
  }
}

void read_entry(const char* entry) {
  const uint32_t row = option_row_of(entry);
  if (row == kOptionCount) return;
  const size_t name_bytes = static_cast<size_t>(std::strchr(entry, '=') - entry);
  if (entry[name_bytes + 1] == '\0') return;
  switch (row) {
#define PROF_OPTION(member, variable, Type, initial, flag, values, help) \
  case kRow_##member:                                                    \
    return take<option::Type>(row, entry, name_bytes, values, g_options.member);
#define PROF_CHOICES(member, variable, Type, Enum, initial, flag, words, help) \
  case kRow_##member:                                                          \
    return take<option::Type<option::Enum>>(row, entry, name_bytes, "", g_options.member);
#include "preload/format/options.def"
#undef PROF_OPTION
#undef PROF_CHOICES
    default: return;
  }
}

// Uses the system call: for a folder outside the root, libc's function walks up and allocates on the heap.
void note_folder() {
  g_folder[0] = '\0';
  if (g_options.output[0] == '/') return;
  const long size = syscall(SYS_getcwd, g_folder, sizeof g_folder);
  if (size <= 0 || g_folder[0] != '/') g_folder[0] = '\0';
}

// The root directory when the options were read. A program that changes it (chroot) finds other files under the same
// names.
struct Root {
  uint64_t device = 0, inode = 0;  // 0, 0: not known
};
Root g_root;

Root root_now() {
  struct stat root {};
#if defined(SYS_newfstatat)
  if (syscall(SYS_newfstatat, AT_FDCWD, "/", &root, 0) != 0) return {};
#endif
  return {root.st_dev, root.st_ino};
}

void read_all(char** environment) {
  for (char** at = environment; at != nullptr && *at != nullptr; ++at) {
    read_entry(*at);
  }
  // A rank that hangs is explained by what its threads wait for.
  constexpr uint64_t kHangHz = 10;
  if (g_options.collectives && g_entries[kRow_host_samples] == nullptr && !g_options.host_samples.wanted())
    g_options.host_samples.hz = kHangHz;
  note_folder();
  g_root = root_now();
}

}  // namespace

bool detail::read_options_now() {
  // Before libc's own start, or after a library cleared the environment: the defaults, for now.
  if (environment() == nullptr) return true;
  Reading expected = Reading::NotYet;
  if (!g_reading.compare_exchange_strong(expected, Reading::Now, std::memory_order_acq_rel))
    return expected == Reading::Done;
  const int saved = errno;
  if (getauxval(AT_SECURE) == 0) read_all(environment());
  errno = saved;
  g_reading.store(Reading::Done, std::memory_order_release);
  return true;
}

void read_options(char** environment, const Options& defaults) {
  g_options = defaults;
  g_texts_used = 0;
  g_not_valid = 0;
  std::memset(g_entries, 0, sizeof g_entries);
  read_all(environment);
  detail::g_reading.store(detail::Reading::Done, std::memory_order_release);
}

bool root_changed() {
  const Root now = root_now();
  return now.inode != 0 && g_root.inode != 0 && (now.inode != g_root.inode || now.device != g_root.device);
}

std::string_view output_folder() { return g_folder; }

bool set_option(uint32_t row, SetOption& to) {
  if (g_entries[row] == nullptr) return false;
  to = {g_entries[row], nullptr, nullptr, (g_not_valid >> row & 1) == 0};
  switch (row) {  // a table of texts would be relocated in every process
#define PROF_OPTION(member, name, Type, initial, flag, texts, help) \
  case kRow_##member:                                               \
    to.variable = name, to.values = texts;                          \
    break;
#define PROF_CHOICES(member, name, Type, Enum, initial, flag, words, help)  \
  case kRow_##member:                                                       \
    to.variable = name, to.values = option::ValuesOf<option::Enum>::text(); \
    break;
#include "preload/format/options.def"
#undef PROF_OPTION
#undef PROF_CHOICES
    default: break;
  }
  return true;
}

uint32_t option_row_of(const char* entry) {
  if (std::strncmp(entry, "PROF_", 5) != 0) return kOptionCount;
  const char* const equals = std::strchr(entry, '=');
  return equals != nullptr ? row_of({entry, static_cast<size_t>(equals - entry)}) : kOptionCount;
}

}  // namespace prof::preload
