// What are categories and processes of devices that the importer does not know?
#include "analyzer/input/kineto/kineto_category.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(KinetoCategories, OfUnknownDevicesAreForeign) {
  for (const char* const category : {"mtia_ccp_events", "npu", "xpu_scope_profiler", "privateuse1_op", "Ascend kernel"})
    EXPECT_EQ(kineto_class(category), KinetoClass::Foreign) << category;
}

TEST(KinetoCategories, OfTheRuntimesOfUnknownDevicesAreCalls) {
  for (const char* const category : {"mtia_runtime", "npu_runtime", "musa_driver", "hpu_op"})
    EXPECT_EQ(kineto_class(category), KinetoClass::Call) << category;
}

TEST(KinetoCategories, OfProgramsAreNoDevices) {
  for (const char* const category : {"devtools.timeline", "blink", "gpu", "input", "cpu_op2", ""})
    EXPECT_EQ(kineto_class(category), KinetoClass::Other) << category;
}

TEST(KinetoCategories, AProcessIsADeviceByItsWholeName) {
  for (const char* const name : {"MTIA 9", "NPU", "Ascend Hardware", "XPU:0", "GPU 0"})
    EXPECT_TRUE(is_device_name(name)) << name;
  for (const char* const name : {"", "python", "GPU", "GPU Process", "tpu_train.py", "my npu job", "vllm 3"})
    EXPECT_FALSE(is_device_name(name)) << name;
}

}  // namespace
}  // namespace prof::analyzer
