// Inflates a file of gzip or zstd, one block after another. Consecutive members (frames of zstd) are one text; zeros
// between and after them are padding. For gzip, libisal (ISA-L) takes a third of the time of zlib. It is loaded when
// the first file is opened: from lib/prof of the installation, else from the system. Without it zlib inflates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class Compression : uint8_t { None, Gzip, Zstd };
// By the first bytes of a file.
Compression compression_of(std::string_view head);
// "gzip", "zstd"; empty: none.
std::string_view compression_name(Compression compression);

// One stream of a library, which does not know of members that follow it.
class StreamDecoder {
 public:
  enum class State : uint8_t { Inside, End, Damaged };
  struct Bytes {
    const uint8_t* in;
    size_t in_size;
    uint8_t* out;
    size_t out_size;
  };
  virtual ~StreamDecoder() = default;
  // The next byte is the first one of a member.
  virtual void restart() = 0;
  // Inflates until the input or the room is used up, or the member ends; moves the bytes on.
  virtual State inflate(Bytes& bytes) = 0;
};

std::unique_ptr<StreamDecoder> zlib_decoder();
// Null if libisal is not installed.
std::unique_ptr<StreamDecoder> isal_decoder();
std::unique_ptr<StreamDecoder> zstd_decoder();

class Inflater {
 public:
  using Read = std::function<size_t(char* to, size_t room)>;  // less than `room` only at the end

  // `read` gives the bytes of the file.
  Inflater(Read read, Compression compression, std::unique_ptr<StreamDecoder> decoder);
  // With the fastest decoder.
  Inflater(Read read, Compression compression);

  // Returns less than `room` only at the end.
  size_t read(char* to, size_t room);
  // Why the text ends early: "gzip data ends early at byte 812 of the file". Empty: it does not.
  const std::string& damage() const { return damage_; }
  uint64_t position() const { return taken_ - bytes_.in_size; }  // bytes of the file that were used

 private:
  bool refill();
  bool starts_member() const;
  void stop(std::string_view why);

  Read read_;
  Compression compression_;
  std::unique_ptr<StreamDecoder> decoder_;
  std::vector<char> input_;
  StreamDecoder::Bytes bytes_{};
  uint64_t taken_ = 0;  // bytes of the file in `input_` and before it
  bool first_ = true, inside_member_ = false, ended_ = false;
  std::string damage_;
};

}  // namespace prof::analyzer
