#include "preload/pc_sampling/cubin_store.h"

#include "preload/base/clock.h"
#include "preload/base/messages.h"
#include "preload/base/signals.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/format/kept_cubins.h"
#include "preload/log/count.h"
#include "preload/log/log_storage.h"
#include "preload/record/append.h"
#include "preload/record/thread_local.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prof::preload {

#if PROF_CUPTI_PC_SAMPLING

namespace {

constexpr uint32_t kCubins = 8192;  // a power of two
constexpr uint64_t kMostBytes = uint64_t{2} << 30;
constexpr uint32_t kMostProbes = 64;

struct Cubin {
  std::atomic<uint64_t> crc{0};  // 0: free. A checksum of 0 is not stored
  std::atomic<bool> ready{false};
  std::atomic<bool> ambiguous{false};  // other contents have the same checksum
  uint64_t bytes = 0;
  const uint8_t* contents = nullptr;  // a mapping of a file without a name; null: not kept
  // Of the recording; the thread that reads samples owns them.
  format::CubinId id{};
};
Cubin g_cubins[kCubins];
std::atomic<uint64_t> g_stored_bytes{0};
std::atomic<ComputeCrc> g_program_callback{nullptr};
std::atomic<bool> g_registered{false};
uint32_t g_last_id = 0;

// As for the log: 5 % of the disk is left to the program.
bool disk_has_room(int fd, uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) return false;
  struct statfs fs {};
  if (fstatfs(fd, &fs) != 0 || fs.f_blocks == 0) return true;
  const uint64_t keep = static_cast<uint64_t>(fs.f_blocks) / 20, there = static_cast<uint64_t>(fs.f_bavail);
  return there > keep && (there - keep) * static_cast<uint64_t>(fs.f_bsize) >= bytes;
}

// A new file without a name in the folder of the log.
int open_nameless() {
  char path[4096 + 32];
  const char* const log = g_log.path();
  const char* const slash = std::strrchr(log, '/');
  const size_t size = slash != nullptr ? static_cast<size_t>(slash - log) + 1 : 0;
  std::memcpy(path, log, size);
  std::memcpy(path + size, ".", 2);
  const int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  // A file system without such files.
  constexpr char kName[] = ".libprof-cubin-XXXXXX";
  std::memcpy(path + size, kName, sizeof kName);
  const int named = mkostemp(path, O_CLOEXEC);
  if (named >= 0) unlink(path);
  return named;
}

// No descriptor stays open: a program may close all of them. Null: there is no room.
const uint8_t* store(const void* cubin, size_t bytes) {
  if (g_stored_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes > kMostBytes) return nullptr;
  const WriteSignalsBlocked guard;
  const int fd = open_nameless();
  if (fd < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (disk_has_room(fd, bytes) && fallocate(fd, 0, 0, static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return nullptr;
  std::memcpy(memory, cubin, bytes);
  madvise(memory, bytes, MADV_DONTNEED);  // the page cache has it
  return static_cast<const uint8_t*>(memory);
}

Cubin* find(uint64_t crc) {
  uint32_t at = static_cast<uint32_t>(crc ^ crc >> 32);
  for (uint32_t probe = 0; probe < kMostProbes; ++probe, ++at) {
    Cubin& cubin = g_cubins[at % kCubins];
    const uint64_t there = cubin.crc.load(std::memory_order_acquire);
    if (there == crc) return &cubin;
    if (there == 0) return nullptr;
  }
  return nullptr;
}

void remember(uint64_t crc, const void* contents, size_t bytes) {
  uint32_t at = static_cast<uint32_t>(crc ^ crc >> 32);
  for (uint32_t probe = 0; crc != 0 && probe < kMostProbes; ++probe, ++at) {
    Cubin& cubin = g_cubins[at % kCubins];
    uint64_t there = 0;
    if (cubin.crc.compare_exchange_strong(there, crc, std::memory_order_acq_rel)) {
      cubin.bytes = bytes;
      cubin.contents = store(contents, bytes);
      if (cubin.contents == nullptr) count(format::LossCounter::pc_cubins_not_kept);
      cubin.ready.store(true, std::memory_order_release);
      return;
    }
    if (there != crc) continue;
    // Usually the same contents again. If another thread is still copying them, they are taken to be the same.
    const bool ready = cubin.ready.load(std::memory_order_acquire);
    const bool same = !ready || (cubin.bytes == bytes &&
                                 (cubin.contents == nullptr || std::memcmp(cubin.contents, contents, bytes) == 0));
    if (!same && !cubin.ambiguous.exchange(true)) count(format::LossCounter::pc_cubins_not_kept);
    return;
  }
  count(format::LossCounter::pc_cubins_not_kept);
}

uint64_t crc_by_cupti(const void* cubin, size_t bytes) {
  CUpti_GetCubinCrcParams params{};
  params.size = CUpti_GetCubinCrcParamsSize;
  params.cubin = cubin;
  params.cubinSize = bytes;
  if (g_cupti.api.cuptiGetCubinCrc == nullptr || g_cupti.api.cuptiGetCubinCrc(&params) != CUPTI_SUCCESS) return 0;
  return params.cubinCrc;
}

void CUPTIAPI compute_cubin_crc(const void* cubin, size_t bytes, uint64_t* crc) {
  const KeepErrno keep;
  const uint64_t begin = monotonic_ns();
  *crc = 0;
  uint64_t of_program = 0;
  if (const ComputeCrc callback = g_program_callback.load(std::memory_order_acquire)) {
    callback(cubin, bytes, crc);  // may call hooks: its calls are the program's
    of_program = monotonic_ns() - begin;
  } else {
    *crc = crc_by_cupti(cubin, bytes);
  }
  const OwnCalls own;
  if (cubin != nullptr && bytes != 0) remember(*crc, cubin, bytes);
  count(format::LossCounter::pc_cubin_ns, monotonic_ns() - begin - of_program);
}

bool write_all(int fd, const void* from, uint64_t bytes, uint64_t offset) {
  const auto* at = static_cast<const char*>(from);
  while (bytes != 0) {
    const ssize_t written = pwrite(fd, at, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    bytes -= static_cast<uint64_t>(written);
    offset += static_cast<uint64_t>(written);
  }
  return true;
}

bool kept(const Cubin& cubin) {
  return cubin.id != format::CubinId{} && cubin.contents != nullptr && !cubin.ambiguous.load(std::memory_order_relaxed);
}

}  // namespace

bool register_cubin_callback() {
  if (g_registered.load(std::memory_order_acquire)) return true;
  const auto registers = g_cupti.api.cuptiRegisterComputeCrcCallback;
  if (registers == nullptr || registers(compute_cubin_crc) != CUPTI_SUCCESS) return false;
  g_registered.store(true, std::memory_order_release);
  return true;
}

bool cubin_callback_registered() { return g_registered.load(std::memory_order_acquire); }

void set_program_crc_callback(ComputeCrc callback) { g_program_callback.store(callback, std::memory_order_release); }

format::CubinId cubin_with_samples(uint64_t crc) {
  Cubin* const cubin = crc != 0 ? find(crc) : nullptr;
  if (cubin == nullptr || !cubin->ready.load(std::memory_order_acquire)) return {};
  if (cubin->id != format::CubinId{}) return cubin->id;
  format::CubinDef definition;
  definition.id = format::CubinId{++g_last_id};
  definition.crc = crc;
  definition.bytes = cubin->bytes;
  definition.kept = cubin->contents != nullptr && !cubin->ambiguous.load(std::memory_order_relaxed) ? 1 : 0;
  if (define(definition)) cubin->id = definition.id;
  return cubin->id;
}

void restart_cubins() {
  g_last_id = 0;
  for (Cubin& cubin : g_cubins) {
    if (cubin.crc.load(std::memory_order_relaxed) != 0) cubin.id = {};
  }
}

uint32_t keep_cubins() {
  uint32_t count_kept = 0;
  for (const Cubin& cubin : g_cubins) count_kept += kept(cubin) ? 1 : 0;
  if (count_kept == 0) return 0;
  char path[4096 + 16];
  const size_t size = std::strlen(g_log.path());
  std::memcpy(path, g_log.path(), size);
  std::memcpy(path + size, format::kCubinFileEnding, sizeof format::kCubinFileEnding);
  const WriteSignalsBlocked guard;
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  uint64_t entry_at = sizeof(format::CubinFileHeader);
  uint64_t contents_at = entry_at + count_kept * sizeof(format::CubinFileEntry);
  bool ok = fd >= 0;
  for (const Cubin& cubin : g_cubins) {
    if (!ok || !kept(cubin)) continue;
    format::CubinFileEntry entry;
    entry.crc = cubin.crc.load(std::memory_order_relaxed);
    entry.offset = contents_at;
    entry.bytes = cubin.bytes;
    ok = disk_has_room(fd, cubin.bytes) && write_all(fd, &entry, sizeof entry, entry_at) &&
         write_all(fd, cubin.contents, cubin.bytes, contents_at);
    madvise(const_cast<uint8_t*>(cubin.contents), cubin.bytes, MADV_DONTNEED);
    entry_at += sizeof entry;
    contents_at += cubin.bytes;
  }
  const format::CubinFileHeader header{.count = count_kept};
  ok = ok && write_all(fd, &header, sizeof header, 0);  // last: a file without it is not complete
  if (fd >= 0) close(fd);
  if (ok) return count_kept;
  if (fd >= 0) unlink(path);
  count(format::LossCounter::pc_cubins_not_kept, count_kept);
  static std::atomic<bool> said{false};
  say(said, "the cubins of PC samples cannot be kept: ", path, " cannot be written");
  return 0;
}

#else

bool register_cubin_callback() { return false; }
bool cubin_callback_registered() { return false; }
void set_program_crc_callback(ComputeCrc) {}
format::CubinId cubin_with_samples(uint64_t) { return {}; }
void restart_cubins() {}
uint32_t keep_cubins() { return 0; }

#endif

}  // namespace prof::preload
