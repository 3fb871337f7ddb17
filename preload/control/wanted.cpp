#include "preload/control/wanted.h"

#include "preload/base/environment.h"
#include "preload/base/name_list.h"
#include "preload/base/options.h"
#include "preload/base/preload_list.h"
#include "preload/format/number_list.h"
#include "preload/log/log_name.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace prof::preload {

namespace {

pid_t g_only_process = 0;  // the one to record with PROF_CHILDREN=0; 0: every process

// A list names a program by its file, by the name with which it was called, or by the name that it gave itself.
bool process_in_list(std::string_view list) {
  char text[4096];
  const ssize_t size = readlink("/proc/self/exe", text, sizeof text);
  if (size > 0 && name_in_list(list, file_name({text, static_cast<size_t>(size)}))) return true;
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t read_bytes = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0) close(fd);
  if (read_bytes > 0) {
    text[read_bytes] = '\0';
    if (name_in_list(list, file_name(text))) return true;
  }
  char name[16] = {};
  return prctl(PR_GET_NAME, name, 0, 0, 0) == 0 && name_in_list(list, name);
}

// Removes `path` from LD_PRELOAD.
void remove_from_preload(const char* path) {
  const char* const variable = environment_variable("LD_PRELOAD");
  static char kept[16384];
  if (variable == nullptr || std::strlen(variable) >= sizeof kept) return;
  const size_t size = copy_without(variable, path, kept);
  kept[size] = '\0';
  if (size == 0) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", kept, 1);
  }
}

}  // namespace

bool rank_in_list(const option::Numbers& list, std::string_view rank) {
  uint64_t number = 0;
  return !format::read_number(rank, number) || list.has(number);
}

const char* why_not_wanted() {
  if (is_unwanted_child()) return "PROF_CHILDREN=0 and this is a forked child";
  if (!options().processes.every && !process_in_list(options().processes.list))
    return "PROF_PROCESSES does not name this program";
  if (!rank_in_list(options().ranks, launcher_rank())) return "PROF_RANKS does not have this rank";
  return nullptr;
}

bool is_host_process() {
  return options().host_processes.every ||
         (!options().host_processes.list.empty() && process_in_list(options().host_processes.list));
}

void exclude_children(const char* library_path) {
  if (options().children) return;
  g_only_process = getpid();
  remove_from_preload(library_path);
}

bool is_unwanted_child() { return g_only_process != 0 && getpid() != g_only_process; }

}  // namespace prof::preload
