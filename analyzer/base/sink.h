// Writes output: to a file, to "-" (stdout) or to a device, plain or gzip. A file is written under a temporary name in
// the same folder and renamed in close(). A full disk or a kill thus never leaves half an output that looks complete;
// an error or a signal deletes the temporary file. A complete file gets a mark, so that was_written_by_prof() finds it.
// gzip runs on a second thread. Every failure is an OutputError with the name of the file and the system's message.
#pragma once

#include "analyzer/base/unfinished_file.h"

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

// The reader of stdout closed it: prof ends without a message.
struct BrokenPipe : OutputError {
  using OutputError::OutputError;
};

// Whether a Sink wrote the file and nobody changed it since. The mark is an extended attribute with the size and the
// time of the last change. On a file system without extended attributes no file has it.
bool was_written_by_prof(const std::string& path);

// Gives a complete file its mark and the name `path`. Throws OutputError; the file then remains unfinished.
void put_in_place(UnfinishedFile& file, const std::string& path);

class Sink {
 public:
  // Compressed if the name ends in ".gz". Level: 1 (fast) to 9.
  explicit Sink(const std::string& path, int level = 1);
  // Appends to a text in memory, which is complete after close(). For tests.
  explicit Sink(std::string* text);
  ~Sink();  // removes the temporary file if close() was not called
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void write(std::string_view bytes);

  // A buffer to fill in place, with room for at least `bytes`. Call filled() with the end of what was written.
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
