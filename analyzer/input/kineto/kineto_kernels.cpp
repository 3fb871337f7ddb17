#include "analyzer/input/kineto/kineto_kernels.h"

#include "analyzer/input/kineto/kineto_hash.h"
#include "analyzer/input/kineto/kineto_rows.h"

#include <algorithm>
#include <iterator>

namespace prof::analyzer {

size_t KinetoKernels::Hash::operator()(const Kernel& kernel) const {
  return hash_words(static_cast<uint32_t>(kernel.name),
                    {kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1], kernel.block[2],
                     kernel.registers, kernel.static_shared_bytes, kernel.dynamic_shared_bytes});
}

bool KinetoKernels::Equal::operator()(const Kernel& a, const Kernel& b) const {
  return a.name == b.name && std::equal(std::begin(a.grid), std::end(a.grid), std::begin(b.grid)) &&
         std::equal(std::begin(a.block), std::end(a.block), std::begin(b.block)) && a.registers == b.registers &&
         a.static_shared_bytes == b.static_shared_bytes && a.dynamic_shared_bytes == b.dynamic_shared_bytes;
}

KernelId KinetoKernels::row(const Kernel& kernel) {
  const auto [found, added] = rows_.try_emplace(kernel, row_count(trace_.kernels));
  if (added) trace_.kernels.push_back(kernel);
  return KernelId{found->second};
}

}  // namespace prof::analyzer
