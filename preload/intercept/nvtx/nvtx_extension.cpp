// NVTX's payload and counter extensions: our functions, and InitializeInjectionNvtxExtension, by which each shared
// object of the program finds them. As in nvtx_functions.h, our function runs and then the chained tool's. The program
// gets the tool's numbers of schemas and counters, so both tools use the same numbers.
#include "preload/base/clock.h"
#include "preload/base/options.h"
#include "preload/base/own_library.h"
#include "preload/intercept/nvtx/nvtx_chain.h"
#include "preload/intercept/nvtx/nvtx_clocks.h"
#include "preload/intercept/nvtx/nvtx_extension_api.h"
#include "preload/intercept/nvtx/nvtx_record.h"
#include "preload/intercept/nvtx/nvtx_samples.h"
#include "preload/intercept/nvtx/nvtx_schemas.h"
#include "preload/intercept/nvtx/nvtx_scopes.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/lifecycle/load.h"
#include "preload/log/count.h"
#include "preload/record/thread_local.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace prof::preload {
namespace {

constexpr size_t kSlots = 64;
intptr_t g_their_payload[kSlots], g_their_counters[kSlots];  // the chained tool's functions; 0: none

// The chained tool's function, called after ours with its own domain.
template <class Result, class... Args>
Result theirs(intptr_t slot, Result otherwise, nvtxDomainHandle_t domain, Args... args) {
  if (slot == 0) return otherwise;
  return reinterpret_cast<Result (*)(nvtxDomainHandle_t, Args...)>(slot)(chained_domain(nvtx_domain_of(domain)),
                                                                         args...);
}
template <class... Args> void tell(intptr_t slot, nvtxDomainHandle_t domain, Args... args) {
  if (slot != 0)
    reinterpret_cast<void (*)(nvtxDomainHandle_t, Args...)>(slot)(chained_domain(nvtx_domain_of(domain)), args...);
}

NvtxMessage extended(const NvtxPayloadData* payloads, size_t payload_count) {
  NvtxMessage message;
  if (payloads == nullptr || payload_count == 0) return message;
  message.payload_type = nvtx_extended(payload_count);
  message.payload = reinterpret_cast<uint64_t>(payloads);
  return message;
}

// A recording must have started before the clock of a time stamp is known.
void begin_life() { const EventScope scope; }

uint64_t PayloadSchemaRegister(nvtxDomainHandle_t domain, const NvtxSchemaGiven* given) {
  const KeepErrno keep;
  begin_life();
  return nvtx_register_schema(nvtx_domain_of(domain), given, theirs(g_their_payload[0], uint64_t{0}, domain, given));
}
uint64_t PayloadEnumRegister(nvtxDomainHandle_t domain, const NvtxEnumGiven* given) {
  const KeepErrno keep;
  return nvtx_register_enum(nvtx_domain_of(domain), given, theirs(g_their_payload[1], uint64_t{0}, domain, given));
}
void MarkPayload(nvtxDomainHandle_t domain, const NvtxPayloadData* payloads, size_t payload_count) {
  const KeepErrno keep;
  nvtx_mark(nvtx_domain_of(domain), extended(payloads, payload_count));
  tell(g_their_payload[2], domain, payloads, payload_count);
}
int RangePushPayload(nvtxDomainHandle_t domain, const NvtxPayloadData* payloads, size_t payload_count) {
  const KeepErrno keep;
  const int level = nvtx_push(nvtx_domain_of(domain), extended(payloads, payload_count));
  theirs(g_their_payload[3], 0, domain, payloads, payload_count);
  return level;
}
int RangePopPayload(nvtxDomainHandle_t domain, const NvtxPayloadData* payloads, size_t payload_count) {
  const KeepErrno keep;
  const int level = nvtx_pop(nvtx_domain_of(domain), payloads, payload_count);
  theirs(g_their_payload[4], 0, domain, payloads, payload_count);
  return level;
}
nvtxRangeId_t RangeStartPayload(nvtxDomainHandle_t domain, const NvtxPayloadData* payloads, size_t payload_count) {
  const KeepErrno keep;
  const uint64_t range = nvtx_start(nvtx_domain_of(domain), extended(payloads, payload_count));
  if (g_their_payload[5] != 0)
    chain_range(range, theirs(g_their_payload[5], nvtxRangeId_t{0}, domain, payloads, payload_count));
  return range;
}
void RangeEndPayload(nvtxDomainHandle_t domain, nvtxRangeId_t range, const NvtxPayloadData* payloads,
                     size_t payload_count) {
  const KeepErrno keep;
  nvtx_end(nvtx_domain_of(domain), range, payloads, payload_count);
  if (g_their_payload[6] != 0) tell(g_their_payload[6], domain, chained_range(range), payloads, payload_count);
}
uint8_t DomainIsEnabled(nvtxDomainHandle_t) { return 1; }

int64_t TimestampGet() {
  const KeepErrno keep;
  const EventScope scope;
  if (scope.recording()) return static_cast<int64_t>(now_ticks());
  return static_cast<int64_t>(monotonic_ns());
}
uint64_t TimeDomainRegister(nvtxDomainHandle_t domain, const NvtxTimeDomainGiven* given) {
  const KeepErrno keep;
  begin_life();
  return nvtx_register_time_domain(nvtx_domain_of(domain), given,
                                   theirs(g_their_payload[9], uint64_t{0}, domain, given));
}
void TimerSource(nvtxDomainHandle_t domain, uint64_t clock, uint64_t flags, int64_t (*source)()) {
  const KeepErrno keep;
  nvtx_timer_source(nvtx_domain_of(domain), clock, {source, nullptr, nullptr});
  tell(g_their_payload[10], domain, clock, flags, source);
}
void TimerSourceWithData(nvtxDomainHandle_t domain, uint64_t clock, uint64_t flags, int64_t (*source)(void*),
                         void* data) {
  const KeepErrno keep;
  nvtx_timer_source(nvtx_domain_of(domain), clock, {nullptr, source, data});
  tell(g_their_payload[11], domain, clock, flags, source, data);
}
uint64_t ScopeRegister(nvtxDomainHandle_t domain, const NvtxScopeGiven* given) {
  const KeepErrno keep;
  return nvtx_register_scope(nvtx_domain_of(domain), given, theirs(g_their_payload[12], uint64_t{0}, domain, given));
}
void TimeSyncPoint(nvtxDomainHandle_t domain, uint64_t one, uint64_t other, int64_t first, int64_t second) {
  const KeepErrno keep;
  nvtx_sync_clocks(nvtx_domain_of(domain), {one, other, first, second, 0});
  tell(g_their_payload[13], domain, one, other, first, second);
}
void TimeSyncPointTable(nvtxDomainHandle_t domain, uint64_t from, uint64_t to, const NvtxSyncPointGiven* points,
                        size_t point_count) {
  const KeepErrno keep;
  for (size_t i = 0; points != nullptr && i < point_count; ++i)
    nvtx_sync_clocks(nvtx_domain_of(domain), {from, to, points[i].source, points[i].destination, 0});
  tell(g_their_payload[14], domain, from, to, points, point_count);
}
void TimestampConversionFactor(nvtxDomainHandle_t domain, uint64_t from, uint64_t to, double slope, int64_t source,
                               int64_t destination) {
  const KeepErrno keep;
  nvtx_sync_clocks(nvtx_domain_of(domain), {from, to, source, destination, slope});
  tell(g_their_payload[15], domain, from, to, slope, source, destination);
}
void EventSubmit(nvtxDomainHandle_t domain, const NvtxPayloadData* payloads, size_t payload_count) {
  const KeepErrno keep;
  nvtx_deferred(nvtx_domain_of(domain), payloads, payload_count, 0);
  tell(g_their_payload[16], domain, payloads, payload_count);
}
void EventBatchSubmit(nvtxDomainHandle_t domain, const NvtxEventBatchGiven* batch) {
  const KeepErrno keep;
  NvtxObject* const object = nvtx_domain_of(domain);
  const NvtxSchema* const schema = batch != nullptr ? nvtx_schema(object, batch->schema) : nullptr;
  if (schema != nullptr && schema->size != 0 && batch->events != nullptr) {
    for (size_t at = 0; at + schema->size <= batch->size; at += schema->size) {
      const NvtxPayloadData one = {batch->schema, schema->size, static_cast<const char*>(batch->events) + at};
      nvtx_deferred(object, &one, 1, batch->scope);
    }
  } else {
    count(format::LossCounter::nvtx_schema_refused);
  }
  tell(g_their_payload[17], domain, batch);
}

uint64_t CounterRegister(nvtxDomainHandle_t domain, const NvtxCounterGiven* given) {
  const KeepErrno keep;
  begin_life();
  return nvtx_register_counter(nvtx_domain_of(domain), given, theirs(g_their_counters[0], uint64_t{0}, domain, given));
}
void sample(nvtxDomainHandle_t domain, uint64_t counter, const NvtxSampled& sampled) {
  if (NvtxCounter* const known = nvtx_counter(nvtx_domain_of(domain), counter); known != nullptr) {
    nvtx_sample(known, sampled);
  } else {
    count(format::LossCounter::nvtx_handles_unknown);
  }
}
void CounterSampleInt64(nvtxDomainHandle_t domain, uint64_t counter, int64_t value) {
  const KeepErrno keep;
  sample(domain, counter, {format::SampleForm::Int64, static_cast<uint64_t>(value), {}, false, 0, 0});
  tell(g_their_counters[1], domain, counter, value);
}
void CounterSampleFloat64(nvtxDomainHandle_t domain, uint64_t counter, double value) {
  const KeepErrno keep;
  NvtxSampled sampled;
  sampled.form = format::SampleForm::Double;
  std::memcpy(&sampled.value, &value, sizeof value);
  sample(domain, counter, sampled);
  tell(g_their_counters[2], domain, counter, value);
}
void CounterSample(nvtxDomainHandle_t domain, uint64_t counter, const void* values, size_t size) {
  const KeepErrno keep;
  NvtxSampled sampled;
  sampled.form = format::SampleForm::Bytes;
  if (values != nullptr) sampled.data = {static_cast<const char*>(values), size};
  sample(domain, counter, sampled);
  tell(g_their_counters[3], domain, counter, values, size);
}
void CounterSampleNoValue(nvtxDomainHandle_t domain, uint64_t counter, uint8_t reason) {
  const KeepErrno keep;
  NvtxSampled sampled;
  sampled.form = reason == 0   ? format::SampleForm::Zero
                 : reason == 1 ? format::SampleForm::Unchanged
                               : format::SampleForm::Unavailable;
  sample(domain, counter, sampled);
  tell(g_their_counters[4], domain, counter, reason);
}

void CounterBatchSubmit(nvtxDomainHandle_t domain, const NvtxCounterBatchGiven* batch) {
  const KeepErrno keep;
  nvtx_sample_batch(nvtx_domain_of(domain), batch);
  tell(g_their_counters[5], domain, batch);
}

// Functions by NVTX's callback id. They are cast in place: if a function made the casts, the tables would be filled at
// every start of the program.
#define SLOT(function) reinterpret_cast<intptr_t>(function)
const intptr_t kPayload[] = {
    SLOT(PayloadSchemaRegister), SLOT(PayloadEnumRegister), SLOT(MarkPayload),        SLOT(RangePushPayload),
    SLOT(RangePopPayload),       SLOT(RangeStartPayload),   SLOT(RangeEndPayload),    SLOT(DomainIsEnabled),
    SLOT(TimestampGet),          SLOT(TimeDomainRegister),  SLOT(TimerSource),        SLOT(TimerSourceWithData),
    SLOT(ScopeRegister),         SLOT(TimeSyncPoint),       SLOT(TimeSyncPointTable), SLOT(TimestampConversionFactor),
    SLOT(EventSubmit),           SLOT(EventBatchSubmit)};
const intptr_t kCounters[] = {SLOT(CounterRegister), SLOT(CounterSampleInt64),   SLOT(CounterSampleFloat64),
                              SLOT(CounterSample),   SLOT(CounterSampleNoValue), SLOT(CounterBatchSubmit)};
#undef SLOT

using InitializeExtension = int (*)(NvtxExtModule*);

// The chained tool fills a table of ours. NVTX writes a small number into a slot that no tool fills.
void chain_extension(const NvtxExtModule& module, intptr_t* slots, InitializeExtension initialize) {
  intptr_t filled[kSlots] = {};
  NvtxExtSegment segment = {0, kSlots - 1, filled};
  NvtxExtModule copy = module;
  copy.segment_count = 1;
  copy.segments = &segment;
  if (initialize(&copy) == 0) return;
  for (size_t i = 0; i < kSlots; ++i) slots[i] = filled[i] > 16 ? filled[i] : 0;
}

bool extensions_off() { return !ready_to_record() || !options().nvtx; }

int install(NvtxExtModule& module) {
  if (module.struct_size < sizeof module || module.segments == nullptr || module.segment_count == 0) return 0;
  const auto theirs_too = reinterpret_cast<InitializeExtension>(chained_symbol(kNvtxExtensionEntry));
  const bool payload = module.module == kNvtxPayloadModule;
  if (!payload && module.module != kNvtxCountersModule) return theirs_too != nullptr ? theirs_too(&module) : 0;
  if (theirs_too != nullptr) chain_extension(module, payload ? g_their_payload : g_their_counters, theirs_too);
  const NvtxExtSegment& segment = module.segments[0];
  const intptr_t* const ours = payload ? kPayload : kCounters;
  const size_t have = payload ? sizeof kPayload / sizeof *kPayload : sizeof kCounters / sizeof *kCounters;
  for (size_t i = 0; i < have && i < segment.slot_count; ++i) segment.slots[i] = ours[i];
  return 1;
}

}  // namespace
}  // namespace prof::preload

// 0 means that the tool does not know this extension. NVTX then makes every function of it a no-op.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    prof::preload::NvtxExtModule* module) {
  using namespace prof::preload;
  if (module == nullptr || inert() || extensions_off()) return 0;
  const KeepErrno keep;
  return install(*module);
}
