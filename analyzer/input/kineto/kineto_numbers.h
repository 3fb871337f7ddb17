// Numbers of an event's members: times, ids, sizes. What is no number is counted in the tally, and a default is used.
#pragma once

#include "analyzer/input/kineto/kineto_event.h"
#include "analyzer/input/kineto/kineto_tally.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace prof::analyzer {

// `otherwise` if the event has no such argument, or if it is no integer of 64 bits (KinetoAside::BadNumber).
uint64_t read_number(const KinetoEvent& event, KinetoArgument argument, KinetoTally& tally, uint64_t otherwise = 0);
int64_t read_signed(const KinetoEvent& event, KinetoArgument argument, KinetoTally& tally, int64_t otherwise = 0);
// The low 32 bits of it: ids that CUPTI counts in 32 bits.
uint32_t read_id(const KinetoEvent& event, KinetoArgument argument, KinetoTally& tally);
// Likewise; negative numbers, which CUPTI writes for "none", are 0.
uint32_t read_optional_id(const KinetoEvent& event, KinetoArgument argument, KinetoTally& tally);

// The event's "device", else its pid, which torch.profiler writes there; 0 if that is a pid and no device's number.
uint32_t read_device(const KinetoEvent& event, KinetoTally& tally);

// The number that follows a word: "Stream #14(Compute)", "Stream #" -> 14.
std::optional<uint32_t> number_after(std::string_view text, std::string_view word);

// The number of a stream; false: it is no number, or "none", which CUPTI writes as -1.
bool read_stream_number(std::string_view text, uint32_t& number);

// Nanoseconds. An event without a duration ends at its start.
struct KinetoTimes {
  int64_t begin_ns = 0, end_ns = 0;
  bool with_duration = true;  // false: the event has none, though it should
};
// False: the event has no time, or one beyond 146 years; it is counted as skipped. The end may be before the start.
bool read_times(const KinetoEvent& event, bool with_duration, KinetoTally& tally, KinetoTimes& times);

}  // namespace prof::analyzer
