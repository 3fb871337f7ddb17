#include "analyzer/model/results.h"

namespace prof::analyzer {

std::string_view result_name(uint32_t result, std::string_view api) {
  const bool runtime = is_runtime_api(api);
  switch (result) {
#define PROF_RESULT(number, driver, of_runtime) \
  case number:                                  \
    return runtime ? of_runtime : driver;
#include "analyzer/model/results.def"
#undef PROF_RESULT
    default: return {};
  }
}

}  // namespace prof::analyzer
