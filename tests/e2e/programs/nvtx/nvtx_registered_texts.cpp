// Payloads with registered strings, as XLA attaches them to its ranges: objects that begin with other members, handles
// in another order than the entries, texts of many kilobytes, and null handles. The log has each text once and whole.
// Expect: status 0
// Expect: log 1: whole, 0 lost, counter nvtx_payload_cut 0, counter text_cut 0, 200 nvtx_push(Thunk), 1 nvtx_mark(a handle as a text), size < 250000
// Expect: report nvtx-trace: coverage: launches 0, with GPU time 0; GPU operations 0, with launch 0; lost records 0$
// Expect: report nvtx-trace: 200 x ,Thunk,.*"HLO=""fusion .*end of HLO"", Called HLO=""short"", Source locations=""line 1 .*end of locations"""$
// Expect: report nvtx-trace: 100 x ,Module,.*"Name=""jit_step"", Unique ID=7"$
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExtPayload.h>

#include <string>

namespace {

struct Instruction {
  nvtxStringHandle_t hlo, locations, called;
};
struct Module {
  char other[56];
  nvtxStringHandle_t title, name, common_locations;
  int32_t id, frames;
};

template <size_t n>
uint64_t schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaEntry_t (&entries)[n], size_t size) {
  nvtxPayloadSchemaAttr_t given{};
  given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  given.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  given.entries = entries;
  given.numEntries = n;
  given.payloadStaticSize = size;
  return nvtxPayloadSchemaRegister(domain, &given);
}

nvtxPayloadSchemaEntry_t entry(uint64_t type, const char* name, uint64_t offset) {
  nvtxPayloadSchemaEntry_t made{};
  made.type = type;
  made.name = name;
  made.offset = offset;
  return made;
}

template <class Object>
void push(nvtxDomainHandle_t domain, nvtxStringHandle_t title, uint64_t schema, const Object& object) {
  nvtxPayloadData_t payload{schema, sizeof object, &object};
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = title;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<uint64_t>(&payload);
  nvtxDomainRangePushEx(domain, &event);
}

}  // namespace

int main() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("TSL");
  const auto text = [&](const std::string& of) { return nvtxDomainRegisterStringA(domain, of.c_str()); };
  constexpr uint64_t kText = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
  const nvtxPayloadSchemaEntry_t of_instruction[] = {
      entry(kText, "HLO", offsetof(Instruction, hlo)), entry(kText, "Called HLO", offsetof(Instruction, called)),
      entry(kText, "Source locations", offsetof(Instruction, locations))};
  const nvtxPayloadSchemaEntry_t of_module[] = {
      entry(kText, "Name", offsetof(Module, name)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "Unique ID", offsetof(Module, id)),
      entry(kText, "Common source locations", offsetof(Module, common_locations))};
  const uint64_t instruction_schema = schema(domain, of_instruction, sizeof(Instruction));
  const uint64_t module_schema = schema(domain, of_module, sizeof(Module));
  const nvtxStringHandle_t thunk = text("Thunk"), module = text("Module");
  Instruction instructions[4];
  for (int i = 0; i < 4; ++i) {
    const std::string long_text(5000, static_cast<char>('a' + i));
    instructions[i] = {text("fusion " + long_text + " end of HLO"), text("line 1 " + long_text + " end of locations"),
                       text("short")};
  }
  nvtxEventAttributes_t as_text{};  // with the handle as a text, as a sample of CUPTI does it
  as_text.version = NVTX_VERSION;
  as_text.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  as_text.messageType = NVTX_MESSAGE_TYPE_ASCII;
  as_text.message.registered = text("a handle as a text");
  nvtxDomainMarkEx(domain, &as_text);
  const Module step{{}, module, text("jit_step"), nullptr, 7, 0};
  for (int i = 0; i < 100; ++i) {
    push(domain, module, module_schema, step);
    for (int k = 0; k < 2; ++k) {
      push(domain, thunk, instruction_schema, instructions[(i + k) % 4]);
      nvtxDomainRangePop(domain);
    }
    nvtxDomainRangePop(domain);
  }
}
