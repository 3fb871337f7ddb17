#include "analyzer/base/text_source.h"

#include "analyzer/base/inflater.h"
#include "analyzer/base/input_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr size_t kBlock = size_t{1} << 20;
constexpr size_t kBlocksAhead = 4;

class File {
 public:
  explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw InputError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
    struct stat info {};
    if (fstat(descriptor_, &info) == 0 && info.st_size > 0) size_ = static_cast<uint64_t>(info.st_size);
  }
  explicit File(std::string_view memory) : descriptor_(-1), size_(memory.size()), memory_(memory) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Returns less than `room` only at the end.
  size_t read(char* to, size_t room) {
    size_t done = 0;
    if (descriptor_ < 0) {
      done = memory_.copy(to, room, position_);
      position_ += done;
    }
    while (descriptor_ >= 0 && done < room) {
      const ssize_t got = ::read(descriptor_, to + done, room - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        error_ = fmt::format("cannot be read any further: {} (at byte {} of the file)", std::strerror(errno),
                             position_.load());
      }
      if (got <= 0) break;
      done += static_cast<size_t>(got);
      position_ += static_cast<uint64_t>(got);
    }
    return done;
  }
  void rewind() {
    if (descriptor_ >= 0) lseek(descriptor_, 0, SEEK_SET);
    position_ = 0;
  }
  uint64_t position() const { return position_; }
  double share_read() const { return size_ == 0 ? 1 : static_cast<double>(position_) / static_cast<double>(size_); }
  const std::string& error() const { return error_; }

 private:
  int descriptor_;  // −1: in memory
  uint64_t size_ = 0;
  std::string_view memory_;
  std::atomic<uint64_t> position_{0};
  std::string error_;
};

// Inflates blocks ahead on a thread.
class InflateThread {
 public:
  InflateThread(File& file, Compression compression)
      : inflater_([&file](char* to, size_t room) { return file.read(to, room); }, compression),
        thread_([this] { run(); }) {}
  ~InflateThread() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  InflateThread(const InflateThread&) = delete;
  InflateThread& operator=(const InflateThread&) = delete;

  size_t read(char* to, size_t room) {
    size_t done = 0;
    while (done < room && next_block()) {
      const size_t part = std::min(room - done, current_.size() - position_);
      std::memcpy(to + done, current_.data() + position_, part);
      done += part;
      position_ += part;
    }
    return done;
  }
  const std::string& damage() const { return inflater_.damage(); }  // valid after the last read()

 private:
  // False at the end of the text.
  bool next_block() {
    if (position_ < current_.size()) return true;
    std::unique_lock lock(mutex_);
    if (current_.capacity() != 0) free_.push_back(std::move(current_));
    changed_.wait(lock, [&] { return !ready_.empty() || ended_; });
    position_ = 0;
    current_.clear();
    if (ready_.empty() && error_ != nullptr) std::rethrow_exception(error_);
    if (ready_.empty()) return false;
    current_ = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return true;
  }
  void run() {
    try {
      inflate_blocks();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
      ended_ = true;
      changed_.notify_all();
    }
  }
  void inflate_blocks() {
    for (bool more = true; more;) {
      std::vector<char> block;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ready_.size() < kBlocksAhead || stopped_; });
        if (stopped_) return;
        if (!free_.empty()) {
          block = std::move(free_.back());
          free_.pop_back();
        }
      }
      block.resize(kBlock);
      const size_t size = inflater_.read(block.data(), block.size());
      more = size == block.size();
      block.resize(size);
      const std::lock_guard lock(mutex_);
      if (size != 0) ready_.push_back(std::move(block));
      ended_ = !more;
      changed_.notify_all();
    }
  }

  Inflater inflater_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<char>> ready_;
  std::vector<std::vector<char>> free_;
  bool ended_ = false, stopped_ = false;
  std::exception_ptr error_;  // of the thread
  std::vector<char> current_;
  size_t position_ = 0;
  std::thread thread_;  // last: it uses all others
};

}  // namespace

struct TextSource::Implementation {
  template <class Bytes> explicit Implementation(const Bytes& bytes) : file(bytes) {
    char magic[4] = {};
    const size_t got = file.read(magic, sizeof magic);
    file.rewind();
    const Compression compression = compression_of({magic, got});
    if (compression != Compression::None) inflate = std::make_unique<InflateThread>(file, compression);
  }
  File file;
  std::unique_ptr<InflateThread> inflate;
  std::string damage;
};

TextSource::TextSource(const std::string& path) : implementation_(std::make_unique<Implementation>(path)) {}
TextSource::TextSource(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
TextSource::TextSource(TextSource&&) noexcept = default;
TextSource TextSource::of_memory(std::string_view bytes) { return TextSource(std::make_unique<Implementation>(bytes)); }
TextSource::~TextSource() = default;

size_t TextSource::read(char* to, size_t room) {
  Implementation& source = *implementation_;
  const size_t size = source.inflate ? source.inflate->read(to, room) : source.file.read(to, room);
  if (size < room) source.damage = source.inflate ? source.inflate->damage() : source.file.error();
  return size;
}
bool TextSource::compressed() const { return implementation_->inflate != nullptr; }
double TextSource::share_read() const { return implementation_->file.share_read(); }
const std::string& TextSource::damage() const { return implementation_->damage; }

}  // namespace prof::analyzer
