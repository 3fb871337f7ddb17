// What the log says about itself and its process: header, counters' place, meta records. Called while a life starts.
#pragma once

namespace prof::preload {

void describe_header();   // magic, clocks, kind table, counter names
void describe_process();  // command line, executable, host, options … as meta definitions

}  // namespace prof::preload
