#include "analyzer/model/call_arguments.h"

#include <fmt/format.h>

#include <iterator>

namespace prof::analyzer {

std::string target_text(const CallDetails& said) {
  const uint32_t number = said.location_number();
  switch (said.location_type()) {  // CUmemLocationType
    case 1: return fmt::format("device {}", number);
    case 2: return "host";
    case 3: return fmt::format("NUMA node {}", number);
    case 4: return "NUMA node of the thread";
    default: return {};
  }
}

namespace {

// Indexed by CUDA's numbers; empty: no such number.
constexpr std::string_view kAdvice[] = {"",
                                        "set read mostly",
                                        "unset read mostly",
                                        "set preferred location",
                                        "unset preferred location",
                                        "set accessed by",
                                        "unset accessed by"};
constexpr std::string_view kLimits[] = {"stack size",
                                        "printf FIFO size",
                                        "malloc heap size",
                                        "device runtime sync depth",
                                        "device runtime launches",
                                        "L2 fetch granularity",
                                        "persisting L2 cache size"};
constexpr std::string_view kPoolAttributes[] = {"",
                                                "reuse after event dependencies",
                                                "reuse opportunistically",
                                                "reuse with internal dependencies",
                                                "release threshold",
                                                "",
                                                "highest reserved",
                                                "",
                                                "highest used"};
constexpr std::string_view kCaptureModes[] = {"", "thread local", "relaxed"};  // global: no text

struct Chooser {
  std::string_view api, key;  // a part of the function's name
  const std::string_view* values;
  size_t count;
};
constexpr Chooser kChoosers[] = {
    {"MemAdvise", "advice", kAdvice, std::size(kAdvice)},
    {"CtxSetLimit", "limit", kLimits, std::size(kLimits)},
    {"MemPoolSetAttribute", "attribute", kPoolAttributes, std::size(kPoolAttributes)},
    {"StreamBeginCapture", "mode", kCaptureModes, std::size(kCaptureModes)},
};

}  // namespace

Choice choice_text(std::string_view api, const CallDetails& said) {
  for (const Chooser& each : kChoosers) {
    if (api.find(each.api) == std::string_view::npos) continue;
    return {each.key, said.flags < each.count ? each.values[said.flags] : std::string_view{}};
  }
  return {};
}

std::string arguments_text(const Trace& trace, std::string_view api, const CallDetails& said) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (!text.empty() && !part.empty()) text += ", ";
    text += part;
  };
  if (said.count != 0) add(fmt::format("batch of {}", said.count));
  if (said.bytes != 0) add(fmt::format("{} B", said.bytes));
  add(target_text(said));
  const std::string_view chosen = choice_text(api, said).value;
  add(chosen);
  if (chosen.empty() && said.flags != 0) add(fmt::format("flags {:#x}", said.flags));
  add(trace.text(said.file));
  return text;
}

}  // namespace prof::analyzer
