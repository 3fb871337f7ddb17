#include "analyzer/input/kineto/kineto_category.h"
#include "analyzer/base/text_parts.h"

#include <algorithm>
#include <iterator>
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
    {"hpu_op", KinetoClass::Call},
    {"collective_comm", KinetoClass::Foreign},
};

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

// Calls `found(word, number)` for each word of the text in lower case; what is neither a letter nor a digit separates
// words. No word that matters is longer than the buffer, to which longer ones are cut. Called for single events, so it
// allocates nothing.
template <class Found> void for_each_word(std::string_view text, Found found) {
  char buffer[16];
  size_t length = 0, number = 0;
  const auto end_word = [&] {
    if (length != 0) found(std::string_view(buffer, length), number++);
    length = 0;
  };
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9'))) {
      end_word();
    } else if (length < sizeof buffer) {
      buffer[length++] = lower;
    }
  }
  end_word();
}

// Accelerators, as tools call them in categories and names of processes.
bool is_device_word(std::string_view word) {
  constexpr std::string_view kWords[] = {"mtia", "npu", "ascend", "xpu",   "hpu",         "tpu",    "mlu",
                                         "ipu",  "gcu", "musa",   "gaudi", "privateuse1", "neuron", "accelerator"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

}  // namespace

KinetoClass kineto_class(std::string_view category) {
  for (const auto& [name, meaning] : kCategories) {
    if (name == category) return meaning;
  }
  bool of_device = false, of_host = is_runtime_category(category);
  for_each_word(category, [&](std::string_view word, size_t) {
    of_device |= is_device_word(word);
    of_host |= word == "api";
  });
  if (!of_device) return KinetoClass::Other;
  return of_host ? KinetoClass::Call : KinetoClass::Foreign;
}

bool is_runtime_category(std::string_view category) {
  return category.ends_with("_runtime") || category.ends_with("_driver");
}

bool is_device_name(std::string_view name) {
  bool device = false, gpu = false, rest = true;
  size_t words = 0;
  for_each_word(name, [&](std::string_view word, size_t number) {
    ++words;
    if (number == 0) {
      device = is_device_word(word);
      gpu = word == "gpu";
    } else {
      rest &= word == "hardware" || word == "device" || word.find_first_not_of("0123456789") == std::string_view::npos;
    }
  });
  // A process "GPU" may be a program; "GPU 0" is what torch.profiler calls a device.
  return rest && (device || (gpu && words > 1));
}

GpuKind kind_by_name(std::string_view name) {
  if (name.starts_with("Memcpy") || name.starts_with("Copy")) return GpuKind::Copy;
  return name.starts_with("Memset") ? GpuKind::Fill : GpuKind::Kernel;
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
