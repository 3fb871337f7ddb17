#include "analyzer/command/chip_metrics.h"

#include "analyzer/command/cuda_driver.h"
#include "analyzer/command/cuda_library.h"

#include <fmt/format.h>

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace prof::analyzer {

namespace {

// CUPTI's arguments, with the names of cupti_profiler_host.h and cupti_target.h. Each struct contains its own size.
struct Arguments {
  size_t size;
  void* reserved = nullptr;
};
struct GetChipName {
  Arguments arguments;
  size_t device;
  const char* chip = nullptr;
};
struct GetSupportedChips {
  Arguments arguments;
  size_t count = 0;
  const char* const* names = nullptr;
};
struct Initialize {
  Arguments arguments;
  int profiler;
  const char* chip;
  const uint8_t* availability = nullptr;
  void* host = nullptr;
};
struct Deinitialize {
  Arguments arguments;
  void* host;
};
struct GetBaseMetrics {
  Arguments arguments;
  void* host;
  int type;
  const char** names = nullptr;
  size_t count = 0;
};
struct GetMetricProperties {
  Arguments arguments;
  void* host;
  const char* metric;
  const char* description = nullptr;
  const char* part = nullptr;  // of the chip
  const char* unit = nullptr;
  int type = 0;
};
constexpr size_t kPropertiesSize =
    offsetof(GetMetricProperties, type) + sizeof(int);  // CUPTI's struct ends here, without padding
constexpr int kRangeProfiler = 0;

struct Kind {
  int type;
  std::string_view name, suffix, suffixes;
};
constexpr Kind kKinds[] = {
    {0, "counters", ".sum",
     ".sum (also without a suffix), .avg, .min, .max, each also .per_second, .pct_of_peak_sustained_elapsed"},
    {1, "ratios", ".ratio", ".ratio, .pct, .max_rate"},
    {2, "throughputs", ".avg.pct_of_peak_sustained_elapsed",
     ".avg.pct_of_peak_sustained_elapsed, likewise .sum, .min, .max and …_active"}};

class Cupti {
 public:
  Cupti() : library_("cupti", named()) {
    if (!library_.there())
      throw std::runtime_error(fmt::format("no CUPTI ({}); name its file with PROF_CUPTI", library_.error()));
  }
  const std::string& file() const { return library_.file(); }

  // Returns false if there is no such function, or if it did not succeed.
  template <class Params> bool ask(const char* name, Params& params) const {
    const auto function = library_.function<int(Params*)>(name);
    return function != nullptr && function(&params) == 0;
  }
  template <class Params> void call(const char* name, Params& params) const {
    const auto function = library_.function<int(Params*)>(name);
    if (function == nullptr)
      throw std::runtime_error(fmt::format("{} has no {}: it came with CUDA 12.6", file(), name));
    if (const int status = function(&params); status != 0)
      throw std::runtime_error(fmt::format("{} of {}: {}", name, file(), text_of(status)));
  }

 private:
  static std::string named() {
    const char* const name = std::getenv("PROF_CUPTI");
    return name != nullptr ? name : "";
  }
  std::string text_of(int status) const {
    const char* text = nullptr;
    const auto function = library_.function<int(int, const char**)>("cuptiGetResultString");
    return function != nullptr && function(status, &text) == 0 && text != nullptr ? text
                                                                                  : fmt::format("error {}", status);
  }

  CudaLibrary library_;
};

std::string chip_of_device(const Cupti& cupti, size_t device) {
  CudaDriver driver;
  if (!driver.there()) throw std::runtime_error("no CUDA driver here: name the chip (GH100, AD102, …)");
  if (!driver.call("cuInit", 0u)) throw std::runtime_error(driver.error());
  Arguments start{sizeof start};
  cupti.call("cuptiProfilerInitialize", start);  // CUPTI's functions of devices require this call before
  GetChipName params{{sizeof params}, device};
  cupti.call("cuptiDeviceGetChipName", params);
  if (params.chip == nullptr) throw std::runtime_error(fmt::format("{} names no chip of GPU {}", cupti.file(), device));
  return params.chip;
}

// The name of the chip in CUPTI's spelling.
std::string chip_named(const Cupti& cupti, std::string_view wanted) {
  size_t device = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), device);
  if (error == std::errc() && end == wanted.data() + wanted.size()) return chip_of_device(cupti, device);
  GetSupportedChips params{{sizeof params}};
  cupti.call("cuptiProfilerHostGetSupportedChips", params);
  const std::vector<std::string_view> chips(params.names, params.names + params.count);
  const auto found = std::find_if(chips.begin(), chips.end(), [&](std::string_view chip) {
    return chip.size() == wanted.size() && strncasecmp(chip.data(), wanted.data(), chip.size()) == 0;
  });
  if (found == chips.end())
    throw std::runtime_error(fmt::format("no chip '{}'; {} knows {}", wanted, cupti.file(), fmt::join(chips, ", ")));
  return std::string(*found);
}

// CUPTI's host API for one chip.
class Host {
 public:
  Host(const Cupti& cupti, const std::string& chip) : cupti_(cupti) {
    Initialize params{{sizeof params}, kRangeProfiler, chip.c_str()};
    cupti.call("cuptiProfilerHostInitialize", params);
    host_ = params.host;
  }
  ~Host() {
    Deinitialize params{{sizeof params}, host_};
    cupti_.ask("cuptiProfilerHostDeinitialize", params);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  std::vector<std::string_view> metrics(int type) const {
    GetBaseMetrics params{{sizeof params}, host_, type};
    cupti_.call("cuptiProfilerHostGetBaseMetrics", params);
    std::vector<std::string_view> names(params.names, params.names + params.count);
    std::sort(names.begin(), names.end());
    return names;
  }
  // CUPTI of CUDA 12 has metrics only with a suffix. Texts are empty if CUPTI has none for the metric.
  GetMetricProperties properties(std::string_view metric, std::string_view suffix) const {
    for (const std::string& name : {std::string(metric), fmt::format("{}{}", metric, suffix)}) {
      GetMetricProperties params{{kPropertiesSize}, host_, name.c_str()};
      const bool known = cupti_.ask("cuptiProfilerHostGetMetricProperties", params);
      params.metric = nullptr;
      if (known) return params;
    }
    return {{kPropertiesSize}, host_, nullptr};
  }

 private:
  const Cupti& cupti_;
  void* host_ = nullptr;
};

}  // namespace

std::string chip_metrics(std::string_view chip) {
  const Cupti cupti;
  const std::string name = chip_named(cupti, chip);
  const Host host(cupti, name);
  std::string text = fmt::format("{}, by {}\n", name, cupti.file());
  for (const Kind& kind : kKinds) {
    const std::vector<std::string_view> names = host.metrics(kind.type);
    text += fmt::format("{} {}; suffixes: {}\n", names.size(), kind.name, kind.suffixes);
    size_t width = 0;
    for (const std::string_view metric : names) width = std::max(width, metric.size());
    for (const std::string_view metric : names) {
      const GetMetricProperties about = host.properties(metric, kind.suffix);
      const auto said = [](const char* what) { return std::string_view(what != nullptr ? what : ""); };
      text += fmt::format("  {:<{}}  {:<12}  {}\n", metric, width, said(about.unit), said(about.description));
    }
  }
  return text;
}

}  // namespace prof::analyzer
