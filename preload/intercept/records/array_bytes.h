// How many bytes does an array or a mipmapped array take? The driver does not report it, and its padding is not
// documented. The size is therefore computed from the description: format × channels × extents, without padding. It
// runs in the program.
#pragma once

#include <cstdint>

namespace prof::preload {

struct ArrayShape {
  uint64_t width = 0, height = 0,
           depth = 0;   // elements; 0: the array has no such extent. Layers, or six faces each, are the depth
  uint32_t format = 0;  // CUarray_format
  uint32_t channels = 0;
  bool layers = false;  // layered or a cube map: every level has the same depth
  uint32_t levels = 1;
};

// Bits of a channel of an element. 0: the format has no such channels, or is not known.
constexpr uint32_t channel_bits(uint32_t format) {
  switch (format) {
    case 0x01:  // UNSIGNED_INT8, SIGNED_INT8
    case 0x08: return 8;
    case 0x02:  // UNSIGNED_INT16, SIGNED_INT16, HALF
    case 0x09:
    case 0x10: return 16;
    case 0x03:  // UNSIGNED_INT32, SIGNED_INT32, FLOAT
    case 0x0a:
    case 0x20: return 32;
    case 0xc0:  // UNORM_INT8X1, X2, X4, SNORM_INT8X1 …
    case 0xc1:
    case 0xc2:
    case 0xc6:
    case 0xc7:
    case 0xc8: return 8;
    case 0xc3:  // UNORM_INT16X1, X2, X4, SNORM_INT16X1 …
    case 0xc4:
    case 0xc5:
    case 0xc9:
    case 0xca:
    case 0xcb: return 16;
    default: return 0;
  }
}

// Bytes of a block of 4 × 4 elements. 0: the format is not compressed.
constexpr uint32_t compressed_block_bytes(uint32_t format) {
  if (format < 0x91 || format > 0x9e) return 0;                                          // BC1 to BC7
  return format == 0x91 || format == 0x92 || format == 0x97 || format == 0x98 ? 8 : 16;  // BC1, BC4
}

// Bytes of an array. 0: the format is not known here. As in the driver, the last level is at most the one with a single
// element.
constexpr uint64_t array_bytes(const ArrayShape& shape) {
  const auto at_least_1 = [](uint64_t n) { return n == 0 ? uint64_t{1} : n; };
  const uint64_t block = compressed_block_bytes(shape.format);
  const uint64_t element_bits = uint64_t{channel_bits(shape.format)} * shape.channels;
  uint64_t width = shape.width, height = at_least_1(shape.height), depth = at_least_1(shape.depth), bytes = 0;
  for (uint32_t level = 0;; ++level) {
    bytes += depth * (block != 0 ? (width + 3) / 4 * ((height + 3) / 4) * block : width * height * element_bits / 8);
    const bool single = width <= 1 && height == 1 && (depth == 1 || shape.layers);
    if (single || level + 1 >= shape.levels) return bytes;
    width = at_least_1(width / 2);
    height = at_least_1(height / 2);
    if (!shape.layers) depth = at_least_1(depth / 2);
  }
}

// 0 for sparse arrays and for arrays whose memory is mapped later: they have no memory of their own.
template <class Description> constexpr uint64_t array_bytes(const Description* what, unsigned levels = 1) {
  if (what == nullptr) return 0;
  ArrayShape shape{what->Width, what->Height, 0, static_cast<uint32_t>(what->Format), what->NumChannels, false, levels};
  if constexpr (requires { what->Depth; }) {
    constexpr unsigned kSparse = 0x40, kMappedLater = 0x80, kLayered = 0x01, kCube = 0x04;
    if ((what->Flags & (kSparse | kMappedLater)) != 0) return 0;
    shape.depth = what->Depth;
    shape.layers = (what->Flags & (kLayered | kCube)) != 0;
  }
  return array_bytes(shape);
}

}  // namespace prof::preload
