#include "analyzer/base/sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace prof::analyzer {

namespace {
constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kBuffersInFlight = 4;
constexpr const char* kMark = "user.prof.written";

std::string mark_of(const struct stat& file) {
  return fmt::format("{} {}.{:09}", file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

void mark_file(const std::string& path) {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0) return;
  const std::string mark = mark_of(file);
  (void)setxattr(path.c_str(), kMark, mark.data(), mark.size(), 0);  // the next -o needs --force if this fails
}
}  // namespace

bool was_written_by_prof(const std::string& path) {
  struct stat file = {};
  char mark[128];
  if (stat(path.c_str(), &file) != 0) return false;
  const ssize_t size = getxattr(path.c_str(), kMark, mark, sizeof mark);
  return size > 0 && std::string_view(mark, static_cast<size_t>(size)) == mark_of(file);
}

void put_in_place(UnfinishedFile& file, const std::string& path) {
  mark_file(file.path());
  if (rename(file.path().c_str(), path.c_str()) != 0)
    throw OutputError(fmt::format("{}: cannot be put in place: {}", path, std::strerror(errno)));
  file.keep();
}

// The open file, which receives bytes as they are.
class Sink::Target {
 public:
  explicit Target(const std::string& path) : path_(path) {
    if (path == "-") {
      fd_ = STDOUT_FILENO;
      return;
    }
    struct stat existing = {};
    const bool special = stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode);
    if (special && S_ISDIR(existing.st_mode)) throw OutputError(fmt::format("{}: is a directory", path));
    if (!special) temporary_ = UnfinishedFile(fmt::format("{}.{}.tmp", path, getpid()));
    const int flags = special ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    fd_ = open(special ? path.c_str() : temporary_.path().c_str(), flags, 0666);
    if (fd_ < 0) {
      temporary_.keep();
      fail("cannot be opened for writing");
    }
  }
  explicit Target(std::string* text) : text_(text) {}
  ~Target() {
    if (fd_ > STDOUT_FILENO) ::close(fd_);
  }

  void write(const char* bytes, size_t size) {
    if (text_ != nullptr) {
      text_->append(bytes, size);
      return;
    }
    while (size > 0) {
      const ssize_t done = ::write(fd_, bytes, size);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("cannot be written");
      bytes += done;
      size -= static_cast<size_t>(done);
    }
  }

  void close() {
    if (fd_ <= STDOUT_FILENO) return;
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) != 0) fail("cannot be written");
    if (!temporary_.empty()) put_in_place(temporary_, path_);
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    const std::string text = fmt::format("{}: {}: {}", path_ == "-" ? "stdout" : path_, what, std::strerror(errno));
    if (errno == EPIPE && path_ == "-") throw BrokenPipe(text);
    throw OutputError(text);
  }

  std::string path_;
  UnfinishedFile temporary_;
  std::string* text_ = nullptr;
  int fd_ = -1;
};

// Compresses buffers in the order in which they come and writes them to the target. The first error is kept for the
// caller.
class Sink::GzipThread {
 public:
  GzipThread(Target& target, int level) : target_(target) {
    if (deflateInit2(&stream_, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw OutputError("gzip: no memory");
    }
    thread_ = std::thread([this] { run(); });
  }
  ~GzipThread() {
    stop();
    deflateEnd(&stream_);
  }

  // Takes the bytes and returns an empty buffer.
  std::vector<char> give(std::vector<char> bytes, size_t used) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < kBuffersInFlight || error_ != nullptr; });
    if (error_ != nullptr) std::rethrow_exception(error_);
    waiting_.push_back({std::move(bytes), used});
    changed_.notify_all();
    if (free_.empty()) return std::vector<char>(kBufferBytes);
    std::vector<char> next = std::move(free_.back());
    free_.pop_back();
    return next;
  }

  void finish() {
    stop();
    if (error_ != nullptr) std::rethrow_exception(error_);
    deflate_all(nullptr, 0, Z_FINISH);
  }

 private:
  struct Filled {
    std::vector<char> bytes;
    size_t used;
  };

  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  void run() {
    for (;;) {
      Filled next;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !waiting_.empty() || ended_; });
        if (waiting_.empty()) return;
        next = std::move(waiting_.front());
        waiting_.pop_front();
        changed_.notify_all();
      }
      try {
        deflate_all(next.bytes.data(), next.used, Z_NO_FLUSH);
      } catch (const OutputError&) {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
        changed_.notify_all();
        return;
      }
      const std::lock_guard lock(mutex_);
      if (free_.size() < kBuffersInFlight) free_.push_back(std::move(next.bytes));
    }
  }

  void deflate_all(char* bytes, size_t size, int mode) {
    stream_.next_in = reinterpret_cast<Bytef*>(bytes);
    stream_.avail_in = static_cast<uInt>(size);
    for (;;) {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      const int status = deflate(&stream_, mode);
      target_.write(out_.data(), out_.size() - stream_.avail_out);
      if (status == Z_STREAM_END || (mode == Z_NO_FLUSH && stream_.avail_out != 0)) return;
    }
  }

  Target& target_;
  z_stream stream_ = {};
  std::vector<char> out_ = std::vector<char>(kBufferBytes);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Filled> waiting_;
  std::vector<std::vector<char>> free_;
  std::exception_ptr error_;
  bool ended_ = false;
  std::thread thread_;
};

Sink::Sink(const std::string& path, int level)
    : path_(path), buffer_(kBufferBytes), target_(std::make_unique<Target>(path)) {
  if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0) {
    gzip_ = std::make_unique<GzipThread>(*target_, level);
  }
}

Sink::Sink(std::string* text) : path_("(memory)"), buffer_(kBufferBytes), target_(std::make_unique<Target>(text)) {}

Sink::~Sink() = default;

void Sink::write(std::string_view bytes) {
  char* to = room(bytes.size());
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  filled(to + bytes.size());
}

void Sink::flush(size_t room_needed) {
  if (used_ > 0 && gzip_ != nullptr) {
    buffer_ = gzip_->give(std::move(buffer_), used_);
  } else if (used_ > 0) {
    target_->write(buffer_.data(), used_);
  }
  used_ = 0;
  if (buffer_.size() < room_needed) buffer_.resize(room_needed);
}

void Sink::close() {
  flush(0);
  if (gzip_ != nullptr) gzip_->finish();
  gzip_.reset();
  target_->close();
}

}  // namespace prof::analyzer
