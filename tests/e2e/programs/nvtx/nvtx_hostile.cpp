// Schemas and payloads that contradict themselves: entries beyond the payload, schemas that contain themselves and each
// other, arrays that are too long, null where a value is needed. Nothing is read outside of the announced memory; the
// rest is counted.
// Link: none
// Expect: status 0
// Expect: log 1: whole, 0 lost, counter nvtx_schema_refused >=5, counter nvtx_payload_cut >=2, >=10 nvtx_payload
// Expect: report nvtx-trace: ,behind,.*,first=1$
// Expect: report nvtx-trace: ,circle,
// Expect: report nvtx-trace: ,long,.*,"bytes=""(ab){100}
// Expect: report nvtx-trace: coverage: .*nvtx_payloads_unread [0-9]+
// Expect: trace: "name":"behind"
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/mman.h>

namespace {

constexpr uint64_t kStatic = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;

uint64_t schema(const nvtxPayloadSchemaEntry_t* entries, size_t count, uint64_t id = 0,
                uint64_t type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, size_t size = 0, size_t pack = 0) {
  nvtxPayloadSchemaAttr_t given{};
  given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT | (id != 0 ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0);
  given.type = type;
  given.entries = entries;
  given.numEntries = count;
  given.payloadStaticSize = size;
  given.packAlign = pack;
  given.schemaId = id;
  return nvtxPayloadSchemaRegister(nullptr, &given);
}

void mark(const char* text, const nvtxPayloadData_t* data, size_t count) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = static_cast<int32_t>(count);
  event.payload.ullValue = reinterpret_cast<uint64_t>(data);
  nvtxMarkEx(&event);
}
void mark(const char* text, uint64_t id, const void* bytes, size_t size) {
  const nvtxPayloadData_t data = {id, size, bytes};
  mark(text, &data, 1);
}

}  // namespace

int main() {
  // Eight bytes at the end of a page; nothing after it may be read.
  auto* const page =
      static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE) != 0) return 2;
  char* const last = page + 4096 - 8;
  std::memset(last, 0, 8);
  last[0] = 1;
  constexpr uint64_t kDeep = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;
  const nvtxPayloadSchemaEntry_t behind[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "first"},
      {kDeep | NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", nullptr, 0, 8},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "far", nullptr, 0, SIZE_MAX - 7},
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "huge", nullptr, SIZE_MAX / 2, 4},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "many", nullptr, SIZE_MAX / 4, 4},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "endless", nullptr, 0, 7},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "nowhere", nullptr, 99, 4},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "handle", nullptr, 0, 5},
      {0, 9999, "no such type"}};
  last[7] = 1;
  mark("behind", schema(behind, 9, 0, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC), last, 8);

  // A schema that contains itself, two that contain each other, and many of the latter.
  const nvtxPayloadSchemaEntry_t self[] = {{0, kStatic + 1, "self"}, {0, kStatic + 2, "other"}};
  schema(self, 2, kStatic + 1);
  std::vector<nvtxPayloadSchemaEntry_t> circle(512, nvtxPayloadSchemaEntry_t{0, kStatic + 1, "x"});
  schema(circle.data(), circle.size(), kStatic + 2);
  schema(self, 2, kStatic + 1, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 1);  // again, with a size
  mark("circle", kStatic + 1, last, 8);
  mark("circle", kStatic + 2, last, 8);

  const nvtxPayloadSchemaEntry_t union_of[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR, "s"},
                                               {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "u"}};
  mark("union", schema(union_of, 2, 0, NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR, 0, 3), last, 8);

  // Refused: no entries, too many of them, no type, no enumeration.
  schema(nullptr, 3);
  schema(behind, 0);
  schema(behind, SIZE_MAX / 64);
  schema(behind, 9, 0, 77);
  nvtxPayloadSchemaRegister(nullptr, nullptr);
  nvtxPayloadEnumRegister(nullptr, nullptr);

  mark("null", nullptr, 1);
  mark("null", kStatic + 1, nullptr, 100);
  mark("unknown size", kStatic + 77, last, SIZE_MAX);
  nvtxMarkPayload(nullptr, nullptr, 5);
  nvtxRangePushPayload(nullptr, nullptr, 0);
  nvtxRangePopPayload(nullptr, nullptr, 1);
  nvtxEventSubmit(nullptr, nullptr, 1);
  nvtxEventBatchSubmit(nullptr, nullptr);

  const nvtxPayloadSchemaEntry_t bytes[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_BYTE, "bytes", nullptr, 1000}};
  std::vector<char> much(5000, '\xab');
  mark("long", schema(bytes, 1), much.data(), much.size());
  const std::vector<nvtxPayloadData_t> many(1000, nvtxPayloadData_t{NVTX_TYPE_PAYLOAD_SCHEMA_RAW, 4, last});
  mark("many", many.data(), many.size());
  // An invalid handle: the memory there cannot be read.
  const void* const wrong = page + 4096;
  mark("wrong handle", NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, &wrong, 8);
  return 0;
}
