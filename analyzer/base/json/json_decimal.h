// Parses numbers of JSON texts as integers, digit by digit: a double has microseconds since 1970 only to a quarter of
// one.
#pragma once

#include "analyzer/base/text_parts.h"

#include <cstdint>
#include <string_view>

namespace prof::analyzer {

enum class DecimalResult { Ok, NotANumber, OutOfRange };

// "4393112270693.328" microseconds -> 4393112270693328 ns. "1.5e3", "-0.25" and digits below a ns are accepted and
// rounded, halves away from zero. OutOfRange: 2^62 ns (146 years) and more.
DecimalResult micros_to_ns(std::string_view text, int64_t& ns);

// "13", "-1", "0x7f", "13.0", "1e3". OutOfRange: the number does not fit. NotANumber: no number, or a fraction other
// than 0.
DecimalResult to_int64(std::string_view text, int64_t& value);
DecimalResult to_uint64(std::string_view text, uint64_t& value);

}  // namespace prof::analyzer
