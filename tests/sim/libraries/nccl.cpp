// A small NCCL: libnccl.so.2 (symbols without versions, like the real one's). A collective launches "ncclDevKernel" and
// waits for no other rank. Inside a group, the end of the group launches it once for the whole group. Empty collectives
// launch nothing.
#include "tests/sim/libraries.h"

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

struct SimComm {
  int ranks, rank;
};

namespace {

thread_local int tl_groups = 0;
thread_local bool tl_waiting = false;
thread_local CUstream tl_stream = nullptr;

int enqueue(const SimComm* communicator, CUstream stream) {
  if (communicator == nullptr) return 4;
  if (tl_groups == 0) return sim_libraries::launch("ncclDevKernel", stream) == 0 ? 0 : 1;
  tl_waiting = true, tl_stream = stream;
  return 0;
}

}  // namespace

SIM_EXPORT int ncclCommInitAll(SimComm** made, int ranks, const int*) {
  for (int rank = 0; rank < ranks; ++rank) made[rank] = new SimComm{ranks, rank};
  return 0;
}
SIM_EXPORT int ncclCommInitRank(SimComm** made, int ranks, SimUniqueId, int rank) {
  *made = new SimComm{ranks, rank};
  return 0;
}
SIM_EXPORT int ncclCommInitRankConfig(SimComm** made, int ranks, SimUniqueId, int rank, void*) {
  *made = new SimComm{ranks, rank};
  return 0;
}
SIM_EXPORT int ncclCommInitRankScalable(SimComm** made, int ranks, int rank, int, SimUniqueId*, void*) {
  *made = new SimComm{ranks, rank};
  return 0;
}
// Halves: the real one gathers the colors and keys of all ranks.
SIM_EXPORT int ncclCommSplit(SimComm* parent, int color, int key, SimComm** made, void*) {
  *made = color < 0 ? nullptr : new SimComm{parent->ranks / 2, key};
  return 0;
}
SIM_EXPORT int ncclCommDestroy(SimComm* communicator) {
  delete communicator;
  return 0;
}
SIM_EXPORT int ncclGetVersion(int* version) {
  *version = 22800;
  return 0;
}
SIM_EXPORT int ncclCommCount(SimComm* communicator, int* ranks) {
  *ranks = communicator->ranks;
  return 0;
}
SIM_EXPORT int ncclCommUserRank(SimComm* communicator, int* rank) {
  *rank = communicator->rank;
  return 0;
}
SIM_EXPORT int ncclAllReduce(const void*, void*, size_t count, int, int, SimComm* communicator, CUstream stream) {
  return communicator != nullptr && count == 0 ? 0 : enqueue(communicator, stream);
}
SIM_EXPORT int ncclAllGather(const void*, void*, size_t, int, SimComm* communicator, CUstream stream) {
  return enqueue(communicator, stream);
}
SIM_EXPORT int ncclBroadcast(const void*, void*, size_t, int, int, SimComm* communicator, CUstream stream) {
  return enqueue(communicator, stream);
}
SIM_EXPORT int ncclSend(const void*, size_t, int, int, SimComm* communicator, CUstream stream) {
  return enqueue(communicator, stream);
}
SIM_EXPORT int ncclRecv(void*, size_t, int, int, SimComm* communicator, CUstream stream) {
  return enqueue(communicator, stream);
}
SIM_EXPORT int ncclGroupStart() {
  ++tl_groups;
  return 0;
}
SIM_EXPORT int ncclGroupEnd() {
  if (--tl_groups > 0 || !tl_waiting) return 0;
  tl_waiting = false;
  return sim_libraries::launch("ncclDevKernel", tl_stream) == 0 ? 0 : 1;
}
