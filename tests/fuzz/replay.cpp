// Replaces libFuzzer: runs the fuzz function on files, and on the requested number of changed copies of each. The
// copies are damaged, and if the fuzz function has a mutator, every second one is changed by it. So every test run
// builds and runs fuzz functions and mutators, with any compiler. An input that takes a minute ends the run by SIGALRM:
// a hang.
//   FUZZ_TEST [--copies N] FILE|FOLDER...
#include <unistd.h>

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
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                                                unsigned seed);

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

// Uses a mutator as libFuzzer does: several changes on top of each other.
void mutate(std::vector<uint8_t>& bytes, std::mt19937_64& random) {
  constexpr size_t kRoom = 16384;
  for (uint64_t i = 1 + random() % 4; i > 0; --i) {
    const size_t size = bytes.size();
    bytes.resize(size + kRoom);
    bytes.resize(LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(), static_cast<unsigned>(random())));
  }
}

void run_one(const std::vector<uint8_t>& bytes) {
  constexpr unsigned kHangSeconds = 60;
  alarm(kHangSeconds);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  alarm(0);
}

void run(const fs::path& path, uint64_t copies) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> whole((std::istreambuf_iterator<char>(file)), {});
  run_one(whole);
  std::mt19937_64 random(whole.size());
  for (uint64_t i = 0; i < copies; ++i) {
    std::vector<uint8_t> copy = whole;
    LLVMFuzzerCustomMutator != nullptr&& i % 2 == 1 ? mutate(copy, random) : damage(copy, random);
    run_one(copy);
  }
}

}  // namespace

// A function of libFuzzer, for mutators.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t) {
  static std::mt19937_64 random(size);
  std::vector<uint8_t> bytes(data, data + size);
  damage(bytes, random);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

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
  std::printf("%zu files, %llu changed copies of each\n", files, static_cast<unsigned long long>(copies));
  return files == 0 ? 1 : 0;
}
