// What do the program's other threads see while the process exits? The driver's exit handler runs before the recorder's
// last one, and from then on every driver call fails. Without the recorder the process would be over in microseconds;
// threads must not find the time to react to the failure. So a thread whose call failed waits for the end. This code
// runs in the program.
#pragma once

namespace prof::preload {

// This thread runs the exit handlers. It never waits.
void process_exits();
// Around the work after all destructors, which closes the log.
void log_closes();
void log_closed();
// Called by a thread whose driver call failed because the driver has ended, or whose call is not recorded any more.
// While the process exits, it waits: once, at most 0.1 s, because the exiting thread may wait for this one, and at most
// a second while the log is closed. Threads of the recorder do not wait. Keeps errno.
void await_process_end();

}  // namespace prof::preload
