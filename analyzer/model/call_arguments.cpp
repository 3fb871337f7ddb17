#include "analyzer/model/call_arguments.h"

#include <fmt/format.h>

#include <iterator>

namespace prof::analyzer {

std::string target_text(const CallDetails& said) {
  const uint32_t number = said.target >> 3;
  switch (said.target & 7) {  // CUmemLocationType
    case 1: return fmt::format("device {}", number);
    case 2: return "host";
    case 3: return fmt::format("NUMA node {}", number);
    case 4: return "NUMA node of the thread";
    default: return {};
  }
}

std::string_view advice_text(std::string_view api, const CallDetails& said) {
  constexpr std::string_view kAdvice[] = {
      "",  // CUmem_advise begins with 1
      "set read mostly",
      "unset read mostly",
      "set preferred location",
      "unset preferred location",
      "set accessed by",
      "unset accessed by",
  };
  const bool advises = api.find("MemAdvise") != std::string_view::npos;
  return advises && said.flags < std::size(kAdvice) ? kAdvice[said.flags] : std::string_view{};
}

std::string arguments_text(const Trace& trace, std::string_view api, const CallDetails& said) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (!text.empty() && !part.empty()) text += ", ";
    text += part;
  };
  if (said.bytes != 0) add(fmt::format("{} B", said.bytes));
  add(target_text(said));
  const std::string_view advice = advice_text(api, said);
  add(advice);
  if (advice.empty() && said.flags != 0) add(fmt::format("flags {:#x}", said.flags));
  add(trace.text(said.file));
  return text;
}

}  // namespace prof::analyzer
