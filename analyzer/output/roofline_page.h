// The roofline as a picture: arithmetic intensity against attained FLOPS, both logarithmic, a dot for each row of the report,
// sized by its time, below the roofs of its device. SVG alone, or a page with a picture for each device and the rows without
// FLOPs below. Nothing is fetched and no script runs: names show as the browser's own tips.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/reports/roofline.h"

#include <string>

namespace prof::analyzer {

bool is_roofline_picture(const std::string& output);  // ends in .html or .svg

// To a file whose name ends in .svg the picture of the device with the most time; else a page.
void write_roofline(const Trace& trace, const Roofline& roofline, Sink& sink);

}  // namespace prof::analyzer
