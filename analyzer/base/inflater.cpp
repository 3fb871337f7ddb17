#include "analyzer/base/inflater.h"

#include "analyzer/base/installed_file.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <new>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr size_t kCompressedBlock = size_t{256} << 10;

// Moves the bytes on to where the stream of a library is.
template <class Stream> void move_on(StreamDecoder::Bytes& bytes, const Stream& stream) {
  const size_t used = static_cast<size_t>(stream.next_in - bytes.in);
  const size_t made = static_cast<size_t>(stream.next_out - bytes.out);
  bytes = {bytes.in + used, bytes.in_size - used, bytes.out + made, bytes.out_size - made};
}
uint32_t size_for_library(size_t size) {
  return static_cast<uint32_t>(std::min<size_t>(size, std::numeric_limits<uint32_t>::max()));
}
template <class Stream> void set(Stream& stream, const StreamDecoder::Bytes& bytes) {
  stream.next_in = const_cast<uint8_t*>(bytes.in);  // neither library writes there
  stream.avail_in = size_for_library(bytes.in_size);
  stream.next_out = bytes.out;
  stream.avail_out = size_for_library(bytes.out_size);
}

class ZlibDecoder : public StreamDecoder {
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

class IsalDecoder : public StreamDecoder {
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

class ZstdDecoder : public StreamDecoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  void restart() override { ZSTD_DCtx_reset(stream_, ZSTD_reset_session_only); }
  State inflate(Bytes& bytes) override {
    ZSTD_inBuffer in{bytes.in, bytes.in_size, 0};
    ZSTD_outBuffer out{bytes.out, bytes.out_size, 0};
    const size_t result = ZSTD_decompressStream(stream_, &out, &in);
    bytes = {bytes.in + in.pos, bytes.in_size - in.pos, bytes.out + out.pos, bytes.out_size - out.pos};
    if (ZSTD_isError(result) != 0) return State::Damaged;
    return result == 0 ? State::End : State::Inside;
  }

 private:
  ZSTD_DStream* stream_;
};

template <class Function> void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

Isal load_isal() {
  Isal isal;
  std::string path = "libisal.so.2";
  try {
    if (const InstalledFile file = find_installed("prof/" + path); !file.path.empty()) path = file.path;
  } catch (const std::filesystem::filesystem_error&) {
    path = "libisal.so.2";  // there is no /proc
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return isal;
  find(library, "isal_inflate_init", isal.init);
  find(library, "isal_inflate", isal.inflate);
  find(library, "isal_gzip_header_init", isal.header_init);
  find(library, "isal_read_gzip_header", isal.read_header);
  if (isal.init == nullptr || isal.header_init == nullptr || isal.read_header == nullptr) isal.inflate = nullptr;
  return isal;
}

}  // namespace

std::unique_ptr<StreamDecoder> zlib_decoder() { return std::make_unique<ZlibDecoder>(); }

std::unique_ptr<StreamDecoder> isal_decoder() {
  static const Isal isal = load_isal();
  if (isal.inflate == nullptr) return nullptr;
  return std::make_unique<IsalDecoder>(isal);
}

std::unique_ptr<StreamDecoder> zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

Compression compression_of(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return Compression::Gzip;
  return head.starts_with("\x28\xb5\x2f\xfd") ? Compression::Zstd : Compression::None;
}

std::string_view compression_name(Compression compression) {
  switch (compression) {
    case Compression::Gzip: return "gzip";
    case Compression::Zstd: return "zstd";
    case Compression::None: break;
  }
  return {};
}

Inflater::Inflater(Read read, Compression compression, std::unique_ptr<StreamDecoder> decoder)
    : read_(std::move(read)), compression_(compression), decoder_(std::move(decoder)), input_(kCompressedBlock) {}

Inflater::Inflater(Read read, Compression compression)
    : Inflater(std::move(read), compression, compression == Compression::Zstd ? zstd_decoder() : isal_decoder()) {
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
      if (!starts_member()) {
        stop("is followed by something else");
        break;
      }
      decoder_->restart();
      inside_member_ = true;
      first_ = false;
    }
    // A library may hold bytes that it has not given yet, so it is called at the end of the file too.
    const size_t room_before = bytes_.out_size;
    const StreamDecoder::State state = decoder_->inflate(bytes_);
    if (state == StreamDecoder::State::Damaged) stop("is damaged");
    if (state == StreamDecoder::State::End) inside_member_ = false;
    if (state == StreamDecoder::State::Inside && !more && bytes_.out_size == room_before) stop("ends early");
  }
  return room - bytes_.out_size;
}

bool Inflater::refill() {
  bytes_.in = reinterpret_cast<uint8_t*>(input_.data());
  bytes_.in_size = read_(input_.data(), input_.size());
  taken_ += bytes_.in_size;
  return bytes_.in_size != 0;
}

bool Inflater::starts_member() const {
  const uint8_t first = bytes_.in[0];
  if (compression_ == Compression::Gzip) return first == 0x1f;
  return first == 0x28 || (first & 0xf0) == 0x50;  // a frame, or one to be skipped
}

void Inflater::stop(std::string_view why) {
  ended_ = true;
  damage_ = fmt::format("{} data {} at byte {} of the file", compression_name(compression_), why, position());
}

}  // namespace prof::analyzer
