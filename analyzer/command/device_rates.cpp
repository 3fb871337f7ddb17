#include "analyzer/command/device_rates.h"

#include "analyzer/command/cuda_driver.h"
#include "analyzer/command/cuda_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <random>
#include <stdexcept>

namespace prof::analyzer {

namespace {

using DevicePointer = unsigned long long;

constexpr int kWarmUps = 3, kRounds = 20;
constexpr size_t kCopyBytes = size_t{1} << 30;
constexpr size_t kPatternBytes = size_t{1} << 22;
constexpr int kMaxSide = 8192, kMinSide = 1024;
// Constants of the driver and of cuBLAS. Their headers are not needed to build prof.
constexpr int kUnitsAttribute = 16, kMajorAttribute = 75, kMinorAttribute = 76;
constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kInt8 = 3, kInt32 = 10, kBrain16 = 14;
constexpr int kCompute32 = 68, kCompute64 = 70, kCompute32Int = 72, kComputeTf32 = 77;
constexpr int kTransposed = 1, kAsItIs = 0, kDefaultAlgorithm = -1;

// The arguments of cublasGemmEx for a product of this type. `exponent`: the exponent bits of an element between 0.5
// and 1. `mantissa`: a mask of the bits that vary between elements.
struct GemmForm {
  PeakType peak;
  int element, result, compute;
  size_t bytes, result_bytes;
  uint64_t exponent, mantissa;  // integers: no exponent, and all bits
};
constexpr GemmForm kForms[] = {
    {PeakType::Fp64Matrix, kReal64, kReal64, kCompute64, 8, 8, uint64_t{0x3fe} << 52, (uint64_t{1} << 52) - 1},
    {PeakType::Fp32, kReal32, kReal32, kCompute32, 4, 4, 0x3f000000, 0x7fffff},
    {PeakType::Tf32, kReal32, kReal32, kComputeTf32, 4, 4, 0x3f000000, 0x7fffff},
    {PeakType::Fp16, kReal16, kReal16, kCompute32, 2, 2, 0x3800, 0x3ff},
    {PeakType::Bf16, kBrain16, kBrain16, kCompute32, 2, 2, 0x3f00, 0x7f},
    {PeakType::Int8, kInt8, kInt32, kCompute32Int, 1, 4, 0, 0xff},
};

// Numbers of both signs. Products of zeros or of equal numbers need less power, so they run faster than those of any
// program.
std::vector<unsigned char> pattern_of(const GemmForm& form) {
  std::vector<unsigned char> pattern(kPatternBytes);
  std::mt19937_64 random(1);
  for (size_t at = 0; at < pattern.size(); at += form.bytes) {
    const uint64_t bits = random();
    const uint64_t sign = form.exponent != 0 ? (bits >> 63) << (form.bytes * 8 - 1) : 0;
    const uint64_t element = sign | form.exponent | (bits & form.mantissa);
    std::memcpy(&pattern[at], &element, form.bytes);
  }
  return pattern;
}

class Cublas {
 public:
  explicit Cublas(const std::string& file) : library_("cublas", file), error_(library_.error()) {}
  ~Cublas() {
    if (handle_ != nullptr) library_.function<int(void*)>("cublasDestroy_v2")(handle_);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // The CUDA context to use must be current. If it returns false, error() has the reason.
  bool start() {
    if (!library_.there() || handle_ != nullptr) return handle_ != nullptr;
    const auto create = library_.function<int(void**)>("cublasCreate_v2");
    const int status = create != nullptr ? create(&handle_) : -1;
    if (status != 0) {
      handle_ = nullptr;
      error_ = fmt::format("cublasCreate_v2 gave {}", status);
    }
    return status == 0;
  }
  // Computes C = A·B of side n on the default stream and returns the status of cublasGemmEx. A is transposed, because
  // every type has a fast product for that.
  int multiply(const GemmForm& form, int n, DevicePointer a, DevicePointer b, DevicePointer c) const {
    using Gemm = int(void*, int, int, int, int, int, const void*, DevicePointer, int, int, DevicePointer, int, int,
                     const void*, DevicePointer, int, int, int, int);
    const auto gemm = library_.function<Gemm>("cublasGemmEx");
    if (gemm == nullptr) return -1;
    const double one64 = 1, zero64 = 0;
    const float one32 = 1, zero32 = 0;
    const int32_t one = 1, zero = 0;
    const void* alpha = &one32;
    const void* beta = &zero32;
    if (form.compute == kCompute64) {
      alpha = &one64;
      beta = &zero64;
    }
    if (form.compute == kCompute32Int) {
      alpha = &one;
      beta = &zero;
    }
    return gemm(handle_, kTransposed, kAsItIs, n, n, n, alpha, a, form.element, n, b, form.element, n, beta, c,
                form.result, n, form.compute, kDefaultAlgorithm);
  }
  const std::string& file() const { return library_.file(); }
  const std::string& error() const { return error_; }

 private:
  CudaLibrary library_;
  void* handle_ = nullptr;
  std::string error_;
};

// GPU memory that is freed at the end of the scope.
class Buffer {
 public:
  Buffer(CudaDriver& driver, size_t bytes) : driver_(driver), bytes_(bytes) {
    if (!driver.call("cuMemAlloc_v2", &address_, bytes)) address_ = 0;
  }
  ~Buffer() {
    if (address_ != 0) driver_.call("cuMemFree_v2", address_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  bool fill(const std::vector<unsigned char>& pattern) {
    if (address_ == 0) return false;
    size_t done = std::min(pattern.size(), bytes_);
    if (!driver_.call("cuMemcpyHtoD_v2", address_, static_cast<const void*>(pattern.data()), done)) return false;
    for (; done < bytes_; done *= 2) {
      if (!driver_.call("cuMemcpyDtoD_v2", address_ + done, address_, std::min(done, bytes_ - done))) return false;
    }
    return true;
  }
  DevicePointer address() const { return address_; }

 private:
  CudaDriver& driver_;
  size_t bytes_;
  DevicePointer address_ = 0;
};

// The median GPU time of `work`, in seconds. Returns 0 if it failed, with the reason in `error`.
double median_seconds(CudaDriver& driver, const std::function<bool(std::string&)>& work, std::string& error) {
  std::array<void*, 2> events{};
  void* const stream = nullptr;
  const auto failed = [&] {
    if (error.empty()) error = driver.error();
    return 0.0;
  };
  for (void*& event : events) {
    if (!driver.call("cuEventCreate", &event, 0u)) return failed();
  }
  std::vector<float> milliseconds;
  bool good = true;
  for (int round = 0; good && round < kWarmUps + kRounds; ++round) {
    float elapsed = 0;
    good = driver.call("cuEventRecord", events[0], stream) && work(error) &&
           driver.call("cuEventRecord", events[1], stream) && driver.call("cuEventSynchronize", events[1]) &&
           driver.call("cuEventElapsedTime", &elapsed, events[0], events[1]);
    if (round >= kWarmUps) milliseconds.push_back(elapsed);
  }
  for (void* const event : events) driver.call("cuEventDestroy_v2", event);
  if (!good) return failed();
  std::nth_element(milliseconds.begin(), milliseconds.begin() + kRounds / 2, milliseconds.end());
  const double median = milliseconds[kRounds / 2];
  if (median <= 0) error = "it took no time that could be measured";
  return std::max(median, 0.0) / 1000;
}

class Bench {
 public:
  Bench(CudaDriver& driver, int ordinal, Cublas& cublas) : driver_(driver), cublas_(cublas) {
    char name[256] = "";
    int units = 0;
    size_t total = 0;
    void* context = nullptr;
    if (!driver.call("cuDeviceGet", &device_, ordinal) ||
        !driver.call("cuDeviceGetName", &name[0], static_cast<int>(sizeof name), device_) ||
        !driver.call("cuDeviceGetAttribute", &units, kUnitsAttribute, device_) ||
        !driver.call("cuDeviceGetAttribute", &major_, kMajorAttribute, device_) ||
        !driver.call("cuDeviceGetAttribute", &minor_, kMinorAttribute, device_))
      throw std::runtime_error(fmt::format("device {}: {}", ordinal, driver.error()));
    measured_.rates.origin = PeakOrigin::Measured;
    measured_.rates.name = name;
    measured_.rates.units = static_cast<uint32_t>(units);
    if (!driver.call("cuDevicePrimaryCtxRetain", &context, device_) || !driver.call("cuCtxSetCurrent", context) ||
        !driver.call("cuMemGetInfo_v2", &free_, &total))
      throw std::runtime_error(fmt::format("device {}: {}", ordinal, driver.error()));
  }
  ~Bench() { driver_.call("cuDevicePrimaryCtxRelease_v2", device_); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  const std::string& name() const { return measured_.rates.name; }

  MeasuredDevice run(const std::function<void(const std::string&)>& progress) {
    progress(name() + ": copies");
    copy();
    if (!cublas_.start()) {
      measured_.missing.push_back(
          fmt::format("products: no cuBLAS ({}); name its file with --cublas FILE", cublas_.error()));
      return std::move(measured_);
    }
    int side = kMaxSide;
    while (side > kMinSide && size_t{3} * static_cast<size_t>(side) * static_cast<size_t>(side) * 8 > free_ / 2)
      side /= 2;
    for (const GemmForm& form : kForms) {
      progress(fmt::format("{}: products of {}", name(), peak_type_name(form.peak)));
      multiply(form, side);
    }
    measured_.how += fmt::format("; products of side {} by {}", side, cublas_.file());
    return std::move(measured_);
  }

 private:
  void copy() {
    const size_t bytes = std::min(kCopyBytes, free_ / 4);
    const Buffer from(driver_, bytes), to(driver_, bytes);
    measured_.how = fmt::format("copies of {} MiB", bytes >> 20);
    std::string error = from.address() != 0 && to.address() != 0 ? "" : driver_.error();
    void* const stream = nullptr;
    const auto work = [&](std::string&) {
      return driver_.call("cuMemcpyDtoDAsync_v2", to.address(), from.address(), bytes, stream);
    };
    const double seconds = error.empty() ? median_seconds(driver_, work, error) : 0;
    if (seconds > 0) {
      measured_.rates.bandwidth_gbs = 2.0 * static_cast<double>(bytes) / seconds / 1e9;
    } else {
      measured_.missing.push_back("bandwidth: " + error);
    }
  }

  void multiply(const GemmForm& form, int side) {
    const size_t elements = static_cast<size_t>(side) * static_cast<size_t>(side);
    const std::vector<unsigned char> pattern = pattern_of(form);
    Buffer a(driver_, elements * form.bytes), b(driver_, elements * form.bytes);
    const Buffer c(driver_, elements * form.result_bytes);
    std::string error = a.fill(pattern) && b.fill(pattern) && c.address() != 0 ? "" : driver_.error();
    const auto work = [&](std::string& why) {
      const int status = cublas_.multiply(form, side, a.address(), b.address(), c.address());
      if (status != 0) why = fmt::format("cublasGemmEx gave {}", status);
      return status == 0;
    };
    const double seconds = error.empty() ? median_seconds(driver_, work, error) : 0;
    const PeakType type = form.peak == PeakType::Fp64Matrix && !multiplies_fp64() ? PeakType::Fp64 : form.peak;
    if (seconds > 0) {
      measured_.rates.tera[static_cast<size_t>(type)] = 2.0 * side * static_cast<double>(elements) / seconds / 1e12;
    } else {
      measured_.missing.push_back(fmt::format("{}: {}", peak_type_name(type), error));
    }
  }

  // Tensor cores with double precision: GPUs for data centres from compute capability 8.0 on.
  bool multiplies_fp64() const { return major_ >= 8 && major_ != 12 && minor_ == 0; }

  CudaDriver& driver_;
  Cublas& cublas_;
  MeasuredDevice measured_;
  int device_ = 0, major_ = 0, minor_ = 0;
  size_t free_ = 0;
};

}  // namespace

std::vector<MeasuredDevice> measure_devices(const std::string& cublas,
                                            const std::function<void(const std::string&)>& progress) {
  CudaDriver driver;
  int devices = 0;
  if (!driver.there()) throw std::runtime_error("--measure: libcuda.so.1 was not found: there is no CUDA driver here");
  if (!driver.call("cuInit", 0u) || !driver.call("cuDeviceGetCount", &devices))
    throw std::runtime_error("--measure: " + driver.error());
  if (devices == 0) throw std::runtime_error("--measure: the driver has no GPU; see CUDA_VISIBLE_DEVICES");
  std::vector<MeasuredDevice> measured;
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    Cublas library(cublas);  // a handle belongs to one device
    Bench bench(driver, ordinal, library);
    const bool known = std::any_of(measured.begin(), measured.end(),
                                   [&](const MeasuredDevice& each) { return each.rates.name == bench.name(); });
    if (!known) measured.push_back(bench.run(progress));
  }
  return measured;
}

}  // namespace prof::analyzer
