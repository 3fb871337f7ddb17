// How does the roofline look as a picture? Arithmetic intensity against attained FLOPS, both logarithmic, below the
// roofs of the device. Each row of the report is a dot, and its size is the row's time. The output is SVG alone, or a
// page with a picture for each device and a table of the rows without FLOPs. Arrow keys select a dot.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/reports/roofline.h"

namespace prof::analyzer {

// Writes a page with all devices.
void write_roofline_page(const Trace& trace, const Roofline& roofline, Sink& sink);
// Writes SVG: the picture of the device with the longest time.
void write_roofline_picture(const Trace& trace, const Roofline& roofline, Sink& sink);

}  // namespace prof::analyzer
