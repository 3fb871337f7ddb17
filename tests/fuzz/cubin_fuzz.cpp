// Any bytes as a cubin: its functions in this process, its line table in a child, as reports read them. And any bytes
// as a listing of nvdisasm, and as the file of cubins beside a log. Nothing may crash this process, hang, or give a PC
// frames that do not exist.
#include "analyzer/symbols/cubin_lines.h"
#include "analyzer/symbols/cubins_of_log.h"
#include "analyzer/symbols/sass_listing.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace prof::analyzer;
  parse_sass_listing({reinterpret_cast<const char*>(data), size});
  const KeptCubins kept("input", {data, size});
  std::string missing;
  if (kept.find(0, 0, missing).empty() == missing.empty()) std::abort();
  std::string why;
  const auto cubin = CubinFile::from_memory({data, size}, why);
  if (cubin == nullptr) {
    if (why.empty()) std::abort();
    return 0;
  }
  cubin->architecture();
  CubinRequest request{cubin.get(), {}};
  constexpr size_t kMostPcs = 256;
  for (const CubinFunction& function : cubin->functions()) {
    if (cubin->find(function.name) == nullptr) std::abort();
    for (uint64_t offset = 0; offset <= function.bytes && request.pcs.size() < kMostPcs; offset += 16)
      request.pcs.push_back({&function, offset});
  }
  StringTable strings;
  const std::vector<CubinLines> lines = find_cubin_lines({&request, 1}, strings, {1, 5});
  if (lines.size() != 1 || lines[0].of_pc.size() != request.pcs.size()) std::abort();
  for (size_t i = 0; i < request.pcs.size(); ++i) {
    const CubinLines::Span span = lines[0].of_pc[i];
    if (span.first > lines[0].frames.size() || span.count > lines[0].frames.size() - span.first) std::abort();
    if (span.count != 0 && lines[0].at(i).back().inlined) std::abort();
  }
  return 0;
}
