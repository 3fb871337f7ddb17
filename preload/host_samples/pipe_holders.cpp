#include "preload/host_samples/pipe_holders.h"

#include "preload/base/about.h"
#include "preload/base/clock.h"
#include "preload/base/options.h"
#include "preload/format/host_events.h"
#include "preload/format/secrets.h"
#include "preload/host_samples/proc_path.h"
#include "preload/record/append.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>

namespace prof::preload {

namespace {

constexpr uint32_t kMostPipes = 32;
constexpr uint32_t kMostHolders = 1024;      // that are remembered, so that a holder has one record
constexpr uint32_t kMostDescriptors = 4096;  // of a process that are looked at
constexpr uint64_t kSlice = 1'000'000, kLeastPause = 1'000'000'000, kShare = 100;
constexpr size_t kNameRoom = 40;
constexpr size_t kCommandRoom = 1024;

struct PipeName {
  char text[kNameRoom] = {};
  size_t size = 0;
  std::string_view view() const { return {text, size}; }
  void set(std::string_view from) {
    size = std::min(from.size(), kNameRoom);
    std::memcpy(text, from.data(), size);
  }
};

struct AwaitedPipe {
  PipeName name;          // of the end that is waited for; empty: the entry is free
  PipeName other;         // of the other end
  bool seen = false;      // a thread has waited for it since the last search began
  bool searched = false;  // by the search that is under way
};

struct KnownHolder {
  uint32_t pid = 0;
  PipeName name;
};

// Only the holder of the sampler's lock uses these.
constinit AwaitedPipe g_awaited[kMostPipes];
constinit KnownHolder g_holders[kMostHolders];
uint32_t g_holder_count = 0, g_replace = 0;
bool g_new_pipe = false;          // a pipe that no search has looked for
bool g_holders_searched = false;  // a search is under way
int64_t g_proc_place = 0;         // in /proc
uint64_t g_holders_due_ns = 0, g_holders_spent_ns = 0;
char g_raw[kCommandRoom], g_masked[kCommandRoom];

bool is_socket(std::string_view name) { return name.starts_with("socket:["); }

// The name of the other end. Both ends of a pipe have one name. Empty: it is not known.
void name_other_end(AwaitedPipe& awaited) {
  awaited.other = awaited.name;
  if (!is_socket(awaited.name.view())) return;
  constexpr size_t kBegin = sizeof "socket:[" - 1;
  const std::string_view name = awaited.name.view();
  uint32_t inode = 0;
  awaited.other.size = 0;
  if (!read_id({name.data() + kBegin, name.size() - kBegin - 1}, inode)) return;
  const uint32_t peer = peer_of_socket(inode);
  if (peer == 0) return;
  char text[kNameRoom] = "socket:[";
  const Decimal digits(peer);
  std::memcpy(text + kBegin, digits.text().data(), digits.text().size());
  text[kBegin + digits.text().size()] = ']';
  awaited.other.set({text, kBegin + digits.text().size() + 1});
}

void await_pipe(std::string_view name) {
  if (name.size() > kNameRoom || !(name.starts_with("pipe:[") || is_socket(name)) || !name.ends_with(']')) return;
  AwaitedPipe* to = nullptr;
  for (AwaitedPipe& each : g_awaited) {
    if (each.name.view() == name) {
      each.seen = true;
      return;
    }
    if (each.name.size == 0 && to == nullptr) to = &each;
  }
  if (to == nullptr) to = &g_awaited[g_replace++ % kMostPipes];
  *to = {};
  to->name.set(name);
  to->seen = true;
  name_other_end(*to);
  g_new_pipe |= to->other.size != 0;
}

std::string_view command_of(uint32_t pid) {
  if (!may_tell(option::About::Command)) return {};
  const long read = ProcPath("/proc/").add(uint64_t{pid}).add("/cmdline").read(g_raw, sizeof g_raw);
  size_t size = read > 0 ? static_cast<size_t>(read) : 0;
  while (size != 0 && g_raw[size - 1] == '\0') --size;
  char* text = g_raw;
  if (options().secrets != option::Secrets::Keep) {
    size = format::mask_secrets({g_raw, size}, '\0', g_masked);
    text = g_masked;
  }
  std::replace(text, text + size, '\0', ' ');
  return {text, size};
}

// Whether the process counts processes as this one does, so that its log has this pid.
bool is_of_this_namespace(uint32_t pid) {
  char own[64], others[64];
  const std::string_view here = ProcPath("/proc/self/ns/pid").link(own, sizeof own);
  return !here.empty() && here == ProcPath("/proc/").add(uint64_t{pid}).add("/ns/pid").link(others, sizeof others);
}

void write_holder(uint32_t pid, const AwaitedPipe& awaited) {
  for (uint32_t i = 0; i < std::min(g_holder_count, kMostHolders); ++i) {
    if (g_holders[i].pid == pid && g_holders[i].name.view() == awaited.name.view()) return;
  }
  KnownHolder& holder = g_holders[g_holder_count++ % kMostHolders];
  holder.pid = pid;
  holder.name = awaited.name;
  format::PipeHolder record;
  record.found = now_ticks();
  record.pid = pid;
  record.flags = is_of_this_namespace(pid) ? 0 : format::kHolderOfOtherNamespace;
  record.pipe = awaited.name.view();
  record.command = command_of(pid);
  define(record);
}

// Whether the descriptor can be written to: the permissions of the link show how it was opened.
bool is_writable(long directory, const char* name) {
  struct stat status {};
  return raw_call(SYS_newfstatat, directory, word_of(name), word_of(&status), AT_SYMLINK_NOFOLLOW) == 0 &&
         (status.st_mode & S_IWUSR) != 0;
}

void look_at_process(uint32_t pid) {
  const long directory = ProcPath("/proc/").add(uint64_t{pid}).add("/fd").open(O_RDONLY | O_DIRECTORY);
  if (directory < 0) return;
  uint32_t looked_at = 0;
  each_entry(directory, [&](const DirectoryEntry& entry) {
    char text[kNameRoom + 1];
    const long size = raw_call(SYS_readlinkat, directory, word_of(entry.name), word_of(text), sizeof text);
    const std::string_view link(text, size > 0 ? static_cast<size_t>(size) : 0);
    for (const AwaitedPipe& each : g_awaited) {
      if (each.searched && each.other.view() == link && (is_socket(link) || is_writable(directory, entry.name)))
        write_holder(pid, each);
    }
    return ++looked_at < kMostDescriptors;
  });
  raw_call(SYS_close, directory);
}

// False: the search is complete.
bool search_slice(uint64_t until_ns) {
  const long directory = ProcPath("/proc").open(O_RDONLY | O_DIRECTORY);
  if (directory < 0) return false;
  const auto own = static_cast<uint32_t>(raw_call(SYS_getpid));
  raw_call(SYS_lseek, directory, g_proc_place, SEEK_SET);
  bool complete = true;
  each_entry(directory, [&](const DirectoryEntry& entry) {
    g_proc_place = entry.next;
    uint32_t pid = 0;
    if (read_id(entry.name, pid) && pid != own) look_at_process(pid);
    return complete = monotonic_ns() < until_ns;
  });
  raw_call(SYS_close, directory);
  return !complete;
}

}  // namespace

uint32_t peer_of_socket(uint32_t inode) {
  struct {
    nlmsghdr header;
    unix_diag_req request;
  } message{};
  message.header.nlmsg_len = sizeof message;
  message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  message.header.nlmsg_flags = NLM_F_REQUEST;
  message.request.sdiag_family = AF_UNIX;
  message.request.udiag_states = ~0u;
  message.request.udiag_ino = inode;
  message.request.udiag_show = UDIAG_SHOW_PEER;
  message.request.udiag_cookie[0] = message.request.udiag_cookie[1] = ~0u;
  const long link = raw_call(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
  if (link < 0) return 0;
  alignas(8) char reply[1024] = {};
  // The kernel answers within the request.
  long size = raw_call(SYS_sendto, link, word_of(&message), sizeof message);
  if (size > 0) size = raw_call(SYS_recvfrom, link, word_of(reply), sizeof reply, MSG_DONTWAIT);
  raw_call(SYS_close, link);
  const auto* const header = reinterpret_cast<const nlmsghdr*>(reply);
  constexpr long kHeaders = NLMSG_LENGTH(sizeof(unix_diag_msg));
  if (size < kHeaders || header->nlmsg_type != SOCK_DIAG_BY_FAMILY || header->nlmsg_len > size) return 0;
  for (size_t at = NLMSG_ALIGN(kHeaders); at + sizeof(rtattr) + 4 <= header->nlmsg_len;) {
    const auto* const attribute = reinterpret_cast<const rtattr*>(reply + at);
    uint32_t peer = 0;
    std::memcpy(&peer, attribute + 1, sizeof peer);
    if (attribute->rta_type == UNIX_DIAG_PEER) return peer;
    if (attribute->rta_len < sizeof(rtattr)) return 0;
    at += RTA_ALIGN(attribute->rta_len);
  }
  return 0;
}

void await_pipes(std::string_view detail) {
  while (!detail.empty()) {
    const size_t size = std::min(detail.find(' '), detail.size());
    await_pipe({detail.data(), size});
    detail.remove_prefix(std::min(size + 1, detail.size()));
  }
}

void search_pipe_holders(uint64_t now_ns) {
  if (!g_holders_searched) {
    if (!g_new_pipe && now_ns < g_holders_due_ns) return;
    for (AwaitedPipe& each : g_awaited) {
      each.searched = each.seen && each.other.size != 0;
      g_holders_searched |= each.searched;
      each.seen = false;
    }
    g_new_pipe = false;
    g_holders_due_ns = now_ns + kLeastPause;
    if (!g_holders_searched) return;
    g_proc_place = 0;
    g_holders_spent_ns = 0;
  }
  g_holders_searched = search_slice(now_ns + kSlice);
  const uint64_t after_ns = monotonic_ns();
  g_holders_spent_ns += after_ns - now_ns;
  g_holders_due_ns = after_ns + std::max(kLeastPause, kShare * g_holders_spent_ns);
}

void forget_pipes() {
  for (AwaitedPipe& each : g_awaited) each = {};
  g_holder_count = g_replace = 0;
  g_new_pipe = g_holders_searched = false;
  g_holders_due_ns = 0;
}

}  // namespace prof::preload
