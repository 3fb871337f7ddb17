// Where answers go: a file, "-" (stdout) or a device, plain or gzip. A file is written under a temporary name beside it
// and takes its own only in close(), so that a full disk or a kill never leaves half an answer that looks whole. gzip
// runs on a second thread. Every failure is an OutputError that names the file and what the system said.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Sink {
 public:
  // Compressed when the name ends in ".gz". Level: 1 (fast) to 9.
  explicit Sink(const std::string& path, int level = 1);
  // Appends to a text in memory, complete after close(): for tests.
  explicit Sink(std::string* text);
  ~Sink();  // without close(): the temporary file is removed
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void write(std::string_view bytes);

  // A buffer to fill in place: room for at least `bytes`; say with filled() how far.
  char* room(size_t bytes) {
    if (buffer_.size() - used_ < bytes) flush(bytes);
    return buffer_.data() + used_;
  }
  void filled(const char* end) { used_ = static_cast<size_t>(end - buffer_.data()); }

  void close();
  const std::string& path() const { return path_; }

 private:
  class Target;
  class GzipThread;
  void flush(size_t room_needed);

  std::string path_;
  std::vector<char> buffer_;
  size_t used_ = 0;
  std::unique_ptr<Target> target_;
  std::unique_ptr<GzipThread> gzip_;
};

}  // namespace prof::analyzer
