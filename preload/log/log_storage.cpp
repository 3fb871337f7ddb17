#include "preload/log/log_storage.h"

#include "preload/base/clock.h"
#include "preload/base/messages.h"
#include "preload/base/page_size.h"
#include "preload/base/signals.h"
#include "preload/log/count.h"
#include "preload/log/log_name.h"
#include "preload/log/retired.h"
#include "preload/log/sigbus.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace prof::preload {

LogFile g_log;

namespace {

constexpr int kLowestDescriptor = 512;  // avoids the small numbers that some programs expect to be free
constexpr unsigned kMaxAttempts = 1000;
constexpr long kXfsMagic = 0x58465342;
constexpr long kOverlayMagic = 0x794c7630;

// fstat by system call: glibc < 2.33 has no such symbol, and later ones give it a new version.
bool stat_descriptor(int fd, struct stat& out) {
#if defined(SYS_newfstatat)
  return syscall(SYS_newfstatat, fd, "", &out, AT_EMPTY_PATH) == 0;
#else
  return syscall(SYS_fstat, fd, &out) == 0;
#endif
}

// On these file systems shared mappings are reliable: readable after a kill, without stale pages.
bool mapping_trusted(int fd) {
  struct statfs fs {};
  if (fstatfs(fd, &fs) != 0) return false;
  const long type = static_cast<long>(fs.f_type);
  return type == EXT4_SUPER_MAGIC || type == kXfsMagic || type == TMPFS_MAGIC || type == kOverlayMagic ||
         type == BTRFS_SUPER_MAGIC;
}

int move_up(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high < 0) return fd;
  close(fd);
  return high;
}

// Creates the folders of a file's path that do not exist (mode 0700, whatever the umask). Returns whether it created
// any.
bool make_folders_of(const char* path) {
  char folder[PATH_MAX];
  bool created = false;
  for (const char* slash = std::strchr(path + 1, '/'); slash != nullptr; slash = std::strchr(slash + 1, '/')) {
    const size_t size = static_cast<size_t>(slash - path);
    if (size >= sizeof folder) return created;
    std::memcpy(folder, path, size);
    folder[size] = '\0';
    if (mkdir(folder, 0700) != 0) continue;
    chmod(folder, 0700);
    created = true;
  }
  return created;
}

}  // namespace

bool LogFile::open_new(std::string_view folder, std::string_view output, unsigned part) {
  static std::atomic<bool> said{false};
  for (unsigned attempt = part; attempt < part + kMaxAttempts; ++attempt) {
    if (!make_log_name(path_, sizeof path_, folder, output, attempt)) {
      say(said, "PROF_OUTPUT gives a file name that is too long; nothing is recorded");
      return false;
    }
    const auto create = [&] { return open(path_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600); };
    int fd = create();
    if (fd < 0 && errno == ENOENT && make_folders_of(path_)) fd = create();
    if (fd >= 0) {
      fd_ = fd;
      struct stat s {};
      if (!stat_descriptor(fd_, s)) {
        discard();
        say(said, "fstat() of the log is refused (seccomp?), so it cannot be protected; nothing is recorded");
        return false;
      }
      if ((s.st_mode & 0777) != 0600) fchmod(fd_, 0600);  // the umask took rights away
      device_ = s.st_dev;
      inode_ = s.st_ino;
      if (root_changed()) {
        static std::atomic<bool> told{false};
        say(told, "the program changed its root directory; the log is ", path_, " there");
      }
      return true;
    }
    if (errno != EEXIST) break;
  }
  say(said, "cannot create ", path_, ": ",
      errno == ENOENT   ? "no such folder"
      : errno == EACCES ? "no permission"
      : errno == EROFS  ? "read-only file system"
      : errno == ENOSPC ? "disk full"
      : errno == EMFILE ? "too many open files"
                        : "open failed");
  return false;
}

bool LogFile::create(std::string_view folder, std::string_view output, const LogLimits& limits, unsigned part) {
  static std::atomic<bool> said{false};
  max_bytes_ = limits.max_bytes;
  if (!open_new(folder, output, part)) return false;
  backing_ = mapping_trusted(fd_) ? format::Backing::Mapped : format::Backing::Written;
  end_.store(0, std::memory_order_relaxed);
  blocks_at_end_.store(kNotClosed, std::memory_order_relaxed);
  uint64_t bytes = format::kBlocksOffset;
  uint64_t offset = 0;
  void* const pages = extend(bytes, offset);
  if (pages == nullptr || bytes < format::kBlocksOffset) {
    say(said, "no room for a log in ", path_, "; nothing is recorded");
    discard();
    return false;
  }
  header_ = static_cast<format::FileHeader*>(pages);
  counters_.store(reinterpret_cast<format::CounterPage*>(static_cast<char*>(pages) + format::kCounterPageOffset),
                  std::memory_order_release);
  return true;
}

void LogFile::discard() {
  unlink(path_);
  close(fd_);
  fd_ = -1;
  header_ = nullptr;
  counters_.store(nullptr, std::memory_order_release);
}

bool LogFile::is_ours(int fd) const {
  struct stat s {};
  return fd >= 0 && stat_descriptor(fd, s) && s.st_dev == device_ && s.st_ino == inode_;
}

void LogFile::move_descriptor() {
  int low = fd_;
  if (low < 0 || low >= kLowestDescriptor) return;
  const int high = fcntl(low, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high < 0) return;
  if (!is_ours(high) || !fd_.compare_exchange_strong(low, high)) {
    close(high);
    return;
  }
  // A thread that is extending the log may still use the low number. If it takes long, that stays open.
  for (int i = 0; users_.load() != 0; ++i) {
    if (i == 100) return;
    sleep_ns(1'000'000);
  }
  if (is_ours(low)) close(low);
}

bool LogFile::ours() {
  struct stat s {};
  if (is_ours(fd_)) return true;
  count(format::LossCounter::log_replaced);
  fd_ = -1;  // the number belongs to another file now: the recorder must never close it
  const int fd = open(path_, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  if (!stat_descriptor(fd, s) || s.st_dev != device_ || s.st_ino != inode_) {
    close(fd);
    return false;
  }
  fd_ = move_up(fd);
  return true;
}

// Computes how many bytes of [end, end + bytes) the limits allow.
bool LogFile::room_for(uint64_t end, uint64_t bytes, uint64_t& allowed) {
  allowed = bytes;
  const auto cap = [&](uint64_t limit) {
    const uint64_t left = limit > end ? (limit - end) / format::kBlockBytes * format::kBlockBytes : 0;
    if (left < allowed) allowed = left;
  };
  cap(max_bytes_);
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) cap(limit.rlim_cur);
  struct statfs fs {};
  if (fstatfs(fd_, &fs) == 0 && fs.f_blocks != 0) {
    // Leave 5 % of the disk to the program.
    const uint64_t keep = static_cast<uint64_t>(fs.f_blocks) / 20;
    const uint64_t spare =
        fs.f_bavail > keep ? (static_cast<uint64_t>(fs.f_bavail) - keep) * static_cast<uint64_t>(fs.f_bsize) : 0;
    cap(end + spare);
  }
  return allowed != 0;
}

bool LogFile::reserve(uint64_t offset, uint64_t bytes) {
  const WriteSignalsBlocked guard;
  if (backing_ == format::Backing::Written) return true;
  int result = 0;
  do result = fallocate(fd_, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  while (result != 0 && errno == EINTR);
  if (result == 0) return true;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
  // No fallocate on this file system. Zeros are written instead, so that a full disk is an error now and not a SIGBUS
  // at a later store.
  static const char zeros[format::kBlockBytes] = {};
  for (uint64_t at = offset; at < offset + bytes; at += sizeof zeros) {
    if (pwrite(fd_, zeros, sizeof zeros, static_cast<off_t>(at)) != static_cast<ssize_t>(sizeof zeros)) return false;
  }
  return true;
}

// A mapping begins with a page. If pages are larger than blocks, it has blocks of others before those at `offset`.
void* LogFile::map(uint64_t offset, uint64_t bytes) {
  if (backing_ == format::Backing::Written)
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const uint64_t begin = page_begin(offset), before = offset - begin;
  void* const memory =
      mmap(nullptr, before + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.load(), static_cast<off_t>(begin));
  if (memory == MAP_FAILED) return MAP_FAILED;
  guard_mapping(memory, before + bytes);
  return static_cast<char*>(memory) + before;
}

format::Block* LogFile::extend(uint64_t& bytes, uint64_t& offset) {
  const int saved = errno;
  void* memory = MAP_FAILED;
  users_.fetch_add(1);
  if (ours()) {
    while (bytes != 0) {
      uint64_t end = end_.load(std::memory_order_relaxed);
      uint64_t allowed = 0;
      if (!room_for(end, bytes, allowed)) break;
      if (!end_.compare_exchange_strong(end, end + allowed, std::memory_order_acq_rel)) continue;
      bytes = allowed;
      offset = end;
      if (reserve(offset, bytes)) {
        memory = map(offset, bytes);
        break;
      }
      // There is not so much room. Give this range back if no other thread reserved one after it, and try a smaller
      // range.
      uint64_t expected = offset + bytes;
      end_.compare_exchange_strong(expected, offset, std::memory_order_acq_rel);
      bytes = bytes / 4 / format::kBlockBytes * format::kBlockBytes;
    }
  }
  users_.fetch_sub(1);
  errno = saved;
  if (memory == MAP_FAILED) {
    bytes = 0;
    return nullptr;
  }
  if (format::CounterPage* const page = counters(); page != nullptr) {
    const uint64_t blocks = (end_.load(std::memory_order_relaxed) - format::kBlocksOffset) / format::kBlockBytes;
    std::atomic_ref(page->blocks_reserved).store(blocks, std::memory_order_seq_cst);
    // If the log was closed meanwhile, the number that closing wrote is valid, whichever store came last.
    if (const uint64_t last = blocks_at_end_.load(std::memory_order_seq_cst); last != kNotClosed)
      std::atomic_ref(page->blocks_reserved).store(last, std::memory_order_seq_cst);
  }
  return static_cast<format::Block*>(memory);
}

void LogFile::write_back(const void* from, uint64_t bytes, uint64_t offset) {
  if (backing_ != format::Backing::Written || !ours()) return;
  const WriteSignalsBlocked guard;
  const char* at = static_cast<const char*>(from);
  while (bytes != 0) {
    // By system call: libc's pwrite is a cancellation point. The pages change meanwhile. The kernel copies a block from
    // its header on, so `committed` is never ahead of its records. The next copy contains what came later.
    const long done = syscall(SYS_pwrite64, fd_.load(), at, bytes, static_cast<off_t>(offset));
    if (done <= 0) {
      if (done < 0 && errno == EINTR) continue;
      count(format::LossCounter::log_extend_failed);
      static std::atomic<bool> said{false};
      say(said, "cannot write the log (disk, quota or ulimit -f); it is tried again every second: ", path_);
      return;
    }
    at += done;
    offset += static_cast<uint64_t>(done);
    bytes -= static_cast<uint64_t>(done);
  }
}

void LogFile::write_back_header() { write_back(header_, format::kBlocksOffset, 0); }

void LogFile::finish(uint64_t end, uint64_t monotonic_ns) {
  format::CounterPage* const page = counters();
  page->finished = monotonic_ns;
  const uint64_t blocks = (end - format::kBlocksOffset) / format::kBlockBytes;
  blocks_at_end_.store(blocks, std::memory_order_seq_cst);
  std::atomic_ref(page->blocks_reserved).store(blocks, std::memory_order_seq_cst);
  write_back_header();
  if (backing_ == format::Backing::Mapped && ours()) {
    const int done = ftruncate(fd_, static_cast<off_t>(end));
    static_cast<void>(done);  // the tail stays: zeros, which a reader takes for unused blocks
  }
}

void LogFile::abandon() {
  if (is_ours(fd_)) close(fd_);
  fd_ = -1;
  users_.store(0);
  header_ = nullptr;
  counters_.store(nullptr, std::memory_order_relaxed);
}

void LogFile::retire(uint64_t life) {
  // Threads that are not recorded count in this page and read it for prof ctl. Nothing can wait for them. So the pages
  // are kept for as many recordings as no thread sleeps through between two instructions.
  constexpr uint32_t kKept = 64;
  static void* kept[kKept];
  static uint32_t next = 0;
  if (header_ != nullptr) {
    empty_log_pages(header_, format::kBlocksOffset);
    void*& oldest = kept[next++ % kKept];
    retire_memory(oldest, format::kBlocksOffset, life);
    oldest = header_;
  }
  abandon();
}

}  // namespace prof::preload
