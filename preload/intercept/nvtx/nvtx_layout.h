// Where are the fields of an NVTX payload that the recorder itself reads, and how large is one payload? Both are
// computed once from the schema's entries, at registration. It runs in the program.
#pragma once

#include "preload/intercept/nvtx/nvtx_schemas.h"

namespace prof::preload {

inline constexpr size_t kMaxNvtxEntries = 512;  // of one schema

// Sets the sizes and fields if the layout does not depend on values. `given` has as many elements as the schema has
// entries.
void lay_out_nvtx_schema(NvtxSchema& schema, const NvtxSchemaEntryGiven* given);

}  // namespace prof::preload
