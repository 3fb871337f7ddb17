// A small cuDNN: libcudnn.so.9. Like the real one, it contains only functions that look up functions of the same name
// in its sublibraries at their first call (with the symbol versions of the real ones).
#include "tests/sim/libraries.h"

#include <dlfcn.h>

#include <cstdlib>

template <class Function> static Function* find(const char* part, const char* name) {
  void* const library = dlopen(part, RTLD_NOW | RTLD_LOCAL);
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

#define FORWARD(part, name, parameters, arguments)                                   \
  extern "C" __attribute__((visibility("default"))) int name parameters {            \
    static const auto real = find<decltype(name)>("libcudnn_" #part ".so.9", #name); \
    return real arguments;                                                           \
  }

FORWARD(graph, cudnnBackendCreateDescriptor, (int type, SimDescriptor** made), (type, made))
FORWARD(graph, cudnnBackendDestroyDescriptor, (SimDescriptor * descriptor), (descriptor))
FORWARD(graph, cudnnBackendSetAttribute,
        (SimDescriptor * descriptor, int name, int type, int64_t count, const void* elements),
        (descriptor, name, type, count, elements))
FORWARD(graph, cudnnBackendGetAttribute,
        (SimDescriptor * descriptor, int name, int type, int64_t asked, int64_t* given, void* elements),
        (descriptor, name, type, asked, given, elements))
FORWARD(graph, cudnnBackendExecute, (void* handle, SimDescriptor* plan, SimDescriptor* tensors),
        (handle, plan, tensors))
FORWARD(cnn, cudnnCreateTensorDescriptor, (SimTensor * *made), (made))
FORWARD(cnn, cudnnDestroyTensorDescriptor, (SimTensor * tensor), (tensor))
FORWARD(cnn, cudnnSetTensorNdDescriptor,
        (SimTensor * tensor, int type, int rank, const int* sizes, const int* distances),
        (tensor, type, rank, sizes, distances))
FORWARD(cnn, cudnnSetTensor4dDescriptor, (SimTensor * tensor, int format, int type, int n, int c, int h, int w),
        (tensor, format, type, n, c, h, w))
FORWARD(cnn, cudnnDeriveBNTensorDescriptor, (SimTensor * derived, const SimTensor* x, int mode), (derived, x, mode))
FORWARD(cnn, cudnnSetFilter4dDescriptor, (SimTensor * filter, int type, int format, int k, int c, int h, int w),
        (filter, type, format, k, c, h, w))
FORWARD(cnn, cudnnGetTensorNdDescriptor,
        (const SimTensor* tensor, int most, int* type, int* rank, int* sizes, int* distances),
        (tensor, most, type, rank, sizes, distances))
FORWARD(cnn, cudnnSetFilterNdDescriptor, (SimTensor * filter, int type, int order, int rank, const int* sizes),
        (filter, type, order, rank, sizes))
FORWARD(cnn, cudnnGetFilterNdDescriptor,
        (const SimTensor* filter, int most, int* type, int* order, int* rank, int* sizes),
        (filter, most, type, order, rank, sizes))
FORWARD(cnn, cudnnConvolutionForward,
        (void* handle, const void* alpha, SimTensor* x, const void* x_data, SimTensor* w, const void* w_data,
         const void* convolution, int algorithm, void* work, size_t work_bytes, const void* beta, SimTensor* y,
         void* y_data),
        (handle, alpha, x, x_data, w, w_data, convolution, algorithm, work, work_bytes, beta, y, y_data))
FORWARD(cnn, cudnnConvolutionBackwardData,
        (void* handle, const void* alpha, SimTensor* w, const void* w_data, SimTensor* dy, const void* dy_data,
         const void* convolution, int algorithm, void* work, size_t work_bytes, const void* beta, SimTensor* dx,
         void* dx_data),
        (handle, alpha, w, w_data, dy, dy_data, convolution, algorithm, work, work_bytes, beta, dx, dx_data))
FORWARD(cnn, cudnnConvolutionBackwardFilter,
        (void* handle, const void* alpha, SimTensor* x, const void* x_data, SimTensor* dy, const void* dy_data,
         const void* convolution, int algorithm, void* work, size_t work_bytes, const void* beta, SimTensor* dw,
         void* dw_data),
        (handle, alpha, x, x_data, dy, dy_data, convolution, algorithm, work, work_bytes, beta, dw, dw_data))
FORWARD(cnn, cudnnConvolutionBiasActivationForward,
        (void* handle, const void* alpha1, SimTensor* x, const void* x_data, SimTensor* w, const void* w_data,
         const void* convolution, int algorithm, void* work, size_t work_bytes, const void* alpha2, SimTensor* z,
         const void* z_data, SimTensor* bias, const void* bias_data, const void* activation, SimTensor* y,
         void* y_data),
        (handle, alpha1, x, x_data, w, w_data, convolution, algorithm, work, work_bytes, alpha2, z, z_data, bias,
         bias_data, activation, y, y_data))
