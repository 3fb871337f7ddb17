// Stands in for libFuzzer: runs the fuzz function on files, and on as many damaged copies of each as asked for. So fuzz
// functions are built and run by every test run, with any compiler.
//   FUZZ_TEST [--copies N] FILE|FOLDER...
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

void damage(std::vector<uint8_t>& bytes, std::mt19937_64& random) {
  for (uint64_t i = 1 + random() % 6; i > 0 && !bytes.empty(); --i) {
    const size_t at = random() % bytes.size();
    switch (random() % 4) {
      case 0: bytes[at] ^= static_cast<uint8_t>(1u << random() % 8); break;
      case 1: bytes[at] = static_cast<uint8_t>(random()); break;
      case 2:
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), at + random() % 16)),
                  uint8_t{0xff});
        break;
      default:
        if (random() % 8 == 0) bytes.resize(at);
    }
  }
}

void run(const fs::path& path, uint64_t copies) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> whole((std::istreambuf_iterator<char>(file)), {});
  LLVMFuzzerTestOneInput(whole.data(), whole.size());
  std::mt19937_64 random(whole.size());
  for (uint64_t i = 0; i < copies; ++i) {
    std::vector<uint8_t> copy = whole;
    damage(copy, random);
    LLVMFuzzerTestOneInput(copy.data(), copy.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t copies = 0;
  size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--copies" && i + 1 < argc) {
      copies = std::strtoull(argv[++i], nullptr, 10);
    } else if (fs::is_directory(word)) {
      for (const auto& entry : fs::directory_iterator(word)) run(entry.path(), copies), ++files;
    } else {
      run(word, copies), ++files;
    }
  }
  std::printf("%zu files, %llu damaged copies of each\n", files, static_cast<unsigned long long>(copies));
  return files == 0 ? 1 : 0;
}
