#include "analyzer/analysis/cost/kernel_cost.h"

namespace prof::analyzer {

std::string_view cost_source_name(CostSource source) {
  switch (source) {
    case CostSource::None: return "";
    case CostSource::Library: return "library";
    case CostSource::Nominal: return "nominal";
    case CostSource::Shapes: return "shapes";
    case CostSource::Inductor: return "inductor";
    case CostSource::Counters: return "counters";
    case CostSource::Event: break;
  }
  return "event";
}

}  // namespace prof::analyzer
