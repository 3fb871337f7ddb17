// Calls of NCCL are recorded when they start: communicators have the hash of their unique id, or of the split; calls
// are counted on each; sends and receives are counted apart. All arguments are passed on.
// The hash is that of NCCL 2.28, here of 128 bytes of 7.
// Env: PROF_COLLECTIVES=1 PROF_HOST_SAMPLES=off
// Link: libraries
// Expect: status 0
// Expect: log 1: 0 lost, whole, 1 collective(ncclCommInitRank(ranks=4, rank=1)),
//   1 collective(ncclCommInitRankConfig(ranks=4, rank=1))
// Expect: log 1: 1 collective(ncclCommInitRankScalable(ranks=4, rank=1)), 2 collective(ncclCommSplit(ranks=4, rank=1))
// Expect: log 1: 1 collective(ncclCommSplit(ranks=2, rank=1) communicator=3996404754080514783)
// Expect: log 1: 1 collective(ncclCommSplit(ranks=2, rank=1)),
//   1 collective(ncclAllReduce(count=5, type=bf16, op=sum, ranks=2, rank=1))
// Expect: log 1: 2 collective(ncclAllReduce(count=1000, type=bf16, op=sum, ranks=4, rank=1)),
//   1 collective(ncclSend(count=8, type=fp32, peer=2, ranks=4, rank=1))
// Expect: log 1: 1 collective(ncclRecv(count=8, type=fp32, peer=3, ranks=4, rank=1)),
//   1 collective(ncclGroupStart()), 1 collective(ncclGroupEnd())
// Expect: log 1: 2 library_call(ncclAllReduce(count=1000, type=bf16, op=sum, ranks=4, rank=1)),
//   no library_call(cublasSgemm_v2)
// Expect: log 1: 1 collective(ncclAllReduce(count=1000, type=bf16, op=sum, ranks=4, rank=1)
//   communicator=2474940877224741099 sequence=2)
// Expect: log 1: 1 collective(ncclCommSplit(ranks=4, rank=1) communicator=2474940877224741099 sequence=4)
// Expect: log 1: 1 collective(ncclAllReduce(count=5, type=bf16, op=sum, ranks=2, rank=1) sequence=1)
// Expect: log 1: 1 collective(ncclRecv(count=8, type=fp32, peer=3, ranks=4, rank=1)
//   communicator=2474940877224741099 sequence=2 flags=2)
#include "tests/e2e/programs/libraries/library_program.h"

#include <cstring>
#include <initializer_list>

int main() {
  sim_program::make_context();
  SimUniqueId id;
  std::memset(&id, 7, sizeof id);
  SimComm *world = nullptr, *configured = nullptr, *scalable = nullptr, *half = nullptr, *none = nullptr;
  if (ncclCommInitRank(&world, 4, id, 1) != 0 || ncclCommInitRankConfig(&configured, 4, id, 1, nullptr) != 0) return 1;
  if (ncclCommInitRankScalable(&scalable, 4, 1, 1, &id, nullptr) != 0) return 2;
  int rank = -1;
  if (ncclCommUserRank(configured, &rank) != 0 || rank != 1) return 3;
  for (int i = 0; i < 2; ++i) {
    if (ncclAllReduce(nullptr, nullptr, 1000, 9, 0, world, nullptr) != 0) return 4;
  }
  if (ncclCommSplit(world, 1, 1, &half, nullptr) != 0 || half == nullptr) return 5;
  if (ncclCommSplit(world, -1, 0, &none, nullptr) != 0 || none != nullptr) return 6;
  if (ncclAllReduce(nullptr, nullptr, 5, 9, 0, half, nullptr) != 0) return 7;
  if (ncclGroupStart() != 0 || ncclSend(nullptr, 8, 7, 2, world, nullptr) != 0) return 8;
  if (ncclRecv(nullptr, 8, 7, 3, world, nullptr) != 0 || ncclGroupEnd() != 0) return 9;
  for (SimComm* const each : {world, configured, scalable, half}) ncclCommDestroy(each);
  return cuCtxSynchronize() == CUDA_SUCCESS ? 0 : 10;
}
