// Which stream, and which context, does an argument of the program name? It is found in the tables; at first sight it
// is queried and defined in the log. Driver calls made here are bracketed and do not change the stream's operations.
// Hooks use it, in the program, for what launch_path.h does not know.
#pragma once

#include "preload/capture/streams/stream_table.h"
#include "preload/driver/null_stream.h"
#include "preload/format/ids.h"

#include <cuda.h>

namespace prof::preload {

// The state of `stream` (null streams resolved with the current context and thread), defined in the log at first sight.
// Null: the table is full, which is counted.
StreamState* find_or_define_stream(CUstream stream, NullStream null_stream);
// Null: it is a null stream, or was never seen.
StreamState* find_created_stream(CUstream stream);

format::ContextId context_id(CUcontext context);  // defined at first sight; null: the current context
CUcontext current_context();                      // null: none, or it is not known

// Whether the driver reports that the stream captures.
bool query_captured(CUstream stream, NullStream null_stream);

// A recording starts: streams and contexts are numbered from 1.
void restart_stream_ids();

}  // namespace prof::preload
