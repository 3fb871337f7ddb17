#include "analyzer/input/kineto/kineto_numbers.h"

#include "analyzer/base/json/json_decimal.h"

#include <algorithm>
#include <charconv>

namespace prof::analyzer {

uint64_t read_number(const KinetoEvent& event, KinetoArgument argument, KinetoTally& tally, uint64_t otherwise) {
  if (!event.has(argument)) return otherwise;
  uint64_t value = 0;
  if (to_uint64(event[argument], value) == DecimalResult::Ok) return value;
  tally.aside(KinetoAside::BadNumber);
  return otherwise;
}

int64_t read_signed(const KinetoEvent& event, KinetoArgument argument, KinetoTally& tally, int64_t otherwise) {
  if (!event.has(argument)) return otherwise;
  int64_t value = 0;
  if (to_int64(event[argument], value) == DecimalResult::Ok) return value;
  tally.aside(KinetoAside::BadNumber);
  return otherwise;
}

uint32_t read_id(const KinetoEvent& event, KinetoArgument argument, KinetoTally& tally) {
  return static_cast<uint32_t>(read_number(event, argument, tally));
}

uint32_t read_optional_id(const KinetoEvent& event, KinetoArgument argument, KinetoTally& tally) {
  return static_cast<uint32_t>(std::max<int64_t>(read_signed(event, argument, tally), 0));
}

uint32_t read_device(const KinetoEvent& event, KinetoTally& tally) {
  constexpr uint64_t kMostDevices = 4096;  // a larger number is a pid
  uint64_t device = 0;
  if (event.has(KinetoArgument::DeviceOrdinal)) {
    device = read_number(event, KinetoArgument::DeviceOrdinal, tally);
  } else if (to_uint64(event.pid, device) != DecimalResult::Ok) {
    device = 0;
  }
  return device < kMostDevices ? static_cast<uint32_t>(device) : 0;
}

std::optional<uint32_t> number_after(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  uint32_t number = 0;
  const char* const begin = text.data() + at + word.size();
  const char* const end = text.data() + text.size();
  if (std::from_chars(begin, end, number).ec != std::errc()) return std::nullopt;
  return number;
}

bool read_stream_number(std::string_view text, uint32_t& number) {
  int64_t value = 0;
  if (to_int64(text, value) != DecimalResult::Ok || value < 0 || value >= UINT32_MAX) return false;
  number = static_cast<uint32_t>(value);
  return true;
}

bool read_times(const KinetoEvent& event, bool with_duration, KinetoTally& tally, KinetoTimes& times) {
  const DecimalResult result = event.has_ts ? micros_to_ns(event.ts, times.begin_ns) : DecimalResult::NotANumber;
  if (result != DecimalResult::Ok) {
    tally.aside(result == DecimalResult::OutOfRange ? KinetoAside::FarTime : KinetoAside::NoTime);
    return false;
  }
  times.end_ns = times.begin_ns;
  if (!with_duration) return true;
  int64_t duration_ns = 0;
  const DecimalResult length = event.has_dur ? micros_to_ns(event.dur, duration_ns) : DecimalResult::NotANumber;
  if (length == DecimalResult::NotANumber) {
    tally.aside(KinetoAside::NoDuration);
    times.with_duration = false;
  }
  times.end_ns = times.begin_ns + duration_ns;  // both are below 2^62
  constexpr int64_t kFar = int64_t{1} << 62;
  if (length == DecimalResult::OutOfRange || times.end_ns >= kFar || times.end_ns <= -kFar) {
    tally.aside(KinetoAside::FarTime);
    return false;
  }
  return true;
}

}  // namespace prof::analyzer
