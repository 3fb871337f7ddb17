// Any bytes as the text of a log: undump makes a log from it or reports the wrong line. The log can be opened or is
// refused with a reason, and its own text makes the same log again.
#include "tests/fuzz/log_lines.h"
#include "tests/golden/undump_log.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace prof::tests;

void require(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

std::vector<uint8_t> log_of(const std::string& text) {
  std::vector<uint8_t> log;
  const std::string wrong = undump_log(text, log);
  require(wrong.empty(), wrong.c_str(), text);
  return log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> log;
  if (!undump_log({reinterpret_cast<const char*>(data), size}, log).empty()) return 0;
  const std::string text = text_of_log(log);
  if (text.empty()) return 0;
  // Given bytes may encode a number in more bytes than needed; the text contains only its value.
  const std::string again = text_of_log(log_of(text));
  require(text_of_log(log_of(again)) == again, "what was read is not what was written", again);
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  FuzzRandom random(seed);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text = change_lines({reinterpret_cast<const char*>(data), size}, random);
  if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size, const uint8_t* second,
                                            size_t second_size, uint8_t* out, size_t max_size, unsigned seed) {
  FuzzRandom random(seed);
  const std::string text = splice_lines({reinterpret_cast<const char*>(first), first_size},
                                        {reinterpret_cast<const char*>(second), second_size}, random);
  if (text.size() > max_size) return 0;
  std::memcpy(out, text.data(), text.size());
  return text.size();
}
