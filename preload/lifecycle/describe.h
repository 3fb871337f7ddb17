// What the log says about itself and its process: header, counters' place, meta records. Called while a life starts.
#pragma once

namespace prof::preload {

void describe_header();   // magic, clocks, kind table, counter names
void describe_process();  // command line, executable, host, options … as meta definitions

// Counters live in the log's counter page; before there is one, and in a forked child, in memory. Moves those into the page.
void adopt_counters();

void finish_life();  // flush, last anchor, cut the file; at most once, in the process that started the life

}  // namespace prof::preload
