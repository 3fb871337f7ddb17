// The bytes of one record, from its line of text and the signature of its kind.
#pragma once

#include "analyzer/input/log/log_kinds.h"
#include "preload/format/codec.h"
#include "tests/golden/text_line.h"

#include <cstdint>
#include <vector>

namespace prof::tests {

// `line` stands behind the kind's name; `state` is that of the block in front of the record, and then behind it.
std::vector<uint8_t> encode_record(const analyzer::KindSignature& kind, TextLine& line, format::CodecState& state);

}  // namespace prof::tests
