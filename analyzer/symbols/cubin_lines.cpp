#include "analyzer/symbols/cubin_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

std::vector<CubinLines> find_cubin_lines(std::span<const CubinRequest> requests, StringTable& strings,
                                         const WorkerLimits& limits) {
  std::vector<SymbolRequest> asked(requests.size());
  std::vector<std::vector<uint64_t>> addresses(requests.size());  // by PC
  for (size_t r = 0; r < requests.size(); ++r) {
    asked[r].cubin = requests[r].cubin;
    for (const CubinPc& pc : requests[r].pcs)
      addresses[r].push_back(requests[r].cubin->address(*pc.function, pc.offset));
    std::vector<uint64_t>& distinct = asked[r].addresses;
    distinct = addresses[r];
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (!distinct.empty() && distinct.front() == 0) distinct.erase(distinct.begin());
  }
  std::vector<SymbolAnswer> answers = find_symbols(asked, strings, limits);
  std::vector<CubinLines> lines(requests.size());
  for (size_t r = 0; r < requests.size(); ++r) {
    const std::vector<uint64_t>& distinct = asked[r].addresses;
    for (const uint64_t address : addresses[r]) {
      const auto found = std::lower_bound(distinct.begin(), distinct.end(), address);
      if (address == 0 || found == distinct.end()) {
        lines[r].of_pc.emplace_back();
        continue;
      }
      const auto i = static_cast<size_t>(found - distinct.begin());
      const uint32_t first = answers[r].first[i];
      lines[r].of_pc.push_back({first, answers[r].first[i + 1] - first});
    }
    lines[r].frames = std::move(answers[r].frames);
    lines[r].problem = std::move(answers[r].problem);
  }
  return lines;
}

std::string sass_place(std::string_view function, uint64_t offset) { return fmt::format("{}+{:#x}", function, offset); }

}  // namespace prof::analyzer
