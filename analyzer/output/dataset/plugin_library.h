// Where is the plug-in that writes Parquet files and Arrow streams? In lib/prof/parquet/ beside prof, together with the
// libraries that it was built with. No other place is searched, and no other libarrow is loaded, whatever
// LD_LIBRARY_PATH has.
#pragma once

#include "analyzer/parquet/table_plugin.h"

#include <stdexcept>

namespace prof::analyzer::dataset {

// Its text has what is missing and how to install it.
struct PluginError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Loads it once. Throws PluginError if it is not there, or not usable.
const prof_table_plugin& table_plugin();

}  // namespace prof::analyzer::dataset
