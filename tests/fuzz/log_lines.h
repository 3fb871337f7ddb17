// Changes of a log that a checksum does not stop: made in the text of `prof dump`, whose lines are header fields, blocks and records,
// and so in values, not in their bytes. Used by the mutators of the fuzz functions that read logs or that text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace prof::tests {

using FuzzRandom = std::minstd_rand;

// As `prof dump` writes it. Empty: these bytes are no log.
std::string text_of_log(const std::vector<uint8_t>& bytes);
// `text` with one to six of its lines removed, repeated, moved, or with other numbers, texts or fields in them.
std::string change_lines(std::string_view text, FuzzRandom& random);
// `text` with a run of lines of `other`, from behind its header, among its own.
std::string splice_lines(std::string_view text, std::string_view other, FuzzRandom& random);

}  // namespace prof::tests
