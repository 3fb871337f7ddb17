// The text of a file, plain or gzip, in stretches of any length, in order and once: gzip is inflated on a thread of its own,
// a few blocks ahead, so files larger than memory are read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace prof::analyzer {

class TextSource {
 public:
  // Throws InputError if the file cannot be opened.
  explicit TextSource(const std::string& path);
  // A text in memory, plain or gzip, as if it were a file; it is not copied.
  static TextSource of_memory(std::string_view bytes);
  TextSource(TextSource&&) noexcept;
  ~TextSource();
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  // Fills `to` as far as there is text; less than `room` only at the end.
  size_t read(char* to, size_t room);

  bool compressed() const;
  double share_read() const;  // of the file, 0 … 1
  // Why the text ends before its time: "gzip data ends early at byte 812 of the file"; empty: it does not. After the last
  // read().
  const std::string& damage() const;

 private:
  struct Implementation;
  explicit TextSource(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace prof::analyzer
