// PC sampling of the simulated CUPTI, in continuous mode. Each run of a kernel takes the samples that the script gives
// it. A sample is a place in the code of the device. GetData finds the module that is there, so samples of a module
// that was unloaded and replaced belong to the module in its place, as documented (cuptiPCSamplingGetData).
#include <cupti_pcsampling.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <thread>
#include <tuple>

#include "tests/sim/cupti/cupti_counters.h"
#undef SIM_EXPORT
#define SIM_EXPORT __attribute__((visibility("default")))

namespace sim {
namespace {

constexpr uint32_t kUsualPeriod = 12, kScriptPeriod = 16;
// As CUPTI 13.0 on an H200: two that are no reasons, then each reason, also as …_not_issued.
constexpr const char* kOthers[] = {"sample_count", "samples_data_dropped"};
constexpr const char* kReasons[] = {
    "barrier",         "branch_resolving",   "dispatch_stall",   "drain",        "imc_miss",     "lg_throttle",
    "long_scoreboard", "math_pipe_throttle", "membar",           "mio_throttle", "misc",         "no_instructions",
    "not_selected",    "selected",           "short_scoreboard", "sleeping",     "tex_throttle", "wait",
    "warpgroup_arrive"};
constexpr size_t kOtherCount = std::size(kOthers), kReasonCount = kOtherCount + 2 * std::size(kReasons);

std::string reason_name(size_t index) {
  if (index < kOtherCount) return std::string("smsp__pcsamp_") + kOthers[index];
  const size_t reason = index - kOtherCount;
  return std::string("smsp__pcsamp_warps_issue_stalled_") + kReasons[reason / 2] +
         (reason % 2 != 0 ? "_not_issued" : "");
}

// (slot of the code, kernel, offset) -> reason -> samples
using Place = std::tuple<uint32_t, std::string, uint64_t>;
struct PcContext {
  uint32_t id = 0, period = kUsualPeriod;
  bool overflowed = false;
  uint64_t total = 0, dropped = 0, waiting = 0;
  std::map<Place, std::map<uint32_t, uint64_t>> places;
  CUpti_PCSamplingData* data = nullptr;  // of the configuration
  bool was_read = false;
};

std::mutex g_pc_mutex;
std::map<CUcontext, PcContext>& pc_contexts() {
  static auto* const one = new std::map<CUcontext, PcContext>;
  return *one;
}
std::map<uint32_t, uint64_t>& crc_of_slot() {
  static auto* const one = new std::map<uint32_t, uint64_t>;
  return *one;
}
std::atomic<CUpti_ComputeCrcCallbackFunc> g_crc{nullptr};
std::atomic<bool> g_disabling{false};

uint64_t usual_crc(const void* cubin, size_t bytes) {
  uint64_t crc = 0xcbf29ce484222325;
  for (size_t i = 0; i < bytes; ++i) crc = (crc ^ static_cast<const uint8_t*>(cubin)[i]) * 0x100000001b3;
  return crc;
}

char* pc_name_of(const std::string& kernel) {  // CUPTI's names are shared and never freed here
  static auto* const all = new std::map<std::string, char*>;
  char*& name = (*all)[kernel];
  if (name == nullptr) name = strdup(kernel.c_str());
  return name;
}

uint32_t pc_index_of(const std::string& kernel) {
  static auto* const all = new std::map<std::string, uint32_t>;
  return all->try_emplace(kernel, static_cast<uint32_t>(all->size() + 1)).first->second;
}

void meet_module(const ModuleRecord& module) {
  uint64_t crc = 0;
  if (const CUpti_ComputeCrcCallbackFunc callback = g_crc; callback != nullptr) {
    callback(module.cubin.data(), module.cubin.size(), &crc);
  } else {
    crc = usual_crc(module.cubin.data(), module.cubin.size());
  }
  const std::lock_guard<std::mutex> lock(g_pc_mutex);
  crc_of_slot()[module.slot] = crc;
}

// With the mutex. Moves up to collectNumPcs places into the program's buffer.
void fill_pcs(PcContext& from, CUpti_PCSamplingData& to) {
  to.totalSamples = from.total;
  to.droppedSamples = from.dropped;
  to.nonUsrKernelsTotalSamples = 0;
  to.hardwareBufferFull = from.overflowed;
  to.rangeId = 1;
  to.totalNumPcs = 0;
  from.total = from.dropped = 0;
  while (!from.places.empty() && to.totalNumPcs < to.collectNumPcs) {
    const auto first = from.places.begin();
    const auto& [slot, kernel, offset] = first->first;
    CUpti_PCSamplingPCData& pc = to.pPcData[to.totalNumPcs++];
    pc.cubinCrc = crc_of_slot()[slot];
    pc.pcOffset = offset;
    pc.functionIndex = pc_index_of(kernel);
    pc.functionName = pc_name_of(kernel);
    pc.stallReasonCount = 0;
    pc.correlationId = 0;
    for (const auto& [reason, samples] : first->second)
      pc.stallReason[pc.stallReasonCount++] = {reason, static_cast<uint32_t>(samples)};
    from.places.erase(first);
  }
  to.remainingNumPcs = from.places.size();
  if (from.places.empty()) from.waiting = 0;
}

CUptiResult configure_pcs(PcContext& to, CUpti_PCSamplingConfigurationInfo& one) {
  switch (one.attributeType) {
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD: {
      const uint32_t period = one.attributeData.samplingPeriodData.samplingPeriod;
      if (period < 5 || period > 31) return CUPTI_ERROR_INVALID_OPERATION;
      if (!to.was_read) to.period = period;  // as on an H200: no error, and no change
      return CUPTI_SUCCESS;
    }
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER:
      to.data = static_cast<CUpti_PCSamplingData*>(one.attributeData.samplingDataBufferData.samplingDataBuffer);
      return to.data != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE:
      return one.attributeData.collectionModeData.collectionMode == CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS
                 ? CUPTI_SUCCESS
                 : CUPTI_ERROR_NOT_SUPPORTED;
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON:
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE:
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE:
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT:
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN: return CUPTI_SUCCESS;
    default: return CUPTI_ERROR_INVALID_PARAMETER;
  }
}

CUptiResult enter_pc_call(const char* name, size_t size, const void* priv) {
  if (const CUptiResult told = enter_counter_call(name); told != CUPTI_SUCCESS) return told;
  return size == 0 || priv != nullptr ? CUPTI_ERROR_INVALID_PARAMETER : attach();
}

}  // namespace

bool pc_sampling_enabled() {
  const std::lock_guard<std::mutex> lock(g_pc_mutex);
  return !pc_contexts().empty();
}

void pc_sees(State&, const OperationRecord& record) {
  if (record.kind != OperationKind::Kernel) return;
  if (g_disabling) {
    fputs("simulated CUPTI: a launch while PC sampling ends; on an H200 such a program hangs\n", stderr);
    _exit(99);
  }
  const std::lock_guard<std::mutex> lock(g_pc_mutex);
  for (auto& [handle, context] : pc_contexts()) {
    if (context.id != record.context_id) continue;
    const auto is_its = [&](const PcScript& pc) { return pc.kernel == record.name; };
    const bool sampled = std::any_of(script().pcs.begin(), script().pcs.end(), is_its);
    context.dropped += sampled ? script().cupti.pc_dropped : 0;
    context.total += sampled ? script().cupti.pc_dropped : 0;
    if (context.overflowed) continue;
    for (const PcScript& pc : script().pcs) {
      const uint64_t samples = (pc.samples << kScriptPeriod) >> context.period;
      if (pc.kernel != record.name || samples == 0) continue;
      context.places[{record.code_slot, pc.kernel, pc.offset}][pc.reason] += samples;
      context.total += samples;
      context.waiting += samples;
    }
    const uint64_t room = script().cupti.pc_buffer;
    if (room != 0 && context.waiting > room) {
      context.overflowed = true;
      context.places.clear();
    }
  }
}

void pc_module_loaded(State&, const ModuleRecord& module) {
  if (pc_sampling_enabled()) meet_module(module);
}

void pc_context_ends(CUcontext context) {
  const std::lock_guard<std::mutex> lock(g_pc_mutex);
  const auto found = pc_contexts().find(context);
  if (found == pc_contexts().end()) return;
  if (found->second.data != nullptr) found->second.data->remainingNumPcs = 0;  // sampling ends: the buffer is used
  pc_contexts().erase(found);
}

}  // namespace sim

using namespace sim;

// A function of CUPTI: its scripted behaviour, then the body that follows, with the sampled context, or null.
#define SIM_PC_CALL(name, Params)                                     \
  static CUptiResult do_##name(Params* p);                            \
  SIM_EXPORT CUptiResult name(Params* p) {                            \
    const LeavesErrno leaves_errno;                                   \
    const CUptiResult told = enter_pc_call(#name, p->size, p->pPriv); \
    return told != CUPTI_SUCCESS ? told : do_##name(p);               \
  }                                                                   \
  static CUptiResult do_##name([[maybe_unused]] Params* p)

extern "C" {

// For test programs: whether instructions of this context are sampled and were read at least once. (Not of CUPTI.)
SIM_EXPORT bool sim_pc_sampled(CUcontext context) {
  const std::lock_guard<std::mutex> lock(g_pc_mutex);
  const auto found = pc_contexts().find(context);
  return found != pc_contexts().end() && found->second.was_read;
}

SIM_PC_CALL(cuptiPCSamplingEnable, CUpti_PCSamplingEnableParams) {
  const uint32_t id = state().driver.load()->context_id(p->ctx);
  {
    const std::lock_guard<std::mutex> lock(g_pc_mutex);
    if (!pc_contexts().try_emplace(p->ctx).second) return CUPTI_ERROR_INVALID_OPERATION;
    pc_contexts()[p->ctx].id = id;
  }
  dlopen("libnvperf_host.so", RTLD_NOW);  // as the real one does
  for (const ModuleRecord& module : state().driver.load()->modules()) {
    if (module.context == nullptr || module.context == p->ctx) meet_module(module);
  }
  return CUPTI_SUCCESS;
}

SIM_PC_CALL(cuptiPCSamplingDisable, CUpti_PCSamplingDisableParams) {
  state().driver.load()->finish_all();
  g_disabling = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // 70 to 95 on an H200
  g_disabling = false;
  const std::lock_guard<std::mutex> lock(g_pc_mutex);
  const auto found = pc_contexts().find(p->ctx);
  if (found == pc_contexts().end()) return CUPTI_ERROR_INVALID_OPERATION;
  if (found->second.data != nullptr && !found->second.overflowed) fill_pcs(found->second, *found->second.data);
  pc_contexts().erase(found);
  return CUPTI_SUCCESS;
}

SIM_PC_CALL(cuptiPCSamplingSetConfigurationAttribute, CUpti_PCSamplingConfigurationInfoParams) {
  const std::lock_guard<std::mutex> lock(g_pc_mutex);
  const auto found = pc_contexts().find(p->ctx);
  if (found == pc_contexts().end()) return CUPTI_ERROR_INVALID_OPERATION;
  CUptiResult result = CUPTI_SUCCESS;
  for (size_t i = 0; i < p->numAttributes; ++i) {
    CUpti_PCSamplingConfigurationInfo& one = p->pPCSamplingConfigurationInfo[i];
    one.attributeStatus = configure_pcs(found->second, one);
    if (one.attributeStatus != CUPTI_SUCCESS) result = CUPTI_ERROR_INVALID_OPERATION;
  }
  return result;
}

SIM_PC_CALL(cuptiPCSamplingGetData, CUpti_PCSamplingGetDataParams) {
  std::this_thread::sleep_for(std::chrono::milliseconds(script().cupti.pc_data_ms));
  state().driver.load()->settle();
  if (pm_sampling_enabled()) return CUPTI_ERROR_UNKNOWN;  // as on an H200
  const std::lock_guard<std::mutex> lock(g_pc_mutex);
  const auto found = pc_contexts().find(p->ctx);
  if (found == pc_contexts().end()) return CUPTI_ERROR_INVALID_OPERATION;
  auto* const data = static_cast<CUpti_PCSamplingData*>(p->pcSamplingData);
  if (data == nullptr || data->size == 0 || data->collectNumPcs == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  fill_pcs(found->second, *data);
  if (data == found->second.data)  // as on an H200: the buffer of the configuration is for the end of sampling
    data->totalSamples = data->droppedSamples = data->nonUsrKernelsTotalSamples = 0;
  found->second.was_read = true;
  return found->second.overflowed ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

SIM_PC_CALL(cuptiPCSamplingGetNumStallReasons, CUpti_PCSamplingGetNumStallReasonsParams) {
  *p->numStallReasons = kReasonCount;
  return CUPTI_SUCCESS;
}

SIM_PC_CALL(cuptiPCSamplingGetStallReasons, CUpti_PCSamplingGetStallReasonsParams) {
  if (p->numStallReasons < kReasonCount) return CUPTI_ERROR_INVALID_PARAMETER;
  for (size_t i = 0; i < kReasonCount; ++i) {
    p->stallReasonIndex[i] = static_cast<uint32_t>(i);
    strncpy(p->stallReasons[i], reason_name(i).c_str(), CUPTI_STALL_REASON_STRING_SIZE);
  }
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiRegisterComputeCrcCallback(CUpti_ComputeCrcCallbackFunc callback) {
  const LeavesErrno leaves_errno;
  if (const CUptiResult told = enter_counter_call("cuptiRegisterComputeCrcCallback"); told != CUPTI_SUCCESS)
    return told;
  if (callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  g_crc = callback;
  return attach();
}

SIM_EXPORT CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams* p) {
  if (p->size == 0 || p->cubin == nullptr || p->cubinSize == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  p->cubinCrc = usual_crc(p->cubin, p->cubinSize);
  return CUPTI_SUCCESS;
}

}  // extern "C"
