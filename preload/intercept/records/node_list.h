// The nodes of a graph, in pages that libprof.so maps itself. It never uses the program's heap, even outside the record
// path. It runs in the program.
#pragma once

#include "preload/driver/driver.h"

#include <sys/mman.h>

#include <cstddef>

namespace prof::preload {

class NodeList {
 public:
  // Empty if the driver does not report the nodes, or if there is no memory.
  explicit NodeList(CUgraph graph) {
    const DriverCall own;
    size_t count = 0;
    if (g_driver.cuGraphGetNodes == nullptr || g_driver.cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS ||
        count == 0) {
      return;
    }
    void* const memory =
        mmap(nullptr, count * sizeof(CUgraphNode), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    nodes_ = static_cast<CUgraphNode*>(memory);
    bytes_ = count * sizeof(CUgraphNode);
    if (g_driver.cuGraphGetNodes(graph, nodes_, &count) == CUDA_SUCCESS) size_ = count;
  }
  ~NodeList() {
    if (nodes_ != nullptr) munmap(nodes_, bytes_);
  }
  NodeList(const NodeList&) = delete;
  NodeList& operator=(const NodeList&) = delete;

  size_t size() const { return size_; }
  CUgraphNode operator[](size_t i) const { return nodes_[i]; }

 private:
  CUgraphNode* nodes_ = nullptr;
  size_t bytes_ = 0, size_ = 0;
};

}  // namespace prof::preload
