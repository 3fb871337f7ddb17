#include "analyzer/analysis/diff/run_lines.h"

#include "analyzer/analysis/diff/launch_blocks.h"
#include "analyzer/analysis/kernel_lines/kernel_stalls.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace prof::analyzer {

namespace {

// The block of each reading of the samples: at most kMostBlocks blocks of equally many readings.
class ReadingBlocks {
 public:
  explicit ReadingBlocks(const PcSampleTable& samples) {
    for (const PcBatchRow& batch : samples.batches) times_.push_back(batch.time_ns);
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  }
  size_t count() const { return std::min(times_.size(), kMostBlocks); }
  size_t of(int64_t time_ns) {
    if (time_ns == last_ns_) return last_;
    const auto at = static_cast<size_t>(std::lower_bound(times_.begin(), times_.end(), time_ns) - times_.begin());
    last_ns_ = time_ns;
    last_ = times_.empty() ? 0 : std::min(at, times_.size() - 1) * count() / times_.size();
    return last_;
  }

 private:
  std::vector<int64_t> times_;
  int64_t last_ns_ = INT64_MIN;
  size_t last_ = 0;
};

}  // namespace

RunLines run_lines(const AnalysisInput& input) {
  RunLines answer;
  const PcSampleTable& samples = input.trace.pc_samples;
  if (samples.empty()) return answer;
  const KernelSums sums(input);
  answer.coverage = pc_coverage(input, sums);
  std::vector<RunLine>& rows = answer.rows;
  const PcPlaces& places = sums.places();
  std::map<std::tuple<uint32_t, std::string, std::string>, uint32_t> known;  // kernel, function, place
  std::vector<uint32_t> row_of(places.places().size(), kNone), kernel_of_row;
  for (uint32_t p = 0; p < row_of.size(); ++p) {
    const PcPlace& place = places.places()[p];
    const uint32_t kernel = sums.kernel_of(place.function);
    if (kernel == kNone || sums.kernels()[kernel].launches == 0) continue;
    const std::span<const SymbolFrame> frames = places.frames(place);
    std::string function = frames.empty() ? std::string() : places.name(frames[0], NameForm::Full);
    std::string text = frames.empty() ? "no line" : short_place(places.text(frames[0].file), frames[0].line);
    const auto [found, added] =
        known.try_emplace({kernel, std::move(function), std::move(text)}, static_cast<uint32_t>(rows.size()));
    if (added) {
      const PcFunction& first = places.functions()[sums.kernels()[kernel].functions.front()];
      rows.push_back({places.name(first, NameForm::Full), std::get<1>(found->first), std::get<2>(found->first)});
      kernel_of_row.push_back(kernel);
    }
    row_of[p] = found->second;
  }
  ReadingBlocks blocks(samples);
  const size_t count = blocks.count();
  std::vector<double> of_line(rows.size() * count), of_kernel(sums.kernels().size() * count);
  for (size_t s = 0; s < samples.size(); ++s) {
    const uint32_t row = row_of[places.place_of(s)];
    if (row == kNone) continue;
    const size_t block = blocks.of(samples.time_ns[s]);
    rows[row].samples += samples.samples[s];
    of_line[row * count + block] += samples.cycles(s);
    of_kernel[kernel_of_row[row] * count + block] += samples.cycles(s);
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    const KernelStalls& kernel = sums.kernels()[kernel_of_row[r]];
    const double ns = static_cast<double>(kernel.gpu_time_ns), mean_ns = ns / static_cast<double>(kernel.launches);
    rows[r].launches = kernel.launches;
    double cycles = 0, all = 0;
    for (size_t block = 0; block < count; ++block) {
      const double line = of_line[r * count + block], whole = of_kernel[kernel_of_row[r] * count + block];
      cycles += line;
      all += whole;
      if (whole > 0) rows[r].launch_ns.push_back(mean_ns * line / whole);
    }
    if (all > 0) rows[r].total_ns = ns * cycles / all;
  }
  return answer;
}

}  // namespace prof::analyzer
