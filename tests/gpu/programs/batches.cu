// Batches of copies, one call each, between pinned memory and the device and on the device. Prints one JSON object: the
// number of batches, and for each route the requested copies and bytes. Built with the static cudart.
#include "check.cuh"

#include <vector>

namespace {

struct Route {
  const char* name;
  void *to, *from;
  long copies = 0, bytes = 0;
};

constexpr size_t kSpace = 64 << 20;

// `count` copies of `size` bytes each, next to each other.
void copy_batch(Route& route, size_t count, size_t size, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
  std::vector<void*> to(count);
  std::vector<const void*> from(count);
  const std::vector<size_t> sizes(count, size);
  for (size_t i = 0; i < count; ++i) {
    to[i] = static_cast<char*>(route.to) + i * size;
    from[i] = static_cast<const char*>(route.from) + i * size;
  }
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  size_t first = 0;
  CHECK(cudaMemcpyBatchAsync(to.data(), from.data(), sizes.data(), count, &attributes, &first, 1, stream));
  route.copies += static_cast<long>(count);
  route.bytes += static_cast<long>(count * size);
#else
  (void)route, (void)count, (void)size, (void)stream;
#endif
}

}  // namespace

int main() {
#if CUDART_VERSION < 13000
  std::puts("{\"batches\": 0}");
  return 0;
#endif
  void *device, *other, *host;
  CHECK(cudaMalloc(&device, kSpace));
  CHECK(cudaMalloc(&other, kSpace));
  CHECK(cudaMallocHost(&host, kSpace));
  Route routes[] = {{"to device", device, host}, {"on device", other, device}, {"to host", host, other}};
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  long batches = 0;
  for (Route& route : routes) {
    for (const size_t count : {1, 2, 7, 64, 500}) {
      for (const size_t size : {16, 4 << 10, 128 << 10}) {
        copy_batch(route, count, size, stream);
        ++batches;
      }
    }
    CHECK(cudaStreamSynchronize(stream));
  }
  std::printf("{\"batches\": %ld", batches);
  for (const Route& route : routes) std::printf(", \"%s\": [%ld, %ld]", route.name, route.copies, route.bytes);
  std::puts("}");
  return 0;
}
