// Reads the text of a file, plain, gzip or zstd, once and in order, in pieces of any length. It is inflated on a thread
// of its own a few blocks ahead, so files larger than memory can be read.
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
  // Reads a text in memory, plain or compressed, like a file. The text is not copied.
  static TextSource of_memory(std::string_view bytes);
  TextSource(TextSource&&) noexcept;
  ~TextSource();
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  // Fills `to`; returns less than `room` only at the end of the text.
  size_t read(char* to, size_t room);

  bool compressed() const;
  double share_read() const;  // share of the file, 0 … 1
  // Why the text ends early: "gzip data ends early at byte 812 of the file". Empty: it does not. Valid after the last
  // read().
  const std::string& damage() const;

 private:
  struct Implementation;
  explicit TextSource(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace prof::analyzer
