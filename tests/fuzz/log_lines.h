// Changes of a log that a checksum does not detect. They are made in the text of `prof dump`, whose lines are header
// fields, blocks and records, so they change values, not bytes. Used by the mutators of the fuzz functions that read
// logs or that text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace prof::tests {

using FuzzRandom = std::minstd_rand;

// The text as `prof dump` writes it. Empty: the bytes are not a log.
std::string text_of_log(const std::vector<uint8_t>& bytes);
// `text` with one to six of its lines removed, repeated, moved, or with other numbers, texts or fields in them.
std::string change_lines(std::string_view text, FuzzRandom& random);
// `text` with some consecutive lines of `other`, from after its header, inserted among its own.
std::string splice_lines(std::string_view text, std::string_view other, FuzzRandom& random);

}  // namespace prof::tests
