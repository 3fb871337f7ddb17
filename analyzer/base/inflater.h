// Inflates a gzip file, one block after another. Consecutive members are one text; zeros between and after them are
// padding. libisal (ISA-L) inflates three times as fast as zlib, and is loaded when the first file is opened: from
// lib/prof of the installation, else from the system. Without it zlib inflates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace prof::analyzer {

// One gzip stream of a library, which does not know of members that follow it.
class GzipDecoder {
 public:
  enum class State : uint8_t { Inside, End, Damaged };
  struct Bytes {
    const uint8_t* in;
    size_t in_size;
    uint8_t* out;
    size_t out_size;
  };
  virtual ~GzipDecoder() = default;
  // The next byte is the first one of a member.
  virtual void restart() = 0;
  // Inflates until the input or the room is used up, or the member ends; moves the bytes on.
  virtual State inflate(Bytes& bytes) = 0;
};

std::unique_ptr<GzipDecoder> zlib_decoder();
// Null if libisal is not installed.
std::unique_ptr<GzipDecoder> isal_decoder();

class Inflater {
 public:
  using Read = std::function<size_t(char* to, size_t room)>;  // less than `room` only at the end

  // `read` gives the bytes of the file.
  Inflater(Read read, std::unique_ptr<GzipDecoder> decoder);
  // With the fastest decoder.
  explicit Inflater(Read read);

  // Returns less than `room` only at the end.
  size_t read(char* to, size_t room);
  // Why the text ends early: "gzip data ends early at byte 812 of the file". Empty: it does not.
  const std::string& damage() const { return damage_; }

 private:
  bool refill();
  void stop(const char* why);

  Read read_;
  std::unique_ptr<GzipDecoder> decoder_;
  std::vector<char> input_;
  GzipDecoder::Bytes bytes_{};
  uint64_t taken_ = 0;  // bytes of the file in `input_` and before it
  bool first_ = true, inside_member_ = false, ended_ = false;
  std::string damage_;
};

}  // namespace prof::analyzer
