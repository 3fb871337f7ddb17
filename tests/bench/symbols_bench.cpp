// How long finding the names of a million distinct addresses takes. The library is made here and resembles large C++
// ones: units of many functions in separate sections, each with inlined ones. With one process, with all cores, and
// from the cache.
//   symbols_bench [ADDRESSES]
#include "analyzer/symbols/debug_lines.h"
#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/symbol_cache.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using prof::analyzer::SymbolAnswer;

constexpr double kLimitSeconds = 10, kCachedLimitSeconds = 3;
constexpr int kUnits = 12, kFunctions = 450;  // functions per unit

constexpr std::string_view kUnit = R"(
static inline __attribute__((always_inline)) int mixed(int value, int step) {
  value ^= value << 13;
  value ^= value >> 17;
  return value * step;
}
)";
constexpr std::string_view kFunction = R"(int made_up_{0}_{1}(int value) {{
  for (int i = 0; i < {1}; ++i) {{
    value = mixed(value + {0}, i);
    if (value == {1})
      value += mixed(value, {0});
  }}
  value = mixed(value + 1, {1});
  return mixed(value, {0});
}}
)";

// A library of kUnits units with `kFunctions` functions each, each in its own section. Returns false if it could not be
// made.
bool make_library(const fs::path& folder) {
  std::string sources;
  for (int unit = 0; unit < kUnits; ++unit) {
    const fs::path path = folder / fmt::format("unit_{}.c", unit);
    std::ofstream file(path);
    file << kUnit;
    for (int number = 0; number < kFunctions; ++number) file << fmt::format(fmt::runtime(kFunction), unit, number);
    sources += fmt::format(" '{}'", path.string());
  }
  return std::system(fmt::format("'{}' -x c -g -O0 -ffunction-sections -fPIC -shared -Wl,--build-id{} -o '{}'",
                                 PROF_BENCH_CXX, sources, (folder / "libmade_up.so").string())
                         .c_str()) == 0;
}

double seconds_of(const auto& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool print_row(const char* what, double seconds, double limit, const SymbolAnswer& answer) {
  uint64_t named = 0, lined = 0;
  for (size_t i = 0; i + 1 < answer.first.size(); ++i) {
    named += answer.first[i] != answer.first[i + 1] ? 1 : 0;
    lined += answer.first[i] != answer.first[i + 1] && answer.frames[answer.first[i]].line != 0 ? 1 : 0;
  }
  const size_t asked = answer.first.size() - 1;
  const bool ok = seconds <= limit && named == asked && lined == asked && answer.problem.empty();
  fmt::print("  {}  {:12} {:7.2f} s, limit {:.0f}; {} addresses, {} named, {} with a line, {} frames {}\n",
             ok ? "pass" : "FAIL", what, seconds, limit, asked, named, lined, answer.frames.size(), answer.problem);
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t wanted = argc > 1 && std::atol(argv[1]) > 0 ? static_cast<size_t>(std::atol(argv[1])) : 1'000'000;
  if (!prof::analyzer::has_debug_lines()) {
    fmt::print("built without libdw: nothing to measure\n");
    return 0;
  }
  const fs::path folder = fs::path(argv[0]).parent_path() / "symbols_bench.files";
  fs::remove_all(folder);
  fs::create_directories(folder);
  if (!make_library(folder)) return 1;
  const std::string path = folder / "libmade_up.so";
  std::string why;
  const auto file = prof::analyzer::ElfFile::open(path, why);
  if (file == nullptr) return 1;
  // Every byte of its functions, up to the requested number, evenly spread.
  std::vector<uint64_t> all, addresses;
  for (const prof::analyzer::ElfSymbol& symbol : file->functions()) {
    if (symbol.name.find("made_up") == std::string_view::npos) continue;
    for (uint64_t at = symbol.begin; at < symbol.end; ++at) all.push_back(at);
  }
  const size_t count = std::min(wanted, all.size());
  for (size_t i = 0; i < count; ++i) addresses.push_back(all[i * all.size() / count]);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  fmt::print("{} addresses of {} functions in {} units, file of {:.1f} MB\n", addresses.size(),
             file->functions().size(), kUnits, static_cast<double>(fs::file_size(path)) / 1e6);
  const std::vector<prof::analyzer::SymbolRequest> requests{{{path, path, {}}, addresses}};
  const std::string cache = folder / "cache";
  bool ok = addresses.size() == wanted;
  if (!ok) fmt::print("  FAIL  the library is too small\n");
  const auto measure = [&](const char* what, unsigned workers, const std::string& in, double limit) {
    prof::analyzer::StringTable strings;
    std::vector<SymbolAnswer> answers;
    const double seconds = seconds_of([&] {
      answers = prof::analyzer::find_symbols_cached(requests, strings, {workers, 600}, in);
    });
    ok &= print_row(what, seconds, limit, answers[0]);
  };
  measure("one process", 1, "", kLimitSeconds * 4);
  measure("all cores", 0, cache, kLimitSeconds);
  measure("cached", 0, cache, kCachedLimitSeconds);
  fs::remove_all(folder);
  return ok ? 0 : 1;
}
