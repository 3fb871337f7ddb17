// How does CUPTI's PC sampling run on one context? Only one caller at a time may use an object. Functions return false
// if CUPTI refused; reason() has the cause. The continuous mode is used: kernels run as without it.
//
//   open() read() … read() close()
//
// Measured with CUPTI 13.0 on an H200: once samples were read, CUPTI ignores a new period and reports success. A
// program that launches while another thread ends sampling and starts it again hangs (2 of 2 runs). So the period of a
// session is constant, and close() is for times when the program's threads make no calls: inside one of its calls, or
// at its end.
#pragma once

#include "preload/capture/cupti/cupti_library.h"
#include "preload/hardware_counters/own_pages.h"

#include <cstdint>

namespace prof::preload {

#if PROF_CUPTI_PC_SAMPLING

class PcSession {
 public:
  static constexpr uint32_t kMostReasons = 64;  // PcSamples::kReasonBits
  static constexpr uint32_t kPcs = 4096;        // of one read: 1.6 MiB with 40 reasons, twice

  bool open(const Cupti& api, CUcontext context, uint32_t period);
  uint32_t period() const { return period_; }  // 2^period cycles

  enum class Read {
    Refused,
    Done,
    More,
    Full
  };  // More: further samples are ready; Full: they were lost, and CUPTI takes no more
  // Samples since the last read, in data(). Valid until the next call.
  Read read();
  const CUpti_PCSamplingData& data() const { return *newest_; }
  // Ends sampling. True: data() has the last samples, with the period of the session.
  bool close();
  void abandon();  // without a call; CUPTI does not sample, or the context has ended
  void leave();    // without a call; CUPTI goes on sampling and keeps the buffer, which stays mapped

  CUcontext context() const { return context_; }
  bool is_open() const { return context_ != nullptr; }
  const char* reason() const { return reason_; }
  // CUPTI's names, one per line, by number. Returns the bytes written, at most `size`.
  uint32_t reason_names(char* to, uint32_t size) const;
  static constexpr uint32_t kNameBytes = 128;

 private:
  bool enable();
  bool configure(uint32_t period, bool first);
  bool find_reasons();
  bool make_buffer();
  bool drop_first();
  bool refuse(const char* what, CUptiResult result);

  const Cupti* api_ = nullptr;
  CUcontext context_ = nullptr;
  uint32_t period_ = 0;
  uint32_t reasons_ = 0;                       // 1 + the largest number of a reason
  char names_[kMostReasons][kNameBytes] = {};  // by number
  OwnPages buffer_;
  // In the buffer, each followed by its PCs and their reasons. CUPTI keeps the address of the second from the
  // configuration on and fills it when sampling ends. On an H200 (CUPTI 13.0), reads into that one had no totals, and
  // most samples of modules that were unloaded were missing.
  CUpti_PCSamplingData *read_ = nullptr, *last_ = nullptr;
  CUpti_PCSamplingData* newest_ = nullptr;  // the one of the latest call
  char reason_[256] = "";
};

#endif

}  // namespace prof::preload
