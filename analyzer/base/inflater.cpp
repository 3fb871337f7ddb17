#include "analyzer/base/inflater.h"

#include "analyzer/base/installed_file.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr size_t kCompressedBlock = size_t{256} << 10;

// Moves the bytes on to where the stream of a library is.
template <class Stream> void move_on(GzipDecoder::Bytes& bytes, const Stream& stream) {
  const size_t used = static_cast<size_t>(stream.next_in - bytes.in);
  const size_t made = static_cast<size_t>(stream.next_out - bytes.out);
  bytes = {bytes.in + used, bytes.in_size - used, bytes.out + made, bytes.out_size - made};
}
uint32_t size_for_library(size_t size) {
  return static_cast<uint32_t>(std::min<size_t>(size, std::numeric_limits<uint32_t>::max()));
}
template <class Stream> void set(Stream& stream, const GzipDecoder::Bytes& bytes) {
  stream.next_in = const_cast<uint8_t*>(bytes.in);  // neither library writes there
  stream.avail_in = size_for_library(bytes.in_size);
  stream.next_out = bytes.out;
  stream.avail_out = size_for_library(bytes.out_size);
}

class ZlibDecoder : public GzipDecoder {
 public:
  ZlibDecoder() {
    constexpr int kGzip = 15 + 16;
    if (inflateInit2(&stream_, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibDecoder() override { inflateEnd(&stream_); }
  ZlibDecoder(const ZlibDecoder&) = delete;
  ZlibDecoder& operator=(const ZlibDecoder&) = delete;

  void restart() override { inflateReset(&stream_); }
  State inflate(Bytes& bytes) override {
    set(stream_, bytes);
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    move_on(bytes, stream_);
    if (result == Z_STREAM_END) return State::End;
    return result == Z_OK || result == Z_BUF_ERROR ? State::Inside : State::Damaged;
  }

 private:
  z_stream stream_{};
};

struct Isal {
  decltype(&isal_inflate_init) init = nullptr;
  decltype(&isal_inflate) inflate = nullptr;
  decltype(&isal_gzip_header_init) header_init = nullptr;
  decltype(&isal_read_gzip_header) read_header = nullptr;
};

class IsalDecoder : public GzipDecoder {
 public:
  explicit IsalDecoder(const Isal& isal) : isal_(isal) { IsalDecoder::restart(); }

  // The header is read by a call of its own: isal_inflate() loses its place in a header that two blocks of input share.
  void restart() override {
    isal_.init(&state_);
    isal_.header_init(&header_);
    inside_header_ = true;
  }
  State inflate(Bytes& bytes) override {
    set(state_, bytes);
    const State state = next();
    move_on(bytes, state_);
    return state;
  }

 private:
  State next() {
    if (inside_header_) {
      const int result = isal_.read_header(&state_, &header_);
      if (result == ISAL_END_INPUT) return State::Inside;
      if (result != ISAL_DECOMP_OK) return State::Damaged;
      inside_header_ = false;
      state_.crc_flag = ISAL_GZIP_NO_HDR_VER;
    }
    const int result = isal_.inflate(&state_);
    if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT) return State::Damaged;
    return state_.block_state == ISAL_BLOCK_FINISH ? State::End : State::Inside;
  }

  const Isal& isal_;
  ::inflate_state state_{};
  isal_gzip_header header_{};
  bool inside_header_ = true;
};

template <class Function> void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

Isal load_isal() {
  Isal isal;
  const InstalledFile file = find_installed("prof/libisal.so.2");
  void* const library = dlopen(file.path.empty() ? "libisal.so.2" : file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return isal;
  find(library, "isal_inflate_init", isal.init);
  find(library, "isal_inflate", isal.inflate);
  find(library, "isal_gzip_header_init", isal.header_init);
  find(library, "isal_read_gzip_header", isal.read_header);
  if (isal.init == nullptr || isal.header_init == nullptr || isal.read_header == nullptr) isal.inflate = nullptr;
  return isal;
}

}  // namespace

std::unique_ptr<GzipDecoder> zlib_decoder() { return std::make_unique<ZlibDecoder>(); }

std::unique_ptr<GzipDecoder> isal_decoder() {
  static const Isal isal = load_isal();
  if (isal.inflate == nullptr) return nullptr;
  return std::make_unique<IsalDecoder>(isal);
}

Inflater::Inflater(Read read, std::unique_ptr<GzipDecoder> decoder)
    : read_(std::move(read)), decoder_(std::move(decoder)), input_(kCompressedBlock) {}

Inflater::Inflater(Read read) : Inflater(std::move(read), isal_decoder()) {
  if (decoder_ == nullptr) decoder_ = zlib_decoder();
}

size_t Inflater::read(char* to, size_t room) {
  bytes_.out = reinterpret_cast<uint8_t*>(to);
  bytes_.out_size = room;
  while (bytes_.out_size != 0 && !ended_) {
    const bool more = bytes_.in_size != 0 || refill();
    if (!inside_member_) {
      if (!more) break;
      if (bytes_.in[0] == 0 && !first_) {
        ++bytes_.in;
        --bytes_.in_size;
        continue;
      }
      if (bytes_.in[0] != 0x1f) {
        stop("what follows the gzip data is not gzip");
        break;
      }
      decoder_->restart();
      inside_member_ = true;
      first_ = false;
    }
    // A library may hold bytes that it has not given yet, so it is called at the end of the file too.
    const size_t room_before = bytes_.out_size;
    const GzipDecoder::State state = decoder_->inflate(bytes_);
    if (state == GzipDecoder::State::Damaged) stop("gzip data is damaged");
    if (state == GzipDecoder::State::End) inside_member_ = false;
    if (state == GzipDecoder::State::Inside && !more && bytes_.out_size == room_before) stop("gzip data ends early");
  }
  return room - bytes_.out_size;
}

bool Inflater::refill() {
  bytes_.in = reinterpret_cast<uint8_t*>(input_.data());
  bytes_.in_size = read_(input_.data(), input_.size());
  taken_ += bytes_.in_size;
  return bytes_.in_size != 0;
}

void Inflater::stop(const char* why) {
  ended_ = true;
  damage_ = fmt::format("{} at byte {} of the file", why, taken_ - bytes_.in_size);
}

}  // namespace prof::analyzer
