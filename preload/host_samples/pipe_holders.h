// Which processes have the other end of a pipe or socket open that a sampled thread waits for? host_sampler.cpp
// searches /proc/PID/fd for them, on the helper thread, and the log gets a pipe_holder record for each.
//
//   thread waits for pipe:[7]  ->  await_pipe()  ->  rounds look at some processes each  ->  pipe_holder pid=42
//
// A search begins when a thread waits for a pipe that no thread waited for before. It is repeated while threads wait,
// because workers come and go: after a second, and after a hundred times as long as the last one took.
#pragma once

#include <cstdint>
#include <string_view>

namespace prof::preload {

// A thread waits for what `detail` names: "pipe:[7]", "socket:[8]", or several of them with a space in between.
void await_pipes(std::string_view detail);
// Continues the search for at most a millisecond, if one is due. The caller is inside a scope that records.
void search_pipe_holders(uint64_t now_ns);
// A recording starts, or the process is a forked child.
void forget_pipes();

// The other end of a Unix socket: its inode, 0 if it has none or if the kernel does not tell it.
uint32_t peer_of_socket(uint32_t inode);

}  // namespace prof::preload
