// libcudnn_cnn.so.9, a sublibrary of the small cuDNN: descriptors of tensors and filters store what was set; a
// convolution launches one kernel, or none if there is nothing to do.
#include "tests/sim/libraries.h"

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

struct SimTensor {
  int type, rank;
  int sizes[8];
};

namespace {

int take(SimTensor* to, int type, int rank, const int* sizes) {
  if (rank < 3 || rank > 8) return 2000;
  to->type = type, to->rank = rank;
  std::memcpy(to->sizes, sizes, static_cast<size_t>(rank) * sizeof(int));
  return 0;
}
int give(const SimTensor* from, int most, int* type, int* rank, int* sizes) {
  if (from == nullptr || from->rank > most) return 2000;
  *type = from->type, *rank = from->rank;
  std::memcpy(sizes, from->sizes, static_cast<size_t>(from->rank) * sizeof(int));
  return 0;
}
int convolve(const char* kernel, const SimTensor* x, const SimTensor* w, const SimTensor* y) {
  if (x == nullptr || w == nullptr || y == nullptr) return 2000;
  return y->sizes[0] == 0 ? 0 : sim_libraries::launch(kernel, nullptr);
}

}  // namespace

SIM_EXPORT int cudnnCreateTensorDescriptor(SimTensor** made) {
  *made = new SimTensor{};
  return 0;
}
SIM_EXPORT int cudnnDestroyTensorDescriptor(SimTensor* tensor) {
  delete tensor;
  return 0;
}
SIM_EXPORT int cudnnSetTensorNdDescriptor(SimTensor* tensor, int type, int rank, const int* sizes, const int*) {
  return take(tensor, type, rank, sizes);
}
SIM_EXPORT int cudnnSetTensor4dDescriptor(SimTensor* tensor, int, int type, int n, int c, int h, int w) {
  const int sizes[] = {n, c, h, w};
  return take(tensor, type, 4, sizes);
}
// Of a batch normalisation over n, h and w: the sizes of its per-channel tensors.
SIM_EXPORT int cudnnDeriveBNTensorDescriptor(SimTensor* derived, const SimTensor* x, int) {
  const int sizes[] = {1, x->sizes[1], 1, 1};
  return take(derived, 0, 4, sizes);
}
SIM_EXPORT int cudnnGetTensorNdDescriptor(const SimTensor* tensor, int most, int* type, int* rank, int* sizes,
                                          int* distances) {
  for (int i = 0; i < most; ++i) distances[i] = 1;
  return give(tensor, most, type, rank, sizes);
}
SIM_EXPORT int cudnnSetFilterNdDescriptor(SimTensor* filter, int type, int, int rank, const int* sizes) {
  return take(filter, type, rank, sizes);
}
SIM_EXPORT int cudnnSetFilter4dDescriptor(SimTensor* filter, int type, int, int k, int c, int h, int w) {
  const int sizes[] = {k, c, h, w};
  return take(filter, type, 4, sizes);
}
SIM_EXPORT int cudnnGetFilterNdDescriptor(const SimTensor* filter, int most, int* type, int* order, int* rank,
                                          int* sizes) {
  *order = 0;
  return give(filter, most, type, rank, sizes);
}
SIM_EXPORT int cudnnConvolutionForward(void*, const void*, SimTensor* x, const void*, SimTensor* w, const void*,
                                       const void*, int, void*, size_t, const void*, SimTensor* y, void*) {
  return convolve("fprop", x, w, y);
}
SIM_EXPORT int cudnnConvolutionBackwardData(void*, const void*, SimTensor* w, const void*, SimTensor* dy, const void*,
                                            const void*, int, void*, size_t, const void*, SimTensor* dx, void*) {
  return convolve("dgrad", dx, w, dy);
}
SIM_EXPORT int cudnnConvolutionBackwardFilter(void*, const void*, SimTensor* x, const void*, SimTensor* dy, const void*,
                                              const void*, int, void*, size_t, const void*, SimTensor* dw, void*) {
  return convolve("wgrad", x, dw, dy);
}
// The result depends on the last argument, so all have to be passed on.
SIM_EXPORT int cudnnConvolutionBiasActivationForward(void*, const void*, SimTensor* x, const void*, SimTensor* w,
                                                     const void*, const void*, int, void*, size_t, const void*,
                                                     SimTensor*, const void*, SimTensor*, const void*, const void*,
                                                     SimTensor* y, void* y_data) {
  return y_data == nullptr ? 2000 : convolve("fprop", x, w, y);
}
