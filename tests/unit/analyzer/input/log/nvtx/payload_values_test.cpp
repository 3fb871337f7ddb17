// Payloads are decoded with hand-made schemas; the expected values were computed by hand.
#include "analyzer/input/log/nvtx/payload_values.h"

#include "analyzer/input/log/nvtx/payload_shapes.h"
#include "preload/format/nvtx_types.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace prof::analyzer {
namespace {

namespace nvtx = format::nvtx;

struct Schemas {
  PayloadSchemas all;
  uint32_t next = 1;

  format::SchemaId add(uint32_t type, std::vector<format::NvtxSchemaEntry> entries, uint64_t bytes = 0,
                       uint64_t pack = 0) {
    DefinedSchema schema;
    schema.def.id = static_cast<format::SchemaId>(next++);
    schema.def.type = type;
    schema.def.bytes = bytes;
    schema.def.pack_align = pack;
    for (uint32_t i = 0; i < entries.size(); ++i) entries[i].index = i;
    schema.entries = std::move(entries);
    all.set(schema.def.id, schema);
    return schema.def.id;
  }
};

format::NvtxSchemaEntry entry(std::string_view name, uint64_t type, uint64_t flags = 0, uint64_t detail = 0,
                              uint64_t offset = 0) {
  format::NvtxSchemaEntry made;
  made.name = name;
  made.type = type;
  made.flags = flags;
  made.detail = detail;
  made.offset = offset;
  return made;
}
format::NvtxSchemaEntry nested(std::string_view name, format::SchemaId schema, uint64_t flags = 0,
                               uint64_t detail = 0) {
  format::NvtxSchemaEntry made = entry(name, 0, flags, detail);
  made.nested = schema;
  return made;
}

std::string told(const DecodedPayload& decoded) {
  std::string text;
  for (const NamedValue& value : decoded.values) text += value.name + "=" + value.json + " ";
  if (decoded.unread != 0) text += "unread " + std::to_string(decoded.unread);
  return text;
}
std::string told(const Schemas& schemas, format::SchemaId schema, std::string bytes) {
  RecordedPayload payload;
  payload.schema = schema;
  payload.data = std::move(bytes);
  return told(decode_payloads(schemas.all, {&payload}));
}
std::string told_as(uint64_t type, std::string bytes) {
  RecordedPayload payload;
  payload.type = type;
  payload.data = std::move(bytes);
  return told(decode_payloads({}, {&payload}));
}
std::string bytes(std::initializer_list<int> values) {
  std::string made;
  for (const int value : values) made += static_cast<char>(value);
  return made;
}

// Sizes and alignments that a C compiler gives such structs and unions.
TEST(PayloadShapes, AreThoseOfACompiler) {
  constexpr uint64_t kByte = 12, kShort = 14, kInt = 16, kLong = 18;  // NVTX_PAYLOAD_ENTRY_TYPE_UINT8 … UINT64
  Schemas schemas;
  const auto shape = [&](format::SchemaId id) {
    format::NvtxSchemaEntry whole = entry("whole", 0);
    whole.nested = id;
    const PayloadShape found = PayloadShapes(schemas.all).of(whole, 0);
    return std::pair(found.size, found.align);
  };
  using Shape = std::pair<uint64_t, uint64_t>;
  const std::vector<format::NvtxSchemaEntry> mixed = {entry("a", kByte), entry("b", kInt), entry("c", kByte)};
  const format::SchemaId bytes =
      schemas.add(format::kSchemaStatic, {entry("r", kByte), entry("g", kByte), entry("b", kByte)});
  EXPECT_EQ(shape(bytes), Shape(3, 1));
  EXPECT_EQ(shape(schemas.add(format::kSchemaStatic, mixed)), Shape(12, 4));
  EXPECT_EQ(shape(schemas.add(format::kSchemaStatic, mixed, 0, 1)), Shape(6, 1)) << "pragma pack(1)";
  EXPECT_EQ(shape(schemas.add(format::kSchemaStatic, mixed, 0, 2)), Shape(8, 2)) << "pragma pack(2)";
  EXPECT_EQ(shape(schemas.add(format::kSchemaUnion, {entry("a", kByte), entry("b", kLong)})), Shape(8, 8));
  format::NvtxSchemaEntry inside = entry("inside", 0);
  inside.nested = bytes;
  EXPECT_EQ(shape(schemas.add(format::kSchemaStatic, {entry("a", kByte), inside, entry("b", kShort)})), Shape(6, 2));
}

TEST(PayloadShapes, OfNestedSchemasAreKnownUpToTheLimit) {
  Schemas schemas;
  format::SchemaId innermost = schemas.add(format::kSchemaStatic, {entry("a", 12)});
  for (int level = 1; level <= kMaxPayloadDepth + 1; ++level) {
    format::NvtxSchemaEntry inside = entry("inside", 0);
    inside.nested = innermost;
    EXPECT_EQ(PayloadShapes(schemas.all).of(inside, 0).size, level <= kMaxPayloadDepth ? 1u : 0u) << level;
    innermost = schemas.add(format::kSchemaStatic, {inside});
  }
}

TEST(NvtxPayload, EntriesWithoutAnOffsetAreAlignedAsStructsAre) {
  Schemas schemas;
  const auto id = schemas.add(format::kSchemaStatic, {entry("a", 12), entry("b", 14), entry("c", 16), entry("d", 12)});
  EXPECT_EQ(told(schemas, id, bytes({1, 99, 2, 0, 3, 0, 0, 0, 4})), "a=1 b=2 c=3 d=4 ");
}

TEST(NvtxPayload, PackedEntriesFollowEachOther) {
  Schemas schemas;
  const auto id = schemas.add(format::kSchemaStatic, {entry("a", 12), entry("b", 16)}, 0, 1);
  EXPECT_EQ(told(schemas, id, bytes({1, 2, 0, 0, 0})), "a=1 b=2 ");
}

TEST(NvtxPayload, NumbersOfEverySizeKeepTheirSign) {
  EXPECT_EQ(told_as(11, bytes({-1})), "payload=-1 ");
  EXPECT_EQ(told_as(12, bytes({-1})), "payload=255 ");
  EXPECT_EQ(told_as(13, bytes({0, -128})), "payload=-32768 ");
  EXPECT_EQ(told_as(5, bytes({-2, -1, -1, -1})), "payload=-2 ");
  EXPECT_EQ(told_as(18, std::string(8, '\xff')), "payload=18446744073709551615 ");
  EXPECT_EQ(told_as(nvtx::kFloat16, bytes({0, 0x3c})), "payload=1 ");
  EXPECT_EQ(told_as(nvtx::kFloat16, bytes({1, 0})), "payload=5.960464477539063e-08 ");
  EXPECT_EQ(told_as(nvtx::kBfloat16, bytes({0x80, 0x3f})), "payload=1 ");
  EXPECT_EQ(told_as(nvtx::kFloat, bytes({0, 0, 0x80, 0x7f})), "payload=\"inf\" ");
  EXPECT_EQ(told_as(nvtx::kAddress, bytes({16, 0, 0, 0, 0, 0, 0, 0})), "payload=\"0x10\" ");
}

TEST(NvtxPayload, TextsOfEveryWidthEndAtTheirZero) {
  EXPECT_EQ(told_as(nvtx::kString, std::string("ab\0c", 4)), "payload=\"ab\" ");
  EXPECT_EQ(told_as(nvtx::kStringUtf16, bytes({0x3d, 0xd8, 0x00, 0xde, 0, 0})), "payload=\"\U0001F600\" ");
  EXPECT_EQ(told_as(nvtx::kStringUtf32, bytes({0xf6, 0, 0, 0})), "payload=\"\u00f6\" ");
}

TEST(NvtxPayload, ValuesInsideValuesAreNamedByBoth) {
  Schemas schemas;
  const auto inner = schemas.add(format::kSchemaStatic, {entry("x", 12), entry("y", 14)});
  const auto outer = schemas.add(format::kSchemaStatic,
                                 {entry("a", 12), nested("in", inner), nested("all", inner, nvtx::kArrayFixed, 2)});
  EXPECT_EQ(told(schemas, outer, bytes({1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0})),
            "a=1 in.x=2 in.y=3 all=[{\"x\":4,\"y\":5},{\"x\":6,\"y\":7}] ");
}

TEST(NvtxPayload, AnEnumerationGivesNamesAndSetsOfBitsAllOfTheirs) {
  Schemas schemas;
  const auto names = schemas.add(format::kSchemaEnum, {entry("one", 0, 0, 1), entry("two", 0, 0, 2)}, 1);
  const auto bits = schemas.add(format::kSchemaEnum, {entry("A", 0, 1, 1), entry("B", 0, 1, 4)}, 2);
  const auto both =
      schemas.add(format::kSchemaStatic, {nested("name", names), nested("bits", bits), nested("odd", names)});
  EXPECT_EQ(told(schemas, both, bytes({2, 0, 5, 0, 9})), "name=\"two\" bits=\"A|B\" odd=9 ");
}

TEST(NvtxPayload, AnArrayHasTheLengthThatAnotherEntrySays) {
  Schemas schemas;
  const auto id = schemas.add(format::kSchemaDynamic, {entry("n", 12), entry("list", 14, nvtx::kArrayLengthIndex, 0),
                                                       entry("end", 12), entry("zero", 12, nvtx::kArrayZeroEnded)});
  EXPECT_EQ(told(schemas, id, bytes({2, 0, 7, 0, 8, 0, 9, 1, 2, 0})), "n=2 list=[7,8] end=9 zero=[1,2] ");
  EXPECT_EQ(told(schemas, id, bytes({200, 0, 7, 0})), "n=200 unread 3");
}

TEST(NvtxPayload, OfAUnionTheMemberThatIsChosenCounts) {
  Schemas schemas;
  const auto either = schemas.add(format::kSchemaUnion, {entry("small", 12), entry("large", 14)});
  const auto id = schemas.add(format::kSchemaStatic, {entry("which", 12), nested("u", either, 0, 0), entry("end", 12)});
  EXPECT_EQ(told(schemas, id, bytes({1, 0, 2, 1, 5})), "which=1 u.large=258 end=5 ");
  EXPECT_EQ(told(schemas, id, bytes({0, 0, 2, 1, 5})), "which=0 u.small=2 end=5 ");
}

TEST(NvtxPayload, APointerLeadsToATextThatWasCopiedOrIntoAnotherPayload) {
  Schemas schemas;
  const auto id = schemas.add(format::kSchemaStatic, {entry("text", nvtx::kString),
                                                      entry("list", 12, nvtx::kFlagPointer | nvtx::kArrayFixed, 2),
                                                      entry("lost", 12, nvtx::kFlagPointer)});
  RecordedPayload first, second;
  first.schema = id;
  first.data = std::string(8, '\1') + bytes({0x11, 0x10, 0, 0, 0, 0, 0, 0}) + bytes({1, 0, 0, 0, 0, 0, 0, 0});
  first.texts = bytes({0, 2}) + "hi";
  second.type = nvtx::kReferenced;
  second.address = 0x1010;
  second.data = bytes({0, 5, 6});
  EXPECT_EQ(told(decode_payloads(schemas.all, {&first, &second})), "text=\"hi\" list=[5,6] lost=\"0x1\" ");
}

TEST(NvtxPayload, NumbersOf128BitsAreReadWhole) {
  EXPECT_EQ(told_as(nvtx::kUint128, std::string(16, '\xff')), "payload=340282366920938463463374607431768211455 ");
  EXPECT_EQ(told_as(nvtx::kInt128, std::string(16, '\xff')), "payload=-1 ");
  EXPECT_EQ(told_as(nvtx::kInt128, bytes({0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})),
            "payload=18446744073709551616 ");
  EXPECT_EQ(told_as(nvtx::kInt128, std::string(15, '\0') + '\x80'),
            "payload=-170141183460469231731687303715884105728 ");
  EXPECT_EQ(told_as(nvtx::kFloat128, std::string(13, '\0') + bytes({0x80, 0xff, 0x3f})), "payload=1.5 ");
  EXPECT_EQ(told_as(nvtx::kUint128, bytes({1, 2, 3})), "unread 1");
}

TEST(NvtxPayload, AnOffsetLeadsIntoThePayloadItself) {
  Schemas schemas;
  const auto id =
      schemas.add(format::kSchemaStatic, {entry("base", 14, nvtx::kFlagFromBase | nvtx::kArrayFixed, 2),
                                          entry("here", nvtx::kString, nvtx::kFlagFromHere), entry("end", 12)});
  const std::string words = bytes({24, 0, 0, 0, 0, 0, 0, 0}) + bytes({12, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(told(schemas, id, words + bytes({9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 'o', 'k', 0})),
            "base=[1,2] here=\"ok\" end=9 ");
  EXPECT_EQ(told(schemas, id, words + bytes({9})), "end=9 unread 2") << "behind the recorded bytes";
}

TEST(NvtxPayload, AUnionMaySelectItsMemberItself) {
  Schemas schemas;
  const auto inside =
      schemas.add(format::kSchemaUnionInside,
                  {entry("kind", nvtx::kUnionSelector), entry("small", 12, 0, 0, 4), entry("large", 16, 0, 0, 4)});
  const auto id =
      schemas.add(format::kSchemaStatic, {nested("all", inside, nvtx::kArrayFixed, 2), nested("u", inside)});
  EXPECT_EQ(told(schemas, id,
                 bytes({1, 0, 0, 0, 7, 0, 0, 0}) + bytes({2, 0, 0, 0, 0, 1, 0, 0}) + bytes({2, 0, 0, 0, 8, 0, 0, 0})),
            "all=[{\"small\":7},{\"large\":256}] u.large=8 ");
  EXPECT_EQ(told(schemas, inside, bytes({3, 0, 0, 0, 8, 0, 0, 0})), "unread 1") << "no such member";
  EXPECT_EQ(told(schemas, inside, bytes({0, 0, 0, 0, 8, 0, 0, 0})), "unread 1") << "the selector itself";
}

TEST(NvtxPayload, AnArrayHasTheDimensionsThatItsPayloadOrAnotherSays) {
  Schemas schemas;
  const auto own = schemas.add(format::kSchemaDynamic, {entry("shape", 12, nvtx::kArrayFixed, 2),
                                                        entry("matrix", 12, nvtx::kArrayLengthIndex, 0)});
  EXPECT_EQ(told(schemas, own, bytes({2, 3, 1, 2, 3, 4, 5, 6})), "shape=[2,3] matrix=[[1,2,3],[4,5,6]] ");
  EXPECT_EQ(told(schemas, own, bytes({2, 3, 1, 2, 3, 4, 5})), "shape=[2,3] unread 1");
  const auto other = schemas.add(format::kSchemaDynamic, {entry("list", 14, nvtx::kArrayLengthPayload, 1)});
  RecordedPayload list, length;
  list.schema = other;
  list.data = bytes({7, 0, 8, 0});
  length.type = 16;
  length.data = bytes({2, 0, 0, 0});
  EXPECT_EQ(told(decode_payloads(schemas.all, {&list, &length})), "list=[7,8] payload=2 ");
  EXPECT_EQ(told(decode_payloads(schemas.all, {&list})), "unread 1") << "there is no such payload";
}

TEST(NvtxPayload, TextsOfOneLengthMayStandInARow) {
  Schemas schemas;
  const auto id =
      schemas.add(format::kSchemaDynamic, {entry("names", nvtx::kString, nvtx::kArrayZeroEnded, 3), entry("end", 12)});
  EXPECT_EQ(told(schemas, id, bytes({'a', 'b', 0, 'c', 'd', 'e', 0, 0, 0, 5})), "names=[\"ab\",\"cde\"] end=5 ");
}

TEST(NvtxPayload, WhatWasCopiedFromBehindAPointerIsReadByItsEntry) {
  Schemas schemas;
  const auto inner = schemas.add(format::kSchemaStatic, {entry("x", 12), entry("y", 14)});
  const uint64_t copied = nvtx::kFlagPointer | nvtx::kFlagDeepCopy;
  const auto id = schemas.add(
      format::kSchemaStatic,
      {entry("n", 12), entry("list", 14, copied | nvtx::kArrayLengthIndex, 0), nested("in", inner, copied)});
  RecordedPayload payload;
  payload.schema = id;
  payload.data = bytes({2, 0, 0, 0, 0, 0, 0, 0}) + std::string(16, '\1');
  payload.texts = bytes({8, 4, 5, 0, 6, 0}) + bytes({16, 4, 7, 0, 8, 0});
  EXPECT_EQ(told(decode_payloads(schemas.all, {&payload})), "n=2 list=[5,6] in.x=7 in.y=8 ");
  payload.texts = bytes({8, 2, 5, 0});
  EXPECT_EQ(told(decode_payloads(schemas.all, {&payload})), "n=2 in=\"0x101010101010101\" unread 1") << "cut";
}

TEST(NvtxPayload, NothingBehindTheRecordedBytesIsRead) {
  Schemas schemas;
  const auto id =
      schemas.add(format::kSchemaStatic,
                  {entry("a", 18), entry("far", 12, 0, 0, UINT64_MAX), entry("near", 12, 0, 0, 4),
                   entry("many", 18, nvtx::kArrayFixed, UINT64_MAX / 2), entry("text", nvtx::kString, 0, 1u << 30)});
  EXPECT_EQ(told(schemas, id, bytes({1, 2, 3, 4})), "unread 5");
  EXPECT_EQ(told(schemas, id, ""), "unread 5");
}

TEST(NvtxPayload, SchemasThatContainThemselvesEnd) {
  Schemas schemas;
  const auto self = static_cast<format::SchemaId>(1), other = static_cast<format::SchemaId>(2);
  schemas.add(format::kSchemaStatic, std::vector(64, nested("x", other)), 1);
  schemas.add(format::kSchemaStatic, std::vector(64, nested("y", self, nvtx::kArrayFixed, 64)));
  const std::string text = told(schemas, self, std::string(1024, 'a'));
  EXPECT_NE(text.find("unread"), std::string::npos);
  EXPECT_EQ(text.find("=97"), std::string::npos);
}

TEST(NvtxPayload, OfACounterOnlyNumbersCount) {
  Schemas schemas;
  const auto id =
      schemas.add(format::kSchemaStatic, {entry("used", 12), entry("state", nvtx::kString, 0, 2), entry("free", 12)});
  const auto numbers = decode_sample(schemas.all, id, 0, bytes({5, 'a', 0, 6})).numbers;
  ASSERT_EQ(numbers.size(), 2u);
  EXPECT_EQ(numbers[0].name, "used");
  EXPECT_EQ(numbers[1].value, 6);
  const auto one = decode_sample(schemas.all, {}, 13, bytes({-1, -1})).numbers;
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].name, "");
  EXPECT_EQ(one[0].value, -1);
}

}  // namespace
}  // namespace prof::analyzer
