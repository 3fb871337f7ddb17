// A program sees MIG parts of a GPU, in its own order: names and UUIDs are those of the parts, ordinals are the
// program's.
// Env: CUDA_VISIBLE_DEVICES=2,1 CUDA_DEVICE_ORDER=PCI_BUS_ID SIM="devices 3; device 1 NVIDIA H200 MIG 1g.18gb; device 2 NVIDIA H200 MIG 3g.71gb"
// Expect: status 0
// Expect: log 1: 2 device, 1 kernel_run, whole, 0 lost, text CUDA_VISIBLE_DEVICES=2,1, text CUDA_DEVICE_ORDER=PCI_BUS_ID
// Expect: log 1: text device ordinal=0 name="NVIDIA H200 MIG 3g.71gb" uuid="4d1112131415161718191a1b1c1d1e02"
// Expect: log 1: text device ordinal=1 name="NVIDIA H200 MIG 1g.18gb" uuid="4d1112131415161718191a1b1c1d1e01"
// Expect: report gpu-trace: ,NVIDIA H200 MIG 1g.18gb \(1\),
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context(1);
  SIM_CHECK(sim_program::launch(sim_program::kernel("kernel")));
  SIM_CHECK(cuCtxSynchronize());
}
