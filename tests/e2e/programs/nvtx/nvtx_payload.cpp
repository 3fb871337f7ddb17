// Extended payloads: NCCL's payloads of its calls, structs within structs, texts that pointers refer to, arrays,
// unions; at the end of a range as well as at its start. The kernel inside knows its communicator and rank.
// Expect: status 0
// Expect: log 1: whole, 0 lost, counter nvtx_schema_refused 0, counter nvtx_payload_cut 0, 1 nvtx_push(ncclAllReduce), 1 nvtx_push(from payload)
// Expect: report nvtx-trace: ,ncclCommInitRank,.*"NCCL communicator ID=4660, No. of ranks=2, Rank=1, CUDA device=0"
// Expect: report nvtx-trace: ,ncclAllReduce,.*"NCCL communicator ID=4660, Message size \[bytes\]=4096, Reduction operation=""Max"""
// Expect: report nvtx-trace: ,from payload,.*,7,"name=""from payload"", text=""copied"", wide=""w\u00f6rld"", inner\.x=-1, inner\.y=0\.5, list=\[1,2,3\], chars=""abc"", flags=""A\|C"", odd=9"
// Expect: report nvtx-trace: ,mark,.*payload=""text"", payload=42, payload=""0102"", count=3, values=\[10,20,30\], tail=5, kind=1, one\.second=2\.5, other=\[7,8\]
// Expect: report nvtx-trace: ,elsewhere,.*"list=\[10,20,30\], pair\.x=-2, pair\.y=0\.25, ended=\[4,5\], none=""0x0"", near=\[6,7\], u\.large=258, wide=18446744073709551617"
// Expect: report nvtx-trace: ,counted,.*"rows=\[\[1,2,3\],\[4,5,6\]\], shape=\[2,3\]"
// Expect: report nvtx-trace: ,at its end,.*,done=1$
// Expect: report collectives: ,ncclAllReduce,4660,1,2,4096,,[0-9.]+,[0-9.]+,,Max,
// Expect: trace: "name":"ncclDevKernel.*"nccl communicator":"4660","nccl rank":1,"nccl bytes":4096
// Expect: trace: "name":"ncclAllReduce".*"payload":\{"NCCL communicator ID":4660,"Message size \[bytes\]":4096,"Reduction operation":"Max"\}
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExtPayload.h>

namespace {

void require(bool ok) {
  if (!ok) exit(1);
}

constexpr uint64_t kRedOp = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 11, kInit = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START,
                   kAllReduce = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
constexpr uint64_t kFields = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                             NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;

template <size_t n>
uint64_t schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaEntry_t (&entries)[n], uint64_t id = 0,
                uint64_t type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC) {
  nvtxPayloadSchemaAttr_t given{};
  given.fieldMask = kFields | (id != 0 ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0);
  given.type = type;
  given.entries = entries;
  given.numEntries = n;
  given.schemaId = id;
  return nvtxPayloadSchemaRegister(domain, &given);
}

nvtxEventAttributes_t event(const char* text) {
  nvtxEventAttributes_t made{};
  made.version = NVTX_VERSION;
  made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  made.messageType = NVTX_MESSAGE_TYPE_ASCII;
  made.message.ascii = text;
  return made;
}

struct Init {
  uint64_t communicator;
  int ranks, rank, device;
};
struct AllReduce {
  uint64_t communicator;
  size_t bytes;
  int op;
};

void nccl() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  const nvtxPayloadEnum_t ops[] = {{"Sum", 0, 0}, {"Prod", 1, 0}, {"Max", 2, 0}};
  nvtxPayloadEnumAttr_t enumeration{};
  enumeration.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  enumeration.entries = ops;
  enumeration.numEntries = 3;
  enumeration.sizeOfEnum = sizeof(int);
  enumeration.schemaId = kRedOp;
  require(nvtxPayloadEnumRegister(domain, &enumeration) == kRedOp);
  const nvtxPayloadSchemaEntry_t init[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID"},
                                           {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks"},
                                           {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank"},
                                           {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device"}};
  const nvtxPayloadSchemaEntry_t reduce[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", nullptr, 0, offsetof(AllReduce, bytes)},
      {0, kRedOp, "Reduction operation", nullptr, 0, offsetof(AllReduce, op)}};
  require(schema(domain, init, kInit) == kInit && schema(domain, reduce, kAllReduce) == kAllReduce);
  require(schema(domain, reduce, kAllReduce) == kAllReduce);  // as every translation unit of NCCL does

  // The communicator is known at the end of the call that makes it.
  nvtxEventAttributes_t call = event("ncclCommInitRank");
  nvtxDomainRangePushEx(domain, &call);
  const Init made = {0x1234, 2, 1, 0};
  const nvtxPayloadData_t at_end = {kInit, sizeof made, &made};
  require(nvtxRangePopPayload(domain, &at_end, 1) == 0);

  call = event("ncclAllReduce");
  const AllReduce arguments = {0x1234, 4096, 2};
  nvtxPayloadData_t data{};
  NVTX_PAYLOAD_EVTATTR_SET_DATA(call, &data, kAllReduce, &arguments, sizeof arguments)
  require(nvtxDomainRangePushEx(domain, &call) == 0);
  SIM_CHECK(sim_program::launch(sim_program::kernel("ncclDevKernel_AllReduce_Max_f32_RING_LL")));
  nvtxDomainRangePop(domain);
}

struct Inner {
  short x;
  double y;
};
struct Whole {
  const char* name;
  const char* text;
  const wchar_t* wide;
  Inner inner;
  uint8_t list[3];
  char chars[5];
  uint16_t flags;
  uint32_t category;
  uint64_t odd;
};

void structs() {
  const nvtxPayloadEnum_t bits[] = {{"A", 1, 1}, {"B", 2, 1}, {"C", 4, 1}};
  nvtxPayloadEnumAttr_t enumeration{};
  enumeration.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  enumeration.entries = bits;
  enumeration.numEntries = 3;
  enumeration.sizeOfEnum = 2;
  const uint64_t flags = nvtxPayloadEnumRegister(nullptr, &enumeration);
  const nvtxPayloadSchemaEntry_t inner[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_SHORT, "x"},
                                            {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "y"}};
  const uint64_t nested = schema(nullptr, inner);
  require(flags >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START && nested > flags);
  const nvtxPayloadSchemaEntry_t whole[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name"},
      {NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8,
       "text"},
      {NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32,
       "wide"},
      {0, nested, "inner"},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "list", nullptr, 3},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "chars", nullptr, 5},
      {0, flags, "flags"},
      {NVTX_PAYLOAD_ENTRY_FLAG_HIDE, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "category"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "odd"}};
  const uint64_t id = schema(nullptr, whole);
  const Whole value = {"from payload", "copied", L"w\u00f6rld", {-1, 0.5}, {1, 2, 3}, {'a', 'b', 'c', 0, 0}, 5, 7, 9};
  const nvtxPayloadData_t data = {id, sizeof value, &value};
  require(nvtxRangePushPayload(nullptr, &data, 1) == 0);
  require(nvtxRangePop() == 0);
}

// Several payloads of one event, one of them with a length that its own values give, and a union.
void several() {
  const nvtxPayloadSchemaEntry_t list[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "count"},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "values", nullptr, 0},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "tail"}};
  const uint64_t dynamic = schema(nullptr, list, 0, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
  const nvtxPayloadSchemaEntry_t members[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "first"},
                                              {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "second"}};
  const uint64_t either = schema(nullptr, members, 0, NVTX_PAYLOAD_SCHEMA_TYPE_UNION);
  const nvtxPayloadSchemaEntry_t chosen[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "kind"},
      {0, either, "one", nullptr, 0},
      {NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_UINT16,
       "other", nullptr, 2}};
  const uint64_t selected = schema(nullptr, chosen);
  const uint8_t raw[] = {1, 2};
  const int number = 42;
  const struct {
    uint32_t count, values[3];
    uint8_t tail;
  } counted = {3, {10, 20, 30}, 5};
  const uint16_t elsewhere[] = {7, 8};
  const struct {
    uint64_t kind;
    double second;
    const uint16_t* other;
  } choice = {1, 2.5, elsewhere};
  const nvtxPayloadData_t data[] = {{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, "text"},
                                    {NVTX_PAYLOAD_ENTRY_TYPE_INT, sizeof number, &number},
                                    {NVTX_TYPE_PAYLOAD_SCHEMA_RAW, sizeof raw, raw},
                                    {dynamic, sizeof counted, &counted},
                                    {selected, sizeof choice, &choice},
                                    {NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, sizeof elsewhere, elsewhere}};
  nvtxEventAttributes_t mark = event("mark");
  NVTX_PAYLOAD_EVTATTR_SET_MULTIPLE(mark, data)
  nvtxMarkEx(&mark);
}

// Values through pointers, which must be copied, through an offset, and in a union that selects its member itself.
void elsewhere() {
  constexpr uint64_t kCopied = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;
  const nvtxPayloadSchemaEntry_t inner[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_SHORT, "x"},
                                            {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "y"}};
  const uint64_t pair = schema(nullptr, inner);
  const nvtxPayloadSchemaEntry_t members[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR, "kind"},
                                              {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "small", nullptr, 0, 4},
                                              {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "large", nullptr, 0, 4}};
  const uint64_t either = schema(nullptr, members, 0, NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR);
  struct Value {
    int count;
    const uint16_t* list;
    const Inner* one;
    const uint32_t* ended;
    const uint32_t* none;
    uint64_t near;
    uint32_t kind, large;
    unsigned __int128 wide;
    uint8_t at[2];
  };
  const nvtxPayloadSchemaEntry_t entries[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_HIDE, NVTX_PAYLOAD_ENTRY_TYPE_INT, "count"},
      {kCopied | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "list", nullptr, 0},
      {kCopied, pair, "pair"},
      {kCopied | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "ended"},
      {kCopied, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "none"},
      {NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
       NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "near", nullptr, 2},
      {0, either, "u", nullptr, 0, offsetof(Value, kind)},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT128, "wide", nullptr, 0, offsetof(Value, wide)}};
  const uint64_t id = schema(nullptr, entries);
  const uint16_t list[] = {10, 20, 30};
  const Inner one = {-2, 0.25};
  const uint32_t ended[] = {4, 5, 0};
  const Value value = {
      3,     list, &one, ended, nullptr, offsetof(Value, at), 2, 258, (static_cast<unsigned __int128>(1) << 64) + 1,
      {6, 7}};
  const nvtxPayloadData_t data[] = {{id, sizeof value, &value}};
  nvtxEventAttributes_t mark = event("elsewhere");
  NVTX_PAYLOAD_EVTATTR_SET_MULTIPLE(mark, data)
  nvtxMarkEx(&mark);

  const nvtxPayloadSchemaEntry_t rows[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "rows", nullptr, 1}};
  const uint8_t matrix[] = {1, 2, 3, 4, 5, 6};
  const nvtxPayloadSchemaEntry_t shape[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "shape", nullptr, 2}};
  const uint32_t dimensions[] = {2, 3};
  const nvtxPayloadData_t both[] = {{schema(nullptr, rows, 0, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC), sizeof matrix, matrix},
                                    {schema(nullptr, shape), sizeof dimensions, dimensions}};
  nvtxEventAttributes_t counted = event("counted");
  NVTX_PAYLOAD_EVTATTR_SET_MULTIPLE(counted, both)
  nvtxMarkEx(&counted);
}

void at_the_end() {
  const nvtxPayloadSchemaEntry_t entries[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "done"}};
  const uint64_t id = schema(nullptr, entries);
  const uint8_t done = 1;
  const nvtxPayloadData_t data = {id, 1, &done};
  nvtxRangeEndPayload(nullptr, nvtxRangeStartA("at its end"), &data, 1);
}

}  // namespace

int main() {
  sim_program::make_context();
  nccl();
  structs();
  several();
  elsewhere();
  at_the_end();
  if (nvtxDomainIsEnabled(nullptr) != 1) return 2;
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
