// What is the purpose of a kernel, and what is its origin? Two independent classifications by rules over names: purpose
// (compute or communication) and category (torch.compile's pointwise, reduction …; cublas, cudnn, nccl, pytorch …).
// kernel_categories.def has the built-in rules; rules of `--rules FILE` come before them. Rules are applied once per
// distinct name. Used by reports and prof diff.
//
// Only kernels are classified by name: copies and memsets have kinds of their own.
#pragma once

#include "analyzer/base/name_pattern.h"
#include "analyzer/model/names.h"
#include "analyzer/model/trace.h"

#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class Purpose : uint8_t { Compute, Communication };

struct CategoryRule {
  std::string category;  // "compute" and "communication" are purposes
  NamePattern pattern;
};
using CategoryRules = std::vector<CategoryRule>;

// Parses the rules of a file, one per line: a category (letters, digits, _ and -), blanks, a pattern to the end of the
// line. Empty lines and lines that begin with # are ignored. Throws std::runtime_error with file and line.
CategoryRules parse_category_rules(std::string_view text, const std::string& file);
// The rules of several files in order. Throws std::runtime_error also if a file cannot be read.
CategoryRules read_category_rules(const std::vector<std::string>& files);

// `names` must outlive this object. `rules` come before the built-in ones.
class KernelCategories {
 public:
  KernelCategories(const Trace& trace, const KernelNames& names, const CategoryRules& rules);

  // For kernels only.
  Purpose purpose(const GpuOperation& kernel) const { return of(kernel).purpose; }
  std::string_view category(const GpuOperation& kernel) const { return categories_[of(kernel).category]; }
  Purpose purpose(KernelId kernel) const { return of_kernel_[index(kernel)].purpose; }
  std::string_view category(KernelId kernel) const { return categories_[of_kernel_[index(kernel)].category]; }
  // For any operation, an index into category_names(): copies are "memcpy" (0), memsets "memset" (1).
  uint32_t category_index(const GpuOperation& operation) const;
  const std::vector<std::string>& category_names() const { return categories_; }

 private:
  struct Entry {
    Purpose purpose = Purpose::Compute;
    uint32_t category = 0;
  };
  const Entry& of(const GpuOperation& kernel) const { return of_kernel_[index(names_.named_by(kernel))]; }
  uint32_t intern(std::string_view category);

  const KernelNames& names_;
  std::vector<std::string> categories_{"memcpy", "memset"};
  std::vector<Entry> of_kernel_;  // by KernelId
};

}  // namespace prof::analyzer
