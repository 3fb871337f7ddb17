// The bytes of one record, from its line of text and the signature of its kind.
#pragma once

#include "analyzer/input/log/log_kinds.h"
#include "preload/format/codec.h"
#include "tests/golden/text_line.h"

#include <cstdint>
#include <vector>

namespace prof::tests {

// `line` is at the position after the kind's name. `state` is the block's state before the record, and is updated.
std::vector<uint8_t> encode_record(const analyzer::KindSignature& kind, TextLine& line, format::CodecState& state);

}  // namespace prof::tests
