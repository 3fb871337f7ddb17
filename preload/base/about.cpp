#include "preload/base/about.h"

#include "preload/base/options.h"
#include "preload/format/number_list.h"

namespace prof::preload {

bool may_tell(std::string_view what) {
  std::string_view list(options().about);
  if (list == "all") return true;
  while (!list.empty()) {
    if (format::next_part(list, ',') == what) return true;
  }
  return false;
}

}  // namespace prof::preload
