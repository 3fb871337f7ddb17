#include "preload/stacks/code_images.h"

#include "preload/base/loader_call.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/texts.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"
#include "preload/stacks/cfi.h"
#include "preload/stacks/mapped_file.h"
#include "preload/stacks/rule_table.h"

#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace prof::preload {

namespace {

constexpr uint32_t kMostImages = 4096;
constexpr size_t kPathsBytes = 1u << 20;
constexpr int kMostTries = 4;  // if the loader's list changed while it was read

enum Written : uint32_t { kNotYet = 0, kBeingWritten = 1, kWritten = 2 };

struct Image : MappedFile {
  uint64_t generation, gone_generation;
  const char* path;  // "": the program itself
  uint32_t id;
  uint32_t met, seen;  // first and last pass through the loader's list that contained it
  bool gone;
  std::atomic<uint32_t> written, gone_written;  // to the log: Written
};

// Only the callback touches this table, except the counts and `written`.
struct Table {
  Image* images = nullptr;
  char* paths = nullptr;
  size_t paths_used = 0;
  std::atomic<uint32_t> count{0};      // slots of `images` in use
  std::atomic<uint32_t> seen{0};       // images so far, which is the last id
  std::atomic<uint32_t> unwritten{0};  // not 0: records are due
  uint64_t adds = 0, subs = 0;         // the loader's counts when the table was made
  uint32_t passes = 0, swept = 0;      // passes through the list; the last one after which missing images were marked
};
Table g_table;

constexpr const char* kNoRoom = "?";

const char* keep_path(const char* path) {
  const size_t size = std::strlen(path) + 1;
  if (size > kPathsBytes - g_table.paths_used) {
    count(format::LossCounter::text_cut);
    return kNoRoom;
  }
  char* const to = g_table.paths + g_table.paths_used;
  std::memcpy(to, path, size);
  g_table.paths_used += size;
  return to;
}

Image* find_image(uint64_t pc) {
  const uint32_t n = g_table.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < n; ++i) {
    Image& image = g_table.images[i];
    if (pc >= image.begin && pc < image.end && !image.gone) return &image;
  }
  return nullptr;
}

// A slot whose unload record is written, or a new one. Null: the table is full.
Image* take_slot() {
  const uint32_t n = g_table.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; n == kMostImages && i < n; ++i) {
    Image& image = g_table.images[i];
    if (image.gone && image.gone_written.load(std::memory_order_acquire) == kWritten) return &image;
  }
  return n == kMostImages ? nullptr : &g_table.images[n];
}

void add_image(const dl_phdr_info& info, const MappedFile& found) {
  Image* const slot = take_slot();
  if (slot == nullptr) {
    count(format::LossCounter::intern_full);
    return;
  }
  const bool is_new = slot == &g_table.images[g_table.count.load(std::memory_order_relaxed)];
  slot->written.store(kBeingWritten, std::memory_order_relaxed);  // until all fields are set
  slot->base = found.base;
  slot->begin = found.begin;
  slot->end = found.end;
  slot->tables = found.tables;
  slot->generation = code_generation();
  slot->gone = false;
  slot->gone_written.store(kNotYet, std::memory_order_relaxed);
  slot->build_id_bytes = 0;
  find_build_id(info, *slot);
  const char* const name = info.dlpi_name != nullptr ? info.dlpi_name : "";
  const bool vdso = is_vdso(name);
  slot->path = vdso ? "" : keep_path(name);
  slot->met = slot->seen = g_table.passes;
  slot->id = g_table.seen.fetch_add(1, std::memory_order_relaxed) + 1;
  slot->written.store(vdso ? kWritten : kNotYet, std::memory_order_release);
  if (vdso) slot->gone_written.store(kWritten, std::memory_order_relaxed);
  if (is_new) g_table.count.fetch_add(1, std::memory_order_release);
  if (!vdso) g_table.unwritten.store(1, std::memory_order_release);
}

void next_generation() {
  const uint64_t generation = g_code_generation.fetch_add(1, std::memory_order_acq_rel) + 1;
  if ((generation & 0xff) == 0) g_rules.clear();
}

// The purpose of one call of dl_iterate_phdr.
struct Pass {
  enum What : uint8_t { Ask, Renew } what = Ask;
  uint64_t pc = 0;   // Ask: the address whose rule is wanted; 0: none
  uint64_t key = 0;  // of the rule in g_rules; 0: it is not stored
  bool first = true;
  bool stale = false;  // Ask: the table differs from the loader's list
  UnwindEntry found;
};

#if defined(__aarch64__)
// Linux has no unwind table for the code in the vDSO to which a signal handler returns. Unwinders recognise its
// instructions: mov x8, 139 (rt_sigreturn); svc 0.
bool is_signal_return(const Image& image, uint64_t return_address) {
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  if (vdso < image.begin || vdso >= image.end || return_address + 8 > image.end) return false;
  uint32_t code[2];
  std::memcpy(code, reinterpret_cast<const void*>(return_address), sizeof code);
  return code[0] == 0xd2801168 && code[1] == 0xd4000001;
}
#endif

void answer(Pass& pass) {
  if (pass.pc == 0) return;
  const Image* const image = find_image(pass.pc);
  if (image != nullptr) pass.found = unwind_entry_at(image->tables, pass.pc);
  if (pass.key == 0) return;
  UnwindRule& rule = pass.found.rule;
#if defined(__aarch64__)
  const bool interrupted = (pass.key & 1) != 0;
  if (image != nullptr && rule.kind() == RuleKind::Unknown && !interrupted && is_signal_return(*image, pass.pc + 1))
    rule = UnwindRule::of(RuleKind::Signal);
#endif
  if (image == nullptr || rule.kind() == RuleKind::Unknown)
    rule = {rule.word | (uint64_t{g_table.seen.load(std::memory_order_relaxed)} & 0xffffff) << 7};
  g_rules.put(pass.key, rule, static_cast<uint8_t>(code_generation()));
}

// Marks the images that the last pass through the list did not contain as unloaded.
void sweep() {
  g_table.swept = g_table.passes;
  bool any = false;
  const uint32_t n = g_table.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < n; ++i) {
    Image& image = g_table.images[i];
    if (image.gone || image.seen == g_table.passes) continue;
    if (!any) next_generation();
    any = true;
    image.gone = true;
    image.gone_generation = code_generation();
    g_table.unwritten.store(1, std::memory_order_release);
  }
  for (uint32_t i = 0; any && i < n; ++i) {  // new images came after the unloaded ones
    Image& image = g_table.images[i];
    if (!image.gone && image.met == g_table.passes) image.generation = code_generation();
  }
}

// Whether the same file is still at its place. Another file may be mapped at the same address after a dlclose.
bool same_image(const Image& known, const MappedFile& found, const dl_phdr_info& info) {
  if (known.gone || known.base != found.base || known.begin != found.begin || known.end != found.end) return false;
  MappedFile now{};
  find_build_id(info, now);
  if (now.build_id_bytes != known.build_id_bytes ||
      std::memcmp(now.build_id, known.build_id, now.build_id_bytes) != 0) {
    return false;
  }
  const char* const name = info.dlpi_name != nullptr ? info.dlpi_name : "";
  return std::strcmp(known.path, name) == 0 || std::strcmp(known.path, kNoRoom) == 0 || is_vdso(name);
}

int on_image(dl_phdr_info* info, size_t, void* argument) {
  Pass& pass = *static_cast<Pass*>(argument);
  if (pass.what == Pass::Ask) {
    pass.stale = info->dlpi_adds != g_table.adds || info->dlpi_subs != g_table.subs;
    if (pass.stale) return 1;
    if (g_table.swept != g_table.passes) sweep();
    answer(pass);
    return 1;
  }
  if (pass.first) {
    pass.first = false;
    ++g_table.passes;
    g_table.adds = info->dlpi_adds;
    g_table.subs = info->dlpi_subs;
  }
  MappedFile found{};
  if (!find_segments(*info, found)) return 0;
  const uint32_t n = g_table.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < n; ++i) {
    Image& image = g_table.images[i];
    if (!same_image(image, found, *info)) continue;
    image.seen = g_table.passes;
    return 0;
  }
  add_image(*info, found);
  return 0;
}

// One thread at a time reads the list. A signal handler may interrupt it on the same thread, because the loader's lock
// is recursive.
void read_list(Pass& pass) {
  t_local.state->learning = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  for (int i = 0; i < kMostTries; ++i) {
    visit_objects(on_image, &pass);
    if (!pass.stale) break;
    Pass renew;
    renew.what = Pass::Renew;
    visit_objects(on_image, &renew);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_local.state->learning = 0;
}

void write_image(const Image& image) {
  char self[4096];
  const char* path = image.path;
  if (path[0] == '\0') {
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    self[size > 0 ? size : 0] = '\0';
    path = self;
  }
  format::ImageDef def;
  def.id = format::ImageId{image.id};
  def.generation = image.generation;
  def.base = image.base;
  def.begin = image.begin;
  def.end = image.end;
  def.path = intern_lasting_string(path);
  char digits[2 * sizeof image.build_id];
  for (uint32_t i = 0; i < image.build_id_bytes; ++i) {
    digits[2 * i] = "0123456789abcdef"[image.build_id[i] >> 4];
    digits[2 * i + 1] = "0123456789abcdef"[image.build_id[i] & 15];
  }
  def.build_id = {digits, 2 * size_t{image.build_id_bytes}};
  struct stat file {};
  if (syscall(SYS_newfstatat, AT_FDCWD, path, &file, 0) == 0) {  // stat() is newer than the oldest glibc
    def.file_bytes = static_cast<uint64_t>(file.st_size);
    def.file_time = static_cast<uint64_t>(file.st_mtime);
  }
  define(def);
}

bool claim(std::atomic<uint32_t>& written) {
  uint32_t expected = kNotYet;
  return written.compare_exchange_strong(expected, kBeingWritten, std::memory_order_acq_rel);
}

}  // namespace

bool is_outdated(UnwindRule unknown) {
  return (unknown.word >> 7 & 0xffffff) != (g_table.seen.load(std::memory_order_relaxed) & 0xffffff);
}

__attribute__((noinline)) UnwindRule learn_rule(uint64_t pc, uint64_t key) {
  Pass pass;
  pass.pc = pc;
  pass.key = key;
  read_list(pass);
  return pass.found.rule;
}

UnwindEntry look_up_entry(uint64_t pc) {
  Pass pass;
  pass.pc = pc;
  read_list(pass);
  return pass.found;
}

__attribute__((noinline)) void look_for_unloaded() {
  if (t_local.state->learning != 0) return;
  Pass pass;
  read_list(pass);
  define_images();
}

void define_images() {
  if (g_table.unwritten.load(std::memory_order_acquire) == 0) return;
  if (g_table.unwritten.exchange(0, std::memory_order_acq_rel) == 0) return;  // another thread writes them
  const uint32_t n = g_table.count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < n; ++i) {
    Image& image = g_table.images[i];
    if (image.written.load(std::memory_order_acquire) == kNotYet && claim(image.written)) {
      write_image(image);
      image.written.store(kWritten, std::memory_order_release);
    }
    if (!image.gone || image.gone_written.load(std::memory_order_acquire) != kNotYet) continue;
    if (image.written.load(std::memory_order_acquire) != kWritten) {  // another thread is writing it
      g_table.unwritten.store(1, std::memory_order_release);
    } else if (claim(image.gone_written)) {
      define(format::ImageGone{format::ImageId{image.id}, image.gone_generation});
      image.gone_written.store(kWritten, std::memory_order_release);
    }
  }
}

void write_images_again() {
  const uint32_t n = g_table.count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < n; ++i) {
    if (!g_table.images[i].gone) g_table.images[i].written.store(kNotYet, std::memory_order_release);
  }
  g_table.unwritten.store(1, std::memory_order_release);
}

bool open_images() {
  constexpr size_t kImages = kMostImages * sizeof(Image), kRules = RuleTable::kSlots * sizeof(RuleTable::Slot);
  static uint8_t* memory = nullptr;
  if (memory != nullptr) munmap(memory, kImages + kRules + kPathsBytes);  // the parent's, in a forked child
  void* const made = mmap(nullptr, kImages + kRules + kPathsBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  memory = made == MAP_FAILED ? nullptr : static_cast<uint8_t*>(made);
  if (memory == nullptr) return false;
  g_table.images = reinterpret_cast<Image*>(memory);
  g_rules.open(reinterpret_cast<RuleTable::Slot*>(memory + kImages));
  g_table.paths = reinterpret_cast<char*>(memory + kImages + kRules);
  g_table.paths_used = 0;
  g_table.count.store(0);
  g_table.seen.store(0);
  g_table.unwritten.store(0);
  g_table.adds = g_table.subs = 0;
  g_table.passes = g_table.swept = 0;
  g_code_generation.store(0, std::memory_order_release);
  return true;
}

}  // namespace prof::preload
