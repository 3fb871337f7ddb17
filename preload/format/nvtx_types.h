// Which numbers of NVTX's payload extension do the recorder and the reader need? They are flags and types of entries,
// with their sizes (LP64, as on every machine on which the recorder runs). The interface of NVTX 3.2 defines them, so
// they must not change.
#pragma once

#include <cstdint>

namespace prof::format::nvtx {

inline constexpr uint64_t kFlagPointer = 1 << 1, kFlagFromBase = 1 << 2, kFlagFromHere = 1 << 3;
inline constexpr uint64_t kArrayMask = 7 << 4, kArrayFixed = 1 << 4, kArrayZeroEnded = 2 << 4,
                          kArrayLengthIndex = 3 << 4, kArrayLengthPayload = 4 << 4;
inline constexpr uint64_t kFlagDeepCopy = 1 << 8, kFlagHide = 1 << 9;
inline constexpr uint64_t kMeaningMask = 3 << 10, kMeaningMessage = 1 << 10, kMeaningTime = 2 << 10;
inline constexpr uint64_t kOfMask = 7 << 12, kOfBegin = 1 << 12, kOfEnd = 2 << 12, kOfMark = 3 << 12;

inline constexpr uint64_t kSchemaStyleMask = 7 << 3, kSchemaPushPop = 2 << 3, kSchemaStartEnd = 3 << 3,
                          kSchemaMark = 4 << 3;

// Types of entries that need code of their own.
inline constexpr uint64_t kFloat = 19, kDouble = 20, kLongDouble = 21, kSize = 22, kAddress = 23, kWchar = 24,
                          kChar32 = 27;
inline constexpr uint64_t kByte = 32, kInt128 = 33, kUint128 = 34, kFloat128 = 45, kFloat16 = 42, kFloat32 = 43,
                          kFloat64 = 44, kBfloat16 = 50;
inline constexpr uint64_t kCategory = 68, kColor = 69, kScope = 70;
inline constexpr uint64_t kPid32 = 71, kPid64 = 72, kTid32 = 73, kTid64 = 74;
inline constexpr uint64_t kString = 75, kStringUtf8 = 76, kStringUtf16 = 77, kStringUtf32 = 78, kRegisteredString = 80;
inline constexpr uint64_t kUnionSelector = 100, kReferenced = 1022, kRaw = 1023;
inline constexpr uint64_t kFirstSchema = uint64_t{1} << 24, kFirstDynamic = uint64_t{1} << 32;

constexpr bool is_string(uint64_t type) { return type >= kString && type <= kStringUtf32; }
constexpr uint32_t char_bytes(uint64_t string_type) {
  return string_type == kStringUtf32 ? 4 : string_type == kStringUtf16 ? 2 : 1;
}

// The size in bytes of one value of a predefined type. 0: there is no such type, or its size depends on the value. For
// types of strings, it is the size of one character.
constexpr uint32_t type_bytes(uint64_t type) {
  constexpr uint8_t kC[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 4, 1, 2, 4};
  static_assert(sizeof kC == kChar32 + 1);
  if (type <= kChar32) return kC[type];
  switch (type) {
    case kByte:
    case kUnionSelector: return 1;  // NVTX does not define the size of a selector; it is at least 1
    case kInt128:
    case kUint128:
    case kFloat128: return 16;
    case kFloat16:
    case kBfloat16: return 2;
    case kFloat32:
    case 52:  // TF32
    case kCategory:
    case kColor:
    case kPid32:
    case kTid32: return 4;
    case kFloat64:
    case kScope:
    case kPid64:
    case kTid64:
    case kRegisteredString: return 8;
    default: return is_string(type) ? char_bytes(type) : 0;
  }
}

// Whether a type is an integer, which can hold the length of an array.
constexpr bool is_integer(uint64_t type) { return (type >= 1 && type <= 18) || type == kSize; }
// Signed and unsigned integer types alternate; kSize is even.
constexpr bool is_signed(uint64_t integer_type) { return integer_type % 2 == 1; }

// Whether the payload itself contains a char* or another pointer to characters: strings that are neither an array nor
// have a length.
constexpr bool is_text_pointer(uint64_t type, uint64_t flags, uint64_t detail) {
  if (!is_string(type)) return false;
  return (flags & kFlagPointer) != 0 || ((flags & (kArrayMask | kFlagFromBase | kFlagFromHere)) == 0 && detail == 0);
}

}  // namespace prof::format::nvtx
