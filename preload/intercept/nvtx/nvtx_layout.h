// Where are the fields of an NVTX payload that the recorder itself reads, and how large is one? From the schema's entries, once, when it is
// registered. In the program.
#pragma once

#include "preload/intercept/nvtx/nvtx_schemas.h"

namespace prof::preload {

inline constexpr size_t kMaxNvtxEntries = 512;  // of one schema

// Sets the sizes and fields, as far as the layout does not depend on values. `given`: as many as the schema has entries.
void lay_out_nvtx_schema(NvtxSchema& schema, const NvtxSchemaEntryGiven* given);

}  // namespace prof::preload
