// libprof's declarations of the structs of NVTX's extensions, compared with the toolkit's headers, if it has them.
#include "preload/intercept/nvtx/nvtx_extension_api.h"
#include "preload/format/nvtx_types.h"

#include <gtest/gtest.h>

#include <utility>

#if __has_include(<nvtx3/nvToolsExtSemanticsCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsScope.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

namespace prof::preload {
namespace {

#define SAME_FIELD(Ours, our, Theirs, their) EXPECT_EQ(offsetof(Ours, our), offsetof(Theirs, their)) << #Ours "." #our

TEST(NvtxExtensionApi, StructsAreLaidOutAsInTheToolkit) {
  EXPECT_EQ(sizeof(NvtxExtModule), sizeof(nvtxExtModuleInfo_t));
  SAME_FIELD(NvtxExtModule, module, nvtxExtModuleInfo_t, moduleId);
  SAME_FIELD(NvtxExtModule, segments, nvtxExtModuleInfo_t, segments);
  EXPECT_EQ(sizeof(NvtxExtSegment), sizeof(nvtxExtModuleSegment_t));
  SAME_FIELD(NvtxExtSegment, slots, nvtxExtModuleSegment_t, functionSlots);
  EXPECT_EQ(sizeof(NvtxPayloadData), sizeof(nvtxPayloadData_t));
  SAME_FIELD(NvtxPayloadData, payload, nvtxPayloadData_t, payload);
  EXPECT_EQ(sizeof(NvtxSchemaEntryGiven), sizeof(nvtxPayloadSchemaEntry_t));
  SAME_FIELD(NvtxSchemaEntryGiven, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
  SAME_FIELD(NvtxSchemaEntryGiven, semantics, nvtxPayloadSchemaEntry_t, semantics);
  EXPECT_EQ(sizeof(NvtxSchemaGiven), sizeof(nvtxPayloadSchemaAttr_t));
  SAME_FIELD(NvtxSchemaGiven, static_size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
  SAME_FIELD(NvtxSchemaGiven, id, nvtxPayloadSchemaAttr_t, schemaId);
  EXPECT_EQ(sizeof(NvtxEnumEntryGiven), sizeof(nvtxPayloadEnum_t));
  EXPECT_EQ(sizeof(NvtxEnumGiven), sizeof(nvtxPayloadEnumAttr_t));
  SAME_FIELD(NvtxEnumGiven, id, nvtxPayloadEnumAttr_t, schemaId);
  EXPECT_EQ(sizeof(NvtxTimeDomainGiven), sizeof(nvtxTimeDomainAttr_t));
  SAME_FIELD(NvtxTimeDomainGiven, id, nvtxTimeDomainAttr_t, timeDomainId);
  EXPECT_EQ(sizeof(NvtxScopeGiven), sizeof(nvtxScopeAttr_t));
  EXPECT_EQ(sizeof(NvtxEventBatchGiven), sizeof(nvtxEventBatch_t));
  SAME_FIELD(NvtxEventBatchGiven, events, nvtxEventBatch_t, events);
  EXPECT_EQ(sizeof(NvtxCounterGiven), sizeof(nvtxCounterAttr_t));
  SAME_FIELD(NvtxCounterGiven, semantics, nvtxCounterAttr_t, semantics);
  EXPECT_EQ(sizeof(NvtxCounterBatchGiven), sizeof(nvtxCounterBatch_t));
  SAME_FIELD(NvtxCounterBatchGiven, stamps, nvtxCounterBatch_t, timestamps);
  SAME_FIELD(NvtxSemanticsTime, time_domain, nvtxSemanticsTime_t, timeDomainId);
  SAME_FIELD(NvtxSemanticsCounter, unit, nvtxSemanticsCounter_t, unit);
  EXPECT_EQ(sizeof(NvtxSemanticsCounter), sizeof(nvtxSemanticsCounter_t));
  SAME_FIELD(NvtxSemanticsCounter, numerator, nvtxSemanticsCounter_t, unitScaleNumerator);
  SAME_FIELD(NvtxSemanticsCounter, limit_type, nvtxSemanticsCounter_t, limitType);
  SAME_FIELD(NvtxSemanticsCounter, max, nvtxSemanticsCounter_t, max);
  EXPECT_EQ(sizeof(NvtxSemanticsScope), sizeof(nvtxSemanticsScope_t));
  SAME_FIELD(NvtxSemanticsScope, scope, nvtxSemanticsScope_t, scopeId);
  SAME_FIELD(NvtxScopeGiven, parent, nvtxScopeAttr_t, parentScope);
  EXPECT_EQ(sizeof(NvtxSyncPointGiven), sizeof(nvtxSyncPoint_t));
  SAME_FIELD(NvtxSyncPointGiven, destination, nvtxSyncPoint_t, dst);
}

TEST(NvtxExtensionApi, NumbersAreThoseOfTheToolkit) {
  EXPECT_EQ(kNvtxPayloadModule, NVTX_EXT_PAYLOAD_MODULEID);
  EXPECT_EQ(kNvtxCountersModule, NVTX_EXT_COUNTERS_MODULEID);
  EXPECT_EQ(kNvtxPayloadTypeExtended, NVTX_PAYLOAD_TYPE_EXT);
  EXPECT_EQ(kSemanticsTime, NVTX_SEMANTIC_ID_TIME_V1);
  EXPECT_EQ(kSemanticsCounter, NVTX_SEMANTIC_ID_COUNTERS_V1);
  EXPECT_EQ(kSemanticsScope, NVTX_SEMANTIC_ID_SCOPE_V1);
  namespace nvtx = format::nvtx;
  EXPECT_EQ(nvtx::kFlagPointer, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
  EXPECT_EQ(nvtx::kArrayLengthIndex, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX);
  EXPECT_EQ(nvtx::kFlagDeepCopy, NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY);
  EXPECT_EQ(nvtx::kMeaningTime, NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP);
  EXPECT_EQ(nvtx::kOfEnd, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
  EXPECT_EQ(nvtx::kSchemaMark, NVTX_PAYLOAD_SCHEMA_FLAG_MARK);
  EXPECT_EQ(nvtx::kStringUtf32, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32);
  EXPECT_EQ(nvtx::kRegisteredString, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
  EXPECT_EQ(nvtx::kRaw, NVTX_TYPE_PAYLOAD_SCHEMA_RAW);
  EXPECT_EQ(nvtx::kScope, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID);
  EXPECT_EQ(nvtx::kPid64, NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64);
  EXPECT_EQ(nvtx::kTid32, NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32);
  EXPECT_EQ(nvtx::kFirstSchema, NVTX_SCOPE_ID_STATIC_START);
  EXPECT_EQ(nvtx::kFirstSchema, NVTX_TIME_DOMAIN_ID_STATIC_START);
  EXPECT_EQ(nvtx::kFirstDynamic, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
}

TEST(NvtxExtensionApi, SizesOfTypesAreThoseOfThisMachine) {
  const std::pair<uint64_t, size_t> sizes[] = {{NVTX_PAYLOAD_ENTRY_TYPE_CHAR, sizeof(char)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_SHORT, sizeof(short)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_INT, sizeof(int)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_ULONG, sizeof(unsigned long)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG, sizeof(long long)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_UINT16, sizeof(uint16_t)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, sizeof(double)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE, sizeof(long double)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_SIZE, sizeof(size_t)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS, sizeof(void*)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_WCHAR, sizeof(wchar_t)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_CHAR16, sizeof(char16_t)},
                                               {NVTX_PAYLOAD_ENTRY_TYPE_CHAR32, sizeof(char32_t)}};
  for (const auto& [type, size] : sizes) EXPECT_EQ(format::nvtx::type_bytes(type), size) << type;
}

}  // namespace
}  // namespace prof::preload
#endif
