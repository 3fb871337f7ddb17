// In which call of backward() did autograd's own thread launch this? That thread has no Python frames, and its stack ends where it took
// work from a queue. What is known without the program's help:
//
//   * the thread is the engine's if its stack begins in torch::autograd's thread_init();
//   * Tensor.backward() and torch.autograd.grad() launch the fill of the root gradient before they hand over, and wait until all is
//     done. So the last call with a stack that the waiting thread made before is one inside backward().
//
//   at::mm < … < start_thread < [run by backward()] < step (train.py:20) < main (train.py:9)
//
// Exactly one other thread of the process must qualify: where none or several do, nothing is said. The line of the forward operator says
// more, where sequence numbers tell it (call_stacks.h).
#pragma once

#include "analyzer/analysis/stacks/merged_stacks.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace prof::analyzer {

class BackwardCalls {
 public:
  BackwardCalls(const Trace& trace, const Symbols& symbols, MergedStacks& merged);

  bool any() const { return !waiting_.empty(); }  // some thread called backward() at all
  // The stack of a call on the engine's thread, continued in that of the call of backward() that it ran for; else `own`.
  StackId continued(uint32_t host_row, StackId own);

 private:
  // From `ns` on the thread's last call with a stack is in `stack`, which is inside backward(); none: in one that is not.
  struct Since {
    int64_t ns = 0;
    StackId stack{};
  };
  struct Waiting {
    ThreadId thread{};
    std::vector<Since> since;  // by time
  };
  enum class Known : uint8_t { NotYet, Engine, Other };
  bool is_engine(StackId stack);
  StackId waiting_stack(uint32_t host_row) const;
  StackId join(StackId own, StackId waiting);

  const Trace& trace_;
  const Symbols& symbols_;
  MergedStacks& merged_;
  std::vector<Waiting> waiting_;  // threads that called backward()
  std::vector<Known> engine_;     // by StackId
  std::map<std::pair<StackId, StackId>, StackId> joined_;
};

}  // namespace prof::analyzer
