#include "analyzer/model/names.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <unordered_map>

namespace prof::analyzer {

namespace {

constexpr std::string_view kUnknownKernel = "[unknown kernel]";

constexpr std::array<std::string_view, 14> kCopyKinds = {"?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                                         "DtoA", "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
constexpr std::array<std::string_view, 14> kCopyNames = {"[CUDA memcpy]",
                                                         "[CUDA memcpy HtoD]",
                                                         "[CUDA memcpy DtoH]",
                                                         "[CUDA memcpy HtoA]",
                                                         "[CUDA memcpy AtoH]",
                                                         "[CUDA memcpy AtoA]",
                                                         "[CUDA memcpy AtoD]",
                                                         "[CUDA memcpy DtoA]",
                                                         "[CUDA memcpy DtoD]",
                                                         "[CUDA memcpy HtoH]",
                                                         "[CUDA memcpy PtoP]",
                                                         "[Unified Memory Memcpy HtoD]",
                                                         "[Unified Memory Memcpy DtoH]",
                                                         "[Unified Memory Memcpy DtoD]"};
constexpr std::array<std::string_view, 8> kMemoryKinds = {"Unknown", "Pageable", "Pinned",        "Device",
                                                          "Array",   "Managed",  "Device Static", "Managed Static"};

}  // namespace

std::string demangled_name(std::string_view name) {
  if (name.substr(0, 2) != "_Z") return std::string(name);
  int status = -1;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : std::string(name);
}

KernelNames::KernelNames(const Trace& trace) : trace_(trace) {
  std::unordered_map<uint32_t, uint32_t> entry_of_string;
  std::unordered_map<std::string, uint32_t> short_uses;
  of_kernel_.reserve(trace.kernels.size());
  for (const Kernel& kernel : trace.kernels) {
    const auto [found, added] =
        entry_of_string.try_emplace(index(kernel.name), static_cast<uint32_t>(by_kernel_name_.size()));
    if (added) {
      const std::string_view mangled = trace.text(kernel.name);
      Forms forms;
      forms.full = mangled.empty() ? std::string(kUnknownKernel) : demangled_name(mangled);
      forms.short_name = short_function_name(forms.full);
      ++short_uses[forms.short_name];
      by_kernel_name_.push_back(std::move(forms));
    }
    of_kernel_.push_back(found->second);
  }
  std::unordered_map<std::string, uint32_t> numbered;
  for (Forms& forms : by_kernel_name_) {
    if (short_uses[forms.short_name] < 2) continue;
    const uint32_t number = ++numbered[forms.short_name];
    forms.short_name += '#';
    forms.short_name += std::to_string(number);
  }
}

std::string_view KernelNames::name(KernelId kernel, NameForm form) const {
  const Forms& forms = by_kernel_name_[of_kernel_[index(kernel)]];
  if (form == NameForm::Short) return forms.short_name;
  if (form == NameForm::Full) return forms.full;
  const std::string_view mangled = trace_.text(trace_.kernels[index(kernel)].name);
  return mangled.empty() ? kUnknownKernel : mangled;
}

KernelId KernelNames::named_by(const GpuOperation& operation) const {
  if (index(trace_.kernels[operation.detail].name) == 0 && operation.linked()) {
    const HostEvent& launch = trace_.host[operation.launch];
    if (launch.kind() == HostKind::KernelLaunch) return KernelId{static_cast<uint32_t>(launch.subject)};
  }
  return KernelId{operation.detail};
}

std::string_view KernelNames::name(const GpuOperation& operation, NameForm form) const {
  return name(named_by(operation), form);
}

std::string_view operation_name(const KernelNames& names, const GpuOperation& operation, NameForm form) {
  switch (operation.kind()) {
    case GpuKind::Kernel:
    case GpuKind::Graph: return names.name(operation, form);
    case GpuKind::Copy: return kCopyNames[operation.copy_kind() < kCopyNames.size() ? operation.copy_kind() : 0];
    case GpuKind::Fill: break;
  }
  return "[CUDA memset]";
}

uint64_t operation_name_key(const KernelNames& names, const GpuOperation& operation) {
  const uint64_t kind = static_cast<uint64_t>(operation.kind()) << 32;
  if (operation.has_kernel()) return kind | index(names.named_by(operation));
  return operation.kind() == GpuKind::Copy ? kind | operation.copy_kind() : kind;
}

std::string_view name_of_key(const KernelNames& names, uint64_t key, NameForm form) {
  GpuOperation operation;
  operation.set_kind(static_cast<GpuKind>(key >> 32));
  operation.detail = static_cast<uint32_t>(key);
  return operation_name(names, operation, form);
}

std::string_view copy_kind_name(uint32_t copy_kind) {
  return copy_kind < kCopyKinds.size() ? kCopyKinds[copy_kind] : "?";
}

std::string_view copy_direction_name(uint32_t copy_kind) {
  constexpr uint32_t kFirstMigration = 11;
  constexpr std::array<std::string_view, 3> kMigrations = {"Unified Memory HtoD", "Unified Memory DtoH",
                                                           "Unified Memory DtoD"};
  if (copy_kind < kFirstMigration || copy_kind >= kFirstMigration + kMigrations.size())
    return copy_kind_name(copy_kind);
  return kMigrations[copy_kind - kFirstMigration];
}

std::string_view memory_kind_name(uint32_t memory_kind) {
  return memory_kind < kMemoryKinds.size() ? kMemoryKinds[memory_kind] : "Unknown";
}

std::string_view plain_api_name(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix) {
      name.remove_suffix(suffix.size());
    }
  }
  const size_t digits = name.find_last_not_of("0123456789");
  if (digits != std::string_view::npos && digits > 0 && digits + 1 < name.size() && name[digits] == 'v' &&
      name[digits - 1] == '_') {
    name.remove_suffix(name.size() - digits + 1);
  }
  return name;
}

std::string kineto_name(const KernelNames& names, const GpuOperation& operation) {
  if (operation.kind() == GpuKind::Fill) return fmt::format("Memset ({})", memory_kind_name(operation.memory_kind()));
  if (operation.kind() == GpuKind::Copy)
    return fmt::format("Memcpy {} ({} -> {})", copy_kind_name(operation.copy_kind()),
                       memory_kind_name(operation.source_memory()), memory_kind_name(operation.destination_memory()));
  return std::string(names.name(operation, NameForm::Full));
}

}  // namespace prof::analyzer
