#include "preload/pc_sampling/pc_session.h"

#include "preload/base/decimal.h"
#include "preload/hardware_counters/counter_params.h"
#include "preload/log/count.h"

#include <algorithm>
#include <cstring>

namespace prof::preload {

#if PROF_CUPTI_PC_SAMPLING

namespace {

constexpr size_t kDataBytes = (sizeof(CUpti_PCSamplingData) + 63) / 64 * 64;

// `used`: PCs that a call of CUPTI may have written.
void clear(CUpti_PCSamplingData& data, uint32_t reasons, size_t used) {
  auto* const pcs = reinterpret_cast<CUpti_PCSamplingPCData*>(reinterpret_cast<uint8_t*>(&data) + kDataBytes);
  auto* const stalls = reinterpret_cast<CUpti_PCSamplingStallReason*>(pcs + PcSession::kPcs);
  data = {};
  data.size = sizeof(CUpti_PCSamplingData);
  data.collectNumPcs = PcSession::kPcs;
  data.pPcData = pcs;
  for (size_t i = 0; i < std::min<size_t>(used, PcSession::kPcs); ++i) {
    pcs[i].size = sizeof(CUpti_PCSamplingPCData);
    pcs[i].stallReasonCount = 0;
    pcs[i].stallReason = stalls + i * reasons;
  }
}

}  // namespace

bool PcSession::refuse(const char* what, CUptiResult result) {
  const char* text = nullptr;
  if (api_->cuptiGetResultString == nullptr || api_->cuptiGetResultString(result, &text) != CUPTI_SUCCESS)
    text = "an error";
  // The usual cause has a remedy.
  const char* const remedy =
      result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "; the driver restricts it to administrators: prof doctor" : "";
  join(reason_, sizeof reason_, {what, ": ", text, remedy});
  return false;
}

bool PcSession::open(const Cupti& api, CUcontext context, uint32_t period) {
  api_ = &api;
  if (api.cuptiPCSamplingEnable == nullptr || api.cuptiPCSamplingDisable == nullptr ||
      api.cuptiPCSamplingGetData == nullptr || api.cuptiPCSamplingSetConfigurationAttribute == nullptr ||
      api.cuptiPCSamplingGetNumStallReasons == nullptr || api.cuptiPCSamplingGetStallReasons == nullptr) {
    join(reason_, sizeof reason_, {"this CUPTI has no PC sampling (CUDA 11.3 and newer have it)"});
    context_ = nullptr;
    return false;
  }
  context_ = context;
  period_ = period;
  if (enable()) return true;
  abandon();
  return false;
}

bool PcSession::enable() {
  CUpti_PCSamplingEnableParams params{};
  params.size = CUpti_PCSamplingEnableParamsSize;
  params.ctx = context_;
  const CUptiResult result = api_->cuptiPCSamplingEnable(&params);
  if (result != CUPTI_SUCCESS) return refuse("cuptiPCSamplingEnable", result);
  if (configure(period_, false) && find_reasons() && make_buffer() && configure(period_, true) && drop_first())
    return true;
  leave();  // sampling cannot be ended beside launches
  return false;
}

bool PcSession::find_reasons() {
  size_t count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams number{};
  number.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  number.ctx = context_;
  number.numStallReasons = &count;
  CUptiResult result = api_->cuptiPCSamplingGetNumStallReasons(&number);
  if (result != CUPTI_SUCCESS) return refuse("cuptiPCSamplingGetNumStallReasons", result);
  if (count > kMostReasons) {
    join(reason_, sizeof reason_, {"CUPTI has ", Decimal(count).text(), " stall reasons, more than a log holds"});
    return false;
  }
  static_assert(kNameBytes == CUPTI_STALL_REASON_STRING_SIZE);
  static char names[kMostReasons][kNameBytes];  // one session opens at a time
  char* to[kMostReasons];
  uint32_t index[kMostReasons] = {};
  for (uint32_t i = 0; i < kMostReasons; ++i) to[i] = names[i];
  CUpti_PCSamplingGetStallReasonsParams params{};
  params.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  params.ctx = context_;
  params.numStallReasons = count;
  params.stallReasonIndex = index;
  params.stallReasons = to;
  result = api_->cuptiPCSamplingGetStallReasons(&params);
  if (result != CUPTI_SUCCESS) return refuse("cuptiPCSamplingGetStallReasons", result);
  reasons_ = 0;
  for (size_t i = 0; i < count; ++i) {
    if (index[i] >= kMostReasons) {
      join(reason_, sizeof reason_, {"CUPTI has a stall reason with the number ", Decimal(index[i]).text()});
      return false;
    }
    std::memcpy(names_[index[i]], names[i], kNameBytes - 1);
    if (index[i] >= reasons_) reasons_ = index[i] + 1;
  }
  return true;
}

uint32_t PcSession::reason_names(char* to, uint32_t size) const {
  uint32_t used = 0;
  for (uint32_t i = 0; i < reasons_; ++i) {
    const auto name = static_cast<uint32_t>(std::strlen(names_[i]));
    if (used + name + 1 > size) break;
    if (i != 0) to[used++] = '\n';
    std::memcpy(to + used, names_[i], name);
    used += name;
  }
  return used;
}

bool PcSession::make_buffer() {
  const size_t half =
      kDataBytes + kPcs * (sizeof(CUpti_PCSamplingPCData) + reasons_ * sizeof(CUpti_PCSamplingStallReason));
  const size_t bytes = 2 * ((half + 63) / 64 * 64);
  if (buffer_.bytes != bytes && !buffer_.make(bytes)) return refuse("mmap", CUPTI_ERROR_OUT_OF_MEMORY);
  newest_ = read_ = reinterpret_cast<CUpti_PCSamplingData*>(buffer_.at);
  last_ = reinterpret_cast<CUpti_PCSamplingData*>(buffer_.at + bytes / 2);
  clear(*read_, reasons_, kPcs);
  clear(*last_, reasons_, kPcs);
  return true;
}

// CUPTI samples with its own period from the start. What it took before the period was set would get a wrong weight.
bool PcSession::drop_first() {
  for (Read result = Read::More; result == Read::More;) {
    result = read();
    if (result == Read::Refused) return false;
    if (read_->totalSamples != 0) count(format::LossCounter::pc_samples_dropped, read_->totalSamples);
  }
  return true;
}

bool PcSession::configure(uint32_t period, bool first) {
  CUpti_PCSamplingConfigurationInfo info[3] = {};
  info[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
  info[0].attributeData.samplingPeriodData.samplingPeriod = period;
  info[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
  info[1].attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  info[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
  info[2].attributeData.samplingDataBufferData.samplingDataBuffer = last_;
  CUpti_PCSamplingConfigurationInfoParams params{};
  params.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  params.ctx = context_;
  params.numAttributes = first ? 3 : 1;
  params.pPCSamplingConfigurationInfo = info;
  const CUptiResult result = api_->cuptiPCSamplingSetConfigurationAttribute(&params);
  if (result != CUPTI_SUCCESS) return refuse("cuptiPCSamplingSetConfigurationAttribute", result);
  period_ = period;
  return true;
}

PcSession::Read PcSession::read() {
  newest_ = read_;
  clear(*read_, reasons_, read_->totalNumPcs);
  CUpti_PCSamplingGetDataParams params{};
  params.size = CUpti_PCSamplingGetDataParamsSize;
  params.ctx = context_;
  params.pcSamplingData = read_;
  const CUptiResult result = api_->cuptiPCSamplingGetData(&params);
  if (result == CUPTI_ERROR_OUT_OF_MEMORY || (result == CUPTI_SUCCESS && read_->hardwareBufferFull != 0))
    return Read::Full;
  if (result != CUPTI_SUCCESS) {
    refuse("cuptiPCSamplingGetData", result);
    return Read::Refused;
  }
  return read_->remainingNumPcs != 0 ? Read::More : Read::Done;
}

bool PcSession::close() {
  newest_ = last_;
  CUpti_PCSamplingDisableParams params{};
  params.size = CUpti_PCSamplingDisableParamsSize;
  params.ctx = context_;
  const CUptiResult result = api_->cuptiPCSamplingDisable(&params);
  context_ = nullptr;
  return result == CUPTI_SUCCESS || refuse("cuptiPCSamplingDisable", result);
}

void PcSession::leave() {
  buffer_ = {};
  abandon();
}

void PcSession::abandon() {
  context_ = nullptr;
  buffer_.drop();
  newest_ = read_ = last_ = nullptr;
}

#endif

}  // namespace prof::preload
