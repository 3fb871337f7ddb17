// The roofline as a picture: arithmetic intensity against attained FLOPS, both logarithmic, a dot for each row of the report,
// sized by its time, below the roofs of its device. SVG alone, or a page with a picture for each device and the rows without
// FLOPs below. Nothing is fetched and no script runs: names show as the browser's own tips.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/reports/roofline.h"

namespace prof::analyzer {

// A page with all devices.
void write_roofline_page(const Trace& trace, const Roofline& roofline, Sink& sink);
// SVG: the picture of the device with the most time.
void write_roofline_picture(const Trace& trace, const Roofline& roofline, Sink& sink);

}  // namespace prof::analyzer
