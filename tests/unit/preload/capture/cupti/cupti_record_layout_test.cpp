// Where the fields of user-defined records are, and how they are made from whole records.
#include "preload/capture/cupti/cupti_record_layout.h"

#include "preload/capture/cupti/cupti_headers.h"

#include <gtest/gtest.h>

#include <cstring>

namespace prof::preload {
namespace {

void expect_at(uint32_t kind, int id, size_t offset, size_t bytes) {
  for (const CuptiFieldRow& row : cupti_fields(kind)) {
    if (row.id != id) continue;
    EXPECT_EQ(row.offset, offset) << "kind " << kind << " field " << id;
    EXPECT_EQ(row.bytes, bytes) << "kind " << kind << " field " << id;
    return;
  }
  ADD_FAILURE() << "kind " << kind << " has no field " << id;
}
#define EXPECT_FIELD(kind, id, record, member) expect_at(kind, id, offsetof(record, member), sizeof(record::member))

TEST(CuptiRecordLayout, FieldsAreWhereTheHeadersHaveThem) {
  for (const uint32_t kernel : {CUPTI_ACTIVITY_KIND_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}) {
    EXPECT_FIELD(kernel, 4, CUpti_ActivityKernel10, registersPerThread);
    EXPECT_FIELD(kernel, 7, CUpti_ActivityKernel10, start);
    EXPECT_FIELD(kernel, 8, CUpti_ActivityKernel10, end);
    EXPECT_FIELD(kernel, 13, CUpti_ActivityKernel10, gridX);
    EXPECT_FIELD(kernel, 22, CUpti_ActivityKernel10, correlationId);
    EXPECT_FIELD(kernel, 24, CUpti_ActivityKernel10, name);
    EXPECT_FIELD(kernel, 31, CUpti_ActivityKernel10, graphNodeId);
  }
  EXPECT_FIELD(CUPTI_ACTIVITY_KIND_MEMCPY, 5, CUpti_ActivityMemcpy6, bytes);
  EXPECT_FIELD(CUPTI_ACTIVITY_KIND_MEMCPY, 11, CUpti_ActivityMemcpy6, correlationId);
  EXPECT_FIELD(CUPTI_ACTIVITY_KIND_MEMCPY2, 11, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
  EXPECT_FIELD(CUPTI_ACTIVITY_KIND_MEMSET, 1, CUpti_ActivityMemset4, value);
  EXPECT_FIELD(CUPTI_ACTIVITY_KIND_MEMSET, 8, CUpti_ActivityMemset4, correlationId);
  for (const uint32_t calls : {CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME}) {
    EXPECT_FIELD(calls, 1, CUpti_ActivityAPI, cbid);
    EXPECT_FIELD(calls, 5, CUpti_ActivityAPI, threadId);
    EXPECT_FIELD(calls, 7, CUpti_ActivityAPI, returnValue);
  }
  EXPECT_FIELD(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 2, CUpti_ActivityExternalCorrelation, externalId);
  EXPECT_FIELD(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 5, CUpti_ActivityGraphTrace2, graphId);
  EXPECT_FIELD(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 3, CUpti_ActivitySynchronization2, end);
  EXPECT_FIELD(CUPTI_ACTIVITY_KIND_OVERHEAD, 5, CUpti_ActivityOverhead3, end);
}

TEST(CuptiRecordLayout, SelectedFieldsFollowEachOtherAligned) {
  const int ids[] = {0, 4, 22, 27, 24};  // kind, registers, correlation id, launch type, name
  CuptiLayout* const layout =
      make_cupti_layout(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, {sizeof(CuptiFieldSelection), 5, ids});
  ASSERT_NE(layout, nullptr);
  const size_t offsets[] = {0, 4, 8, 16, 24}, bytes[] = {4, 2, 8, 1, 8};
  ASSERT_EQ(layout->places.count, 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(layout->places.fields[i].id, ids[i]);
    EXPECT_EQ(layout->places.fields[i].offset, offsets[i]);
    EXPECT_EQ(layout->places.fields[i].bytes, bytes[i]);
  }
  EXPECT_EQ(layout->places.record_bytes, 32u);
  EXPECT_TRUE(same_cupti_layout(*layout, {sizeof(CuptiFieldSelection), 5, ids}));
  EXPECT_FALSE(same_cupti_layout(*layout, {sizeof(CuptiFieldSelection), 4, ids}));

  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.registersPerThread = 77;
  kernel.correlationId = 0xfedcba98;
  kernel.launchType = 1;
  kernel.name = "kernel";
  uint8_t record[32];
  write_user_record(*layout, reinterpret_cast<const uint8_t*>(&kernel), sizeof kernel, 0, record);
  const auto value = [&](size_t at, size_t size) {
    uint64_t found = 0;
    std::memcpy(&found, record + at, size);
    return found;
  };
  EXPECT_EQ(value(0, 4), static_cast<uint64_t>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  EXPECT_EQ(value(4, 2), 77u);
  EXPECT_EQ(value(8, 8), 0xfedcba98u) << "widened without a sign";
  EXPECT_EQ(value(16, 1), 1u);
  EXPECT_EQ(value(24, 8), reinterpret_cast<uint64_t>(kernel.name));
}

TEST(CuptiRecordLayout, WhatARecordDoesNotHaveIsZeroAndAThreadIsWhole) {
  const int ids[] = {0, 5, 7};  // kind, thread, result
  CuptiLayout* const layout = make_cupti_layout(CUPTI_ACTIVITY_KIND_DRIVER, {sizeof(CuptiFieldSelection), 3, ids});
  ASSERT_NE(layout, nullptr);
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  call.threadId = 12;
  call.returnValue = 700;
  uint64_t record[3];
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&call);
  write_user_record(*layout, bytes, sizeof call, 0x7f0012345678, reinterpret_cast<uint8_t*>(record));
  EXPECT_EQ(record[1], 0x7f0012345678u);
  EXPECT_EQ(record[2], 700u);
  write_user_record(*layout, bytes, offsetof(CUpti_ActivityAPI, returnValue), 0, reinterpret_cast<uint8_t*>(record));
  EXPECT_EQ(record[1], 12u);
  EXPECT_EQ(record[2], 0u) << "a shorter record of an older CUPTI";
}

TEST(CuptiRecordLayout, WrongSelectionsAreRefused) {
  const int without_kind[] = {7, 8}, unknown[] = {0, 200};
  EXPECT_EQ(make_cupti_layout(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, {sizeof(CuptiFieldSelection), 2, without_kind}),
            nullptr);
  CuptiLayout* const known = make_cupti_layout(CUPTI_ACTIVITY_KIND_MEMCPY, {sizeof(CuptiFieldSelection), 2, unknown});
  ASSERT_NE(known, nullptr) << "as CUPTI does";
  ASSERT_EQ(known->places.count, 2u);
  EXPECT_EQ(known->places.fields[1].id, 200);
  EXPECT_EQ(known->places.fields[1].offset, 4u);
  EXPECT_EQ(known->places.fields[1].bytes, 0u);
  EXPECT_EQ(known->places.record_bytes, 4u) << "a multiple of the largest alignment";
  EXPECT_EQ(make_cupti_layout(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, {sizeof(CuptiFieldSelection), 0, unknown}),
            nullptr);
  EXPECT_EQ(make_cupti_layout(CUPTI_ACTIVITY_KIND_MODULE, {sizeof(CuptiFieldSelection), 1, unknown}), nullptr);
}

}  // namespace
}  // namespace prof::preload
