// Which call of backward() does a launch on autograd's own thread belong to? That thread has no Python frames, and its
// stack begins where it took a task from a queue. Used by call_stacks.h. Two facts are known without the program's
// help:
//
//   * a thread is the engine's if its stack begins in torch::autograd's thread_init();
//   * Tensor.backward() and torch.autograd.grad() launch the fill of the root gradient before they hand over, and then
//     wait until everything is done. So the last earlier call with a stack of the waiting thread is inside backward().
//
//   at::mm < … < start_thread < [run by backward()] < step (train.py:20) < main (train.py:9)
//
// Exactly one other thread of the process must qualify; otherwise the stack is not continued. If sequence numbers
// connect the launch with its forward operator, that operator's stack is used instead (call_stacks.h).
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

  bool any() const { return !waiting_.empty(); }  // whether a thread called backward()
  // The stack of a call on the engine's thread, continued by that of the call of backward() it belongs to. Otherwise
  // `own`.
  StackId continued(uint32_t host_row, StackId own);

 private:
  // From `ns` on the last stack of the thread is `stack`, which is inside backward(). No stack: it is not inside
  // backward().
  struct Since {
    int64_t ns = 0;
    StackId stack{};
  };
  struct Waiting {
    ThreadId thread{};
    std::vector<Since> since;  // ordered by time
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
