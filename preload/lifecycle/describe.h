// What does the log contain about itself and its process? The header, the place of the counters, and meta records. The
// start of a recording calls it.
#pragma once

namespace prof::preload {

void describe_header();   // magic, clocks, kind table, counter names
void refine_header();     // helper thread: the rate of the clock, once it is known exactly
void describe_process();  // command line, executable, host, options … as meta definitions

}  // namespace prof::preload
