#include "analyzer/input/kineto/kineto_category.h"

#include <utility>

namespace prof::analyzer {

namespace {

constexpr std::pair<std::string_view, KinetoClass> kCategories[] = {
    {"cpu_op", KinetoClass::Operator},
    {"python_function", KinetoClass::Python},
    {"kernel", KinetoClass::Kernel},
    {"cuda_runtime", KinetoClass::Call},
    {"cuda_driver", KinetoClass::Call},
    {"ac2g", KinetoClass::Flow},
    {"fwdbwd", KinetoClass::Flow},
    {"gpu_memcpy", KinetoClass::Copy},
    {"gpu_memset", KinetoClass::Fill},
    {"user_annotation", KinetoClass::Annotation},
    {"gpu_user_annotation", KinetoClass::GpuAnnotation},
    {"cpu_instant_event", KinetoClass::Memory},
    {"overhead", KinetoClass::Overhead},
    {"cuda_sync", KinetoClass::Sync},
    {"cuda_event", KinetoClass::EventRecord},
    {"Trace", KinetoClass::ProfilerSpan},
    {"Operator", KinetoClass::Operator},
    {"Kernel", KinetoClass::Kernel},
    {"Runtime", KinetoClass::Call},
    {"Memcpy", KinetoClass::Copy},
    {"Memset", KinetoClass::Fill},
    {"async_cpu_to_gpu", KinetoClass::Flow},
    {"async_gpu", KinetoClass::Flow},
    {"async", KinetoClass::Flow},
    {"forward_backward", KinetoClass::Flow},
    {"cuda_profiler_range", KinetoClass::CounterRange},
    {"hip_runtime", KinetoClass::Call},
    {"hip_driver", KinetoClass::Call},
    {"xpu_runtime", KinetoClass::Call},
    {"xpu_driver", KinetoClass::Call},
    {"mtia_runtime", KinetoClass::Call},
    {"glow_runtime", KinetoClass::Call},
    {"privateuse1_runtime", KinetoClass::Call},
    {"privateuse1_driver", KinetoClass::Call},
    {"python_call", KinetoClass::Python},
    {"Overhead", KinetoClass::Overhead},
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// CUPTI's numbers; ROCm writes "Host" for pageable and for pinned memory.
uint32_t memory_kind(std::string_view word) {
  constexpr std::string_view kKinds[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                         "Array",   "Managed",  "Device Static", "Managed Static"};
  for (uint32_t i = 1; i < std::size(kKinds); ++i) {
    if (word == kKinds[i]) return i;
  }
  return 0;
}

uint32_t copy_kind(std::string_view text) {
  constexpr std::string_view kKinds[] = {"HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                         "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
  for (uint32_t i = 0; i < std::size(kKinds); ++i) {
    if (has(text, kKinds[i])) return i + 1;
  }
  constexpr std::pair<std::string_view, uint32_t> kOthers[] = {
      {"H2D", 1},        {"D2H", 2},          {"D2D", 8},          {"H2H", 9},
      {"P2P", 10},       {"HostToDevice", 1}, {"DeviceToHost", 2}, {"DeviceToDevice", 8},
      {"HostToHost", 9}, {"PeerToPeer", 10}};
  for (const auto& [word, number] : kOthers) {
    if (has(text, word)) return number;
  }
  return 0;
}

}  // namespace

KinetoClass kineto_class(std::string_view category) {
  for (const auto& [name, meaning] : kCategories) {
    if (name == category) return meaning;
  }
  return KinetoClass::Other;
}

CopyWords copy_words(std::string_view name, std::string_view kind) {
  CopyWords words;
  words.kind = copy_kind(name);
  if (words.kind == 0) words.kind = copy_kind(kind);
  const size_t open = name.find('('), arrow = name.find(" -> "), close = name.rfind(')');
  if (open != std::string_view::npos && arrow != std::string_view::npos && close != std::string_view::npos &&
      open < arrow && arrow + 4 <= close) {
    words.source = memory_kind(name.substr(open + 1, arrow - open - 1));
    words.destination = memory_kind(name.substr(arrow + 4, close - arrow - 4));
  }
  return words;
}

uint32_t fill_memory_kind(std::string_view name) {
  const size_t open = name.find('('), close = name.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return 0;
  return memory_kind(name.substr(open + 1, close - open - 1));
}

SyncKind sync_kind(std::string_view name) {
  if (name.find("Wait") != std::string_view::npos) return SyncKind::StreamWaitEvent;
  if (name.find("Event") != std::string_view::npos) return SyncKind::Event;
  if (name.find("Stream") != std::string_view::npos) return SyncKind::Stream;
  if (name.find("Context") != std::string_view::npos || name.find("Device") != std::string_view::npos)
    return SyncKind::Context;
  return SyncKind::Unknown;
}

}  // namespace prof::analyzer
