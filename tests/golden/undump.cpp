// undump [TEXT [LOG]]: converts text of `prof dump` into a log; '-' or nothing: stdin, stdout. Golden inputs are kept
// as text.
#include "tests/golden/undump_log.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

int main(int argc, char** argv) {
  const std::string input = argc > 1 ? argv[1] : "-";
  const std::string output = argc > 2 ? argv[2] : "-";
  std::string text;
  if (input == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    std::ifstream file(input, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "undump: cannot read %s\n", input.c_str());
      return 2;
    }
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::vector<uint8_t> log;
  const std::string wrong = prof::tests::undump_log(text, log);
  if (!wrong.empty()) {
    std::fprintf(stderr, "undump: %s: %s\n", input.c_str(), wrong.c_str());
    return 2;
  }
  std::FILE* const file = output == "-" ? stdout : std::fopen(output.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(log.data(), 1, log.size(), file) == log.size() && std::fclose(file) == 0;
  if (!written) std::fprintf(stderr, "undump: cannot write %s\n", output.c_str());
  return written ? 0 : 2;
}
