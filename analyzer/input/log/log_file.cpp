// See log_file.h. This file: opening, decompression and the header. log_index.cpp: the blocks.
#include "analyzer/input/log/log_file.h"

#include "analyzer/base/input_error.h"
#include "analyzer/input/log/log_liveness.h"
#include "analyzer/input/log/ring_copy.h"
#include "preload/format/loss_counters.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prof::analyzer {

namespace {

constexpr uint64_t kFirstBlock = format::kBlocksOffset;

LogError make_error(LogErrorKind kind, std::string what, uint64_t offset = 0, std::string advice = {}) {
  return {kind, std::move(what), offset, std::move(advice)};
}

LogError open_error(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return make_error(LogErrorKind::NotFound, "there is no such file");
    case EACCES:
    case EPERM:
      return make_error(LogErrorKind::NoPermission, "no permission to read it", 0,
                        "logs are made readable for their owner alone: read it as that user");
    default: return make_error(LogErrorKind::CannotRead, fmt::format("cannot be read: {}", std::strerror(error)));
  }
}

}  // namespace

std::string LogError::text(std::string_view path) const {
  std::string out = fmt::format("{}: {}", path, what);
  if (offset != 0) out += fmt::format(" (at offset {})", offset);
  if (!advice.empty()) out += "; " + advice;
  return out;
}

LogFile::~LogFile() {
  if (mapped_) munmap(const_cast<uint8_t*>(data_), size_);
  if (fd_ >= 0) close(fd_);
}

LogOpenResult LogFile::open(const std::string& path) {
  std::unique_ptr<LogFile> log(new LogFile);
  LogError error;
  log->path_ = path;
  if (!log->map(path, error)) return {nullptr, error};
  return reading_file(path, [&] { return finish(std::move(log)); });
}

LogOpenResult LogFile::from_memory(std::vector<uint8_t> bytes, std::string name, uint64_t most_rubbish) {
  std::unique_ptr<LogFile> log(new LogFile);
  log->most_rubbish_ = most_rubbish;
  log->path_ = std::move(name);
  log->memory_ = std::move(bytes);
  log->data_ = log->memory_.data();
  log->size_ = log->file_bytes_ = log->memory_.size();
  return finish(std::move(log));
}

LogOpenResult LogFile::finish(std::unique_ptr<LogFile> log) {
  LogError error;
  log->compression_ = compression_of({reinterpret_cast<const char*>(log->data_), log->size_});
  if (log->compressed() && !log->inflate_all(error)) return {nullptr, error};
  if (!log->read_header(error)) return {nullptr, error};
  if (log->still_written() && log->is_ring() && !log->copy_of_ring(error)) return {nullptr, error};
  log->index_blocks();
  return {std::move(log), {}};
}

bool LogFile::map(const std::string& path, LogError& error) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) {
    error = open_error(errno);
    return false;
  }
  struct stat info {};
  if (fstat(fd_, &info) != 0) {
    error = open_error(errno);
    return false;
  }
  if (S_ISDIR(info.st_mode)) {
    error = make_error(LogErrorKind::Directory, "is a directory", 0, "name the logs in it: " + path + "/prof.*.plog");
    return false;
  }
  if (!S_ISREG(info.st_mode)) {
    error = make_error(LogErrorKind::CannotRead, "is not a regular file", 0, "a log is read at several places at once");
    return false;
  }
  size_ = file_bytes_ = static_cast<uint64_t>(info.st_size);
  if (size_ == 0) return true;
  void* const data = mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd_, 0);
  if (data == MAP_FAILED) {
    error = make_error(LogErrorKind::CannotRead, fmt::format("cannot be mapped: {}", std::strerror(errno)));
    size_ = 0;
    return false;
  }
  mapped_ = true;
  data_ = static_cast<const uint8_t*>(data);
  madvise(data, size_, MADV_WILLNEED);
  return true;
}

// Appends whole blocks, or the rest of the file. False: these are no blocks of a log.
bool LogFile::keep_inflated(const uint8_t* bytes, uint64_t size, Rubbish& rubbish) {
  constexpr uint64_t kBlock = format::kBlockBytes;
  const uint64_t begin = inflated_.size();
  if (begin == 0) {
    const uint64_t magic = format::kFileMagic;
    if (std::memcmp(bytes, &magic, std::min<uint64_t>(size, sizeof magic)) != 0) return false;
  }
  inflated_.resize(begin + size);
  for (uint64_t at = 0; at < size; at += kBlock) {
    const uint64_t length = std::min(size - at, kBlock);
    const bool zero = bytes[at] == 0 && std::memcmp(bytes + at, bytes + at + 1, length - 1) == 0;
    if (zero) continue;  // the memory is zero
    std::memcpy(inflated_.data() + begin + at, bytes + at, length);
    uint32_t magic = 0;
    std::memcpy(&magic, bytes + at, std::min<uint64_t>(length, sizeof magic));
    const bool block = magic == format::kBlockMagic || magic == format::kBlockGoneMagic;
    if (block || begin + at < kFirstBlock) {
      rubbish.bytes = 0;
      continue;
    }
    if (rubbish.bytes == 0) rubbish.begin = begin + at;
    rubbish.bytes += length;
    if (rubbish.bytes <= most_rubbish_) continue;
    inflated_.resize(rubbish.begin);
    return false;
  }
  return true;
}

bool LogFile::inflate_all(LogError& error) {
  const std::string_view file(reinterpret_cast<const char*>(data_), size_);
  uint64_t at = 0;
  Inflater inflater(
      [&](char* to, size_t room) {
        const size_t size = file.copy(to, room, at);
        at += size;
        return size;
      },
      compression_);
  std::vector<char> piece(64 * format::kBlockBytes);
  Rubbish rubbish;
  bool is_log = true;
  for (size_t got = piece.size(); is_log && got == piece.size();) {
    got = inflater.read(piece.data(), piece.size());
    if (got != 0) is_log = keep_inflated(reinterpret_cast<const uint8_t*>(piece.data()), got, rubbish);
  }
  const uint64_t used = inflated_.size();
  const std::string& damage = inflater.damage();
  if (!is_log && used == 0) {
    error = make_error(LogErrorKind::NotALog, "is not a prof log: it does not start with \\x89PRFLOG\\n", 0,
                       "`prof check` says what kind of file it is");
    return false;
  }
  if (is_log && !damage.empty() && used < kFirstBlock) {
    error = make_error(LogErrorKind::NotALog, damage);
    return false;
  }
  if (!is_log) {
    add_damage(
        DamageKind::BadCompression, used, 0,
        fmt::format("more than {} bytes of the unpacked log are no blocks; what follows is not read (at offset {} "
                    "of the file)",
                    most_rubbish_, inflater.position()));
  } else if (!damage.empty()) {
    add_damage(DamageKind::BadCompression, used, 0, damage + "; what follows is missing");
  }
  if (mapped_) munmap(const_cast<uint8_t*>(data_), size_);
  mapped_ = false;
  memory_ = {};
  data_ = inflated_.data();
  size_ = inflated_.size();
  return true;
}

// A ring changes anywhere while it is read, so it is copied.
bool LogFile::copy_of_ring(LogError& error) {
  std::vector<uint8_t> copy;
  std::string why;
  if (!copy_ring(fd_, copy, why)) {
    error = make_error(LogErrorKind::CannotRead, "is a ring that is being written, and " + why);
    return false;
  }
  if (mapped_) munmap(const_cast<uint8_t*>(data_), size_);
  mapped_ = false;
  memory_ = std::move(copy);
  data_ = memory_.data();
  size_ = memory_.size();
  kinds_ = {};
  counters_.clear();
  if (!read_header(error)) return false;
  changes_ = false;
  return true;
}

bool LogFile::read_header(LogError& error) {
  if (size_ == 0) {
    error = make_error(LogErrorKind::Empty, "is empty", 0,
                       "the program ended before its log had a header, or the file was cut: record again");
    return false;
  }
  const uint64_t magic = format::kFileMagic;
  if (std::memcmp(data_, &magic, std::min<uint64_t>(size_, sizeof magic)) != 0) {
    error = make_error(LogErrorKind::NotALog, "is not a prof log: it does not start with \\x89PRFLOG\\n", 0,
                       "`prof check` says what kind of file it is");
    return false;
  }
  if (size_ < kFirstBlock) {
    error =
        make_error(LogErrorKind::TruncatedHeader,
                   fmt::format("is cut inside its header: {} bytes, a log has at least {}", size_, kFirstBlock), size_);
    return false;
  }
  std::memcpy(&header_, data_, sizeof header_);
  if (header_.version > format::kFormatVersion) {
    error = make_error(
        LogErrorKind::NewerVersion,
        fmt::format("has log version {}; this prof reads versions up to {}", header_.version, format::kFormatVersion),
        offsetof(format::FileHeader, version), "use the prof that came with the recorder, or a newer one");
    return false;
  }
  const auto bad = [&](size_t offset, const std::string& what) {
    error = make_error(LogErrorKind::BadHeader, "has a damaged header: " + what, offset);
    return false;
  };
  if (header_.version == 0) return bad(offsetof(format::FileHeader, version), "version 0 never existed");
  if (header_.header_bytes != format::kHeaderBytes || header_.block_bytes != format::kBlockBytes) {
    return bad(offsetof(format::FileHeader, header_bytes),
               fmt::format("header of {} and blocks of {} bytes; version {} has {} and {}", header_.header_bytes,
                           header_.block_bytes, header_.version, format::kHeaderBytes, format::kBlockBytes));
  }
  const uint64_t text_room = format::kHeaderBytes - sizeof header_;
  if (static_cast<uint64_t>(header_.kind_table_bytes) + header_.counter_names_bytes > text_room) {
    return bad(offsetof(format::FileHeader, kind_table_bytes),
               fmt::format("texts of {} and {} bytes; there is room for {}", header_.kind_table_bytes,
                           header_.counter_names_bytes, text_room));
  }
  const char* const text = reinterpret_cast<const char*>(data_) + sizeof header_;
  kind_text_ = {text, header_.kind_table_bytes};
  counter_text_ = {text + header_.kind_table_bytes, header_.counter_names_bytes};
  size_t bad_at = 0;
  if (!kinds_.parse(kind_text_, bad_at))
    return bad(sizeof header_ + bad_at, "the kind table has a line that is no signature");

  page_ = std::make_unique<format::CounterPage>();
  std::memcpy(page_.get(), data_ + format::kCounterPageOffset, sizeof *page_);
  if (page_->magic != format::kFileMagic) {
    return bad(format::kCounterPageOffset, "the counter page does not start with the log's magic");
  }
  std::string_view names = counter_text_;
  for (size_t i = 0; !names.empty(); ++i) {
    const size_t newline = names.find('\n');
    if (newline == std::string_view::npos || newline == 0 || i == format::kMaxCounters) {
      return bad(sizeof header_ + header_.kind_table_bytes, "the list of counter names cannot be read");
    }
    counters_.push_back({names.substr(0, newline), page_->counter[i]});
    names.remove_prefix(newline + 1);
  }
  still_written_ = fd_ >= 0 && !compressed() && !finished() && writer_is_alive(header_);
  changes_ = still_written_;
  return true;
}

std::optional<uint64_t> LogFile::counter(std::string_view name) const {
  for (const LogCounter& counter : counters_) {
    if (counter.name == name) return counter.value;
  }
  return std::nullopt;
}

void LogFile::add_damage(DamageKind kind, uint64_t offset, uint64_t bytes_lost, std::string what) {
  damage_.push_back({kind, offset, bytes_lost, std::move(what)});
}

}  // namespace prof::analyzer
