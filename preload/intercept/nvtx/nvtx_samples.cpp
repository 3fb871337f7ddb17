#include "preload/intercept/nvtx/nvtx_samples.h"

#include "preload/base/clock.h"
#include "preload/format/nvtx_types.h"
#include "preload/intercept/nvtx/nvtx_clocks.h"
#include "preload/intercept/nvtx/nvtx_payload_bytes.h"
#include "preload/intercept/nvtx/nvtx_record.h"
#include "preload/intercept/nvtx/nvtx_scopes.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/log/count.h"
#include "preload/record/append.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace prof::preload {

namespace {

// Defines the scopes that a sample names in the log.
void define_scopes_of(const NvtxCounter& counter, std::string_view data) {
  const NvtxSchema* const schema = nvtx_schema(counter.domain, counter.schema);
  for (uint32_t i = 0; schema != nullptr && i < schema->field_count; ++i) {
    const NvtxField& field = schema->fields[i];
    uint64_t number = 0;
    if (field.what != NvtxField::Scope || field.offset + sizeof number > data.size()) continue;
    std::memcpy(&number, data.data() + field.offset, sizeof number);
    nvtx_define_scope(counter.domain, number);
  }
}

}  // namespace

void nvtx_sample(NvtxCounter* counter, const NvtxSampled& sampled) {
  const EventScope scope;
  if (!scope.recording()) return;
  format::NvtxSample event;
  event.counter = nvtx_counter_id(counter);
  event.time = now_ticks();
  event.form = sampled.form;
  event.value = sampled.value;
  event.data = sampled.data;
  if (event.data.size() > kMaxPayloadBytes) {
    event.data = event.data.substr(0, kMaxPayloadBytes);
    count(format::LossCounter::nvtx_payload_cut);
  }
  if (sampled.form == format::SampleForm::Bytes) define_scopes_of(*counter, event.data);
  if (sampled.stamped) {
    const uint64_t where = sampled.scope != 0 ? sampled.scope : counter->scope;
    event.clock = nvtx_stamp_clock(counter->domain, sampled.time_domain, where);
  }
  if (event.clock == format::StampClock::Unknown) count(format::LossCounter::nvtx_times_unknown);
  event.stamp = sampled.stamp;
  emit(event);
}

// The batch has one time stamp for each sample, or the first (or last) stamp and the distance between two.
void nvtx_sample_batch(NvtxObject* domain, const NvtxCounterBatchGiven* batch) {
  NvtxCounter* const counter = batch != nullptr ? nvtx_counter(domain, batch->counter) : nullptr;
  if (counter != nullptr && batch->samples != nullptr) {
    const NvtxSchema* const schema = nvtx_schema(domain, counter->schema);
    const size_t size = schema != nullptr ? schema->size : format::nvtx::type_bytes(counter->schema);
    const size_t samples = size != 0 ? batch->samples_size / size : 0;
    if (samples == 0) count(format::LossCounter::nvtx_schema_refused);
    const size_t stamps = batch->stamps != nullptr ? batch->stamps_size / sizeof(int64_t) : 0;
    const bool from_end = (batch->flags >> 32 & 3) == 2;
    const bool paired = stamps == 2 && samples != 2;
    NvtxField stamp_field;
    bool stamped_inside = false;
    for (uint32_t i = 0; schema != nullptr && i < schema->field_count; ++i) {
      if (schema->fields[i].what != NvtxField::BeginStamp) continue;
      stamp_field = schema->fields[i];
      stamped_inside = true;
    }
    for (size_t i = 0; i < samples; ++i) {
      NvtxSampled sampled;
      sampled.form = format::SampleForm::Bytes;
      sampled.data = {static_cast<const char*>(batch->samples) + i * size, size};
      if (paired) {
        const auto steps = static_cast<int64_t>(from_end ? i + 1 - samples : i);
        sampled.stamp = static_cast<uint64_t>(batch->stamps[0]) +
                        static_cast<uint64_t>(batch->stamps[1]) * static_cast<uint64_t>(steps);
        sampled.stamped = true;
        sampled.time_domain = counter->time_domain;
      } else if (i < stamps) {
        sampled.stamp = static_cast<uint64_t>(batch->stamps[i]);
        sampled.stamped = true;
        sampled.time_domain = counter->time_domain;
      } else if (stamped_inside && stamp_field.offset + 8 <= size) {
        std::memcpy(&sampled.stamp, sampled.data.data() + stamp_field.offset, 8);
        sampled.stamped = true;
        sampled.time_domain = stamp_field.time_domain != 0 ? stamp_field.time_domain : counter->time_domain;
        sampled.scope = stamp_field.scope;
      }
      nvtx_sample(counter, sampled);
    }
  } else {
    count(format::LossCounter::nvtx_handles_unknown);
  }
}

}  // namespace prof::preload
