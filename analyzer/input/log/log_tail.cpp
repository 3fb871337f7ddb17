#include "analyzer/input/log/log_tail.h"

#include "analyzer/base/input_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prof::analyzer {

namespace {

constexpr uint64_t kBlock = format::kBlockBytes, kFirst = format::kBlocksOffset;
// Threads take chunks of at most 4 blocks one after another, and write into each soon. After that many empty blocks
// there is none in use.
constexpr uint64_t kEmptyRun = 1024;

}  // namespace

LogTail::LogTail(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) throw InputError(fmt::format("{}: {}", path_, std::strerror(errno)));
  const auto fail = [&](std::string_view why) {
    ::close(fd_);
    throw InputError(fmt::format("{}: {}", path_, why));
  };
  struct stat info {};
  if (fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) fail("is not a regular file");
  device_ = info.st_dev;
  inode_ = info.st_ino;
  file_bytes_ = static_cast<uint64_t>(info.st_size);
  if (!read_at(&header_, sizeof header_, 0) || header_.magic != format::kFileMagic)
    fail("is no log of libprof that can be followed (a compressed log cannot)");
  if (header_.version == 0 || header_.version > format::kFormatVersion ||
      header_.header_bytes != format::kHeaderBytes || header_.block_bytes != format::kBlockBytes)
    fail("has a version or header that this prof does not read; `prof check` describes it");
  const uint64_t room = format::kHeaderBytes - sizeof header_;
  const uint64_t texts = uint64_t{header_.kind_table_bytes} + header_.counter_names_bytes;
  text_.resize(std::min(texts, room));
  size_t bad_at = 0;
  if (texts > room || !read_at(text_.data(), text_.size(), sizeof header_) ||
      !kinds_.parse(std::string_view(text_).substr(0, header_.kind_table_bytes), bad_at))
    fail("has a damaged header; `prof check` describes it");
  std::string_view names = std::string_view(text_).substr(header_.kind_table_bytes);
  for (size_t end = names.find('\n'); end != std::string_view::npos; end = names.find('\n')) {
    counter_names_.emplace_back(names.substr(0, end));
    names.remove_prefix(end + 1);
  }
  look_at_file();
  if (is_ring()) return;
  find_end();
  const uint64_t recent = frontier_ > kRecentBlocks ? frontier_ - kRecentBlocks : 0;
  from_the_start_ = recent == 0;
  survey_ = recent;
  frontier_ = scan_ = recent;
}

LogTail::~LogTail() {
  if (fd_ >= 0) ::close(fd_);
}

bool LogTail::replaced() const {
  struct stat info {};
  return stat(path_.c_str(), &info) == 0 && (info.st_dev != device_ || info.st_ino != inode_);
}

bool LogTail::read_at(void* to, size_t bytes, uint64_t offset) const {
  ssize_t done = 0;
  do {
    done = pread(fd_, to, bytes, static_cast<off_t>(offset));
  } while (done < 0 && errno == EINTR);
  return done == static_cast<ssize_t>(bytes);
}

bool LogTail::read_header(uint64_t block, format::BlockHeader& header) const {
  return read_at(&header, sizeof header, kFirst + block * kBlock);
}

void LogTail::look_at_file() {
  struct stat info {};
  if (fstat(fd_, &info) == 0) file_bytes_ = static_cast<uint64_t>(info.st_size);
  const uint64_t blocks = file_bytes_ > kFirst ? (file_bytes_ - kFirst) / kBlock : 0;
  if (blocks_ != 0 && blocks > blocks_) stretches_.push_back(blocks_);
  blocks_ = blocks;
  (void)read_at(page_.get(), sizeof *page_, format::kCounterPageOffset);
  scan_ = frontier_;
}

// The end of the used blocks, found from the end of the file.
void LogTail::find_end() {
  frontier_ = blocks_;
  format::BlockHeader header{};
  while (frontier_ > 0 && (!read_header(frontier_ - 1, header) || header.magic != format::kBlockMagic)) --frontier_;
}

bool LogTail::load(uint64_t block) {
  format::BlockHeader first{}, header{};
  // The header first: the payload that is read after it has at least the records that it counts.
  if (!read_header(block, first) || first.magic != format::kBlockMagic) return false;
  if (!read_at(bytes_.data(), kBlock, kFirst + block * kBlock)) return false;
  std::memcpy(&header, bytes_.data(), sizeof header);
  if (header.magic != first.magic || header.thread != first.thread || header.kind != first.kind ||
      header.sequence != first.sequence)
    return false;  // a block of a ring that was reused meanwhile: the next call reads it
  if (first.committed > format::kPayloadBytes) {
    ++damaged_;
    return false;
  }
  block_.offset = kFirst + block * kBlock;
  block_.kind = first.kind;
  block_.thread = first.thread;
  block_.sequence = first.sequence;
  block_.base_tick = first.base_tick;
  block_.committed = block_.readable = first.committed;
  block_.records = first.records;
  block_.sealed = (first.flags & format::kBlockSealed) != 0;
  return true;
}

bool LogTail::load_polled(size_t i, uint32_t& already) {
  Polled& polled = polled_[i];
  format::BlockHeader header{};
  if (!read_header(polled.block, header) || header.magic != format::kBlockMagic) return false;
  const bool sealed = (header.flags & format::kBlockSealed) != 0;
  if (header.committed == polled.read) {
    polled.final = sealed;
    return false;
  }
  if (!load(polled.block)) return false;
  already = polled.read;
  polled.read = block_.committed;
  polled.final = block_.sealed;
  return true;
}

void LogTail::drop_final() {
  std::erase_if(polled_, [](const Polled& polled) { return polled.final; });
}

// Loads the next used block from the frontier on.
bool LogTail::next_new() {
  for (;;) {
    uint64_t empty = 0;
    uint64_t at = scan_;
    format::BlockHeader header{};
    while (at < blocks_ && empty < kEmptyRun && (!read_header(at, header) || header.magic != format::kBlockMagic)) {
      ++at;
      ++empty;
    }
    const bool found = at < blocks_ && empty < kEmptyRun;
    if (found) {
      for (uint64_t block = scan_; block < at; ++block) polled_.push_back({block, 0, false});
      scan_ = frontier_ = at + 1;
      if (!load(at)) {
        polled_.push_back({at, 0, false});
        continue;
      }
      if (!block_.sealed) polled_.push_back({at, block_.committed, false});
      return true;
    }
    // Beyond a long run of empty blocks there may be a stretch of a thread that extended the log itself.
    std::erase_if(stretches_, [&](uint64_t start) { return start <= scan_; });
    const auto next = std::find_if(stretches_.begin(), stretches_.end(), [&](uint64_t start) {
      return read_header(start, header) && header.magic == format::kBlockMagic;
    });
    if (next == stretches_.end()) return false;
    for (uint64_t block = scan_; block < *next; ++block) polled_.push_back({block, 0, false});
    scan_ = frontier_ = *next;
  }
}

// Loads the next older block that has definitions; polls those that are open.
bool LogTail::next_old(std::chrono::steady_clock::time_point until) {
  constexpr uint64_t kBetweenLooks = 256;
  format::BlockHeader header{};
  while (survey_ > 0) {
    if (survey_ % kBetweenLooks == 0 && std::chrono::steady_clock::now() >= until) return false;
    --survey_;
    if (!read_header(survey_, header)) continue;
    if (header.magic != format::kBlockMagic) {
      polled_.push_back({survey_, 0, false});
      continue;
    }
    const bool open = (header.flags & format::kBlockSealed) == 0;
    if (open) polled_.push_back({survey_, std::min<uint32_t>(header.committed, format::kPayloadBytes), false});
    if (header.kind == format::BlockKind::Definitions && load(survey_)) {
      if (open) polled_.back().read = block_.committed;
      return true;
    }
  }
  return false;
}

bool LogTail::load_of_ring(uint64_t block, uint32_t& already) {
  if (ring_.size() < blocks_) ring_.resize(blocks_);
  Seen& seen = ring_[block];
  format::BlockHeader header{};
  if (!read_header(block, header) || header.magic != format::kBlockMagic) return false;
  const bool same = seen.sequence == header.sequence && seen.thread == header.thread && seen.kind == header.kind;
  if (same && (seen.sealed || seen.read == header.committed)) {
    seen.sealed = (header.flags & format::kBlockSealed) != 0;
    return false;
  }
  if (!load(block)) return false;
  already = same && seen.sequence == block_.sequence ? seen.read : 0;
  seen = {block_.sequence, block_.thread, block_.committed, block_.kind, block_.sealed};
  return true;
}

}  // namespace prof::analyzer
