// exec*(), fexecve() and posix_spawn*(): a program that cannot load libprof.so is started without it in LD_PRELOAD
// (exec_target.h), so that it runs as without the recorder. In every other case the call goes to libc unchanged. These
// functions run between vfork and exec and in signal handlers: they use the stack, and nothing else of the process.
#include "preload/base/environment.h"
#include "preload/base/exec_target.h"
#include "preload/base/libc.h"
#include "preload/base/own_library.h"
#include "preload/base/preload_list.h"
#include "preload/base/raw_call.h"

#include <alloca.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace prof::preload {
namespace {

using Words = char* const*;  // arguments or an environment, with a null at the end
using Actions = const posix_spawn_file_actions_t*;
using Attributes = const posix_spawnattr_t*;
using Spawn = int (*)(pid_t*, const char*, Actions, Attributes, Words, Words);

#if defined(__aarch64__)
#define PROF_EXECVPE_VERSION PROF_OLDEST_GLIBC
#define PROF_SPAWN_VERSION PROF_OLDEST_GLIBC
#else
#define PROF_EXECVPE_VERSION "GLIBC_2.11"
#define PROF_SPAWN_VERSION "GLIBC_2.15"
#endif

// The next functions after ours. They are found when the library is loaded, because dlvsym() takes the loader's lock,
// which another thread may have held when a child was forked.
struct Next {
  int (*execve)(const char*, Words, Words) = nullptr;
  int (*execv)(const char*, Words) = nullptr;
  int (*execvp)(const char*, Words) = nullptr;
  int (*execvpe)(const char*, Words, Words) = nullptr;
  int (*fexecve)(int, Words, Words) = nullptr;
  int (*execveat)(int, const char*, Words, Words, int) = nullptr;
  Spawn spawn = nullptr, spawnp = nullptr;
  Spawn old_spawn = nullptr, old_spawnp = nullptr;  // run a file of unknown format with /bin/sh
};
Next g_next;

template <class Function> void find(Function& to, const char* name, const char* version) {
  to = reinterpret_cast<Function>(next_function(name, version));
}

__attribute__((constructor)) void find_next_functions() {
  find(g_next.execv, "execv", PROF_OLDEST_GLIBC);
  find(g_next.execvp, "execvp", PROF_OLDEST_GLIBC);
  find(g_next.execvpe, "execvpe", PROF_EXECVPE_VERSION);
  find(g_next.fexecve, "fexecve", PROF_OLDEST_GLIBC);
  find(g_next.execveat, "execveat", "GLIBC_2.34");
  find(g_next.spawn, "posix_spawn", PROF_SPAWN_VERSION);
  find(g_next.spawnp, "posix_spawnp", PROF_SPAWN_VERSION);
  find(g_next.old_spawn, "posix_spawn", PROF_OLDEST_GLIBC);
  find(g_next.old_spawnp, "posix_spawnp", PROF_OLDEST_GLIBC);
  find(g_next.execve, "execve", PROF_OLDEST_GLIBC);
}

// Another library's constructor may start a program before ours ran.
const Next& next() {
  if (g_next.execve == nullptr) find_next_functions();
  return g_next;
}

// What is in an environment about us.
struct Preloads {
  size_t entries = 0;      // of the environment
  size_t text = 0;         // bytes of the entries LD_PRELOAD that name the library
  bool by_path = false;    // by its path; otherwise only with $LIB and the like
  bool sanitizer = false;  // a sanitizer's library is named before ours, or told not to mind
};

// The list of an entry LD_PRELOAD of an environment; empty for other variables.
std::string_view list_of(std::string_view entry) {
  if (!entry.starts_with(kPreloadVariable)) return {};
  return {entry.data() + kPreloadVariable.size(), entry.size() - kPreloadVariable.size()};
}

bool names_us(std::string_view list, Preloads& found) {
  bool ours = false;
  for (std::string_view one = next_preload(list); !one.empty(); one = next_preload(list)) {
    const std::string_view name = file_name(one);
    if (!ours && (name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan"))) found.sanitizer = true;
    if (!names_library(one, library_path())) continue;
    ours = true;
    found.by_path |= one == library_path();
  }
  return ours;
}

Preloads look_for_us(Words environment) {
  Preloads found;
  for (; environment[found.entries] != nullptr; ++found.entries) {
    const std::string_view entry(environment[found.entries]);
    if (entry.starts_with("ASAN_OPTIONS=") && entry.find("verify_asan_link_order=0") != std::string_view::npos)
      found.sanitizer = true;
    if (names_us(list_of(entry), found)) found.text += entry.size() + 1;
  }
  return found;
}

bool must_go(ExecTarget target, const Preloads& preloads) {
  // With $LIB, the loader of another word size finds the library of its own folder.
  if (target == ExecTarget::OtherMachine) return preloads.by_path;
  return target == ExecTarget::SanitizerFirst && !preloads.sanitizer;
}

// Copies the environment to `to`, with entries LD_PRELOAD that do not name us. Their text is written to `text`.
void copy_without_us(Words environment, char** to, char* text) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view list = list_of(*environment);
    Preloads ignored;
    if (!names_us(list, ignored)) {
      *to++ = *environment;
      continue;
    }
    std::memcpy(text, kPreloadVariable.data(), kPreloadVariable.size());
    const size_t size = copy_without(list, library_path(), text + kPreloadVariable.size());
    if (size == 0) continue;  // without us there would be no such variable
    text[kPreloadVariable.size() + size] = '\0';
    *to++ = text;
    text += kPreloadVariable.size() + list.size() + 1;
  }
  *to = nullptr;
}

// An environment with more variables stays as it is: the copy is on the stack, which may be small.
constexpr size_t kMostVariables = 4096;

// Calls call(environment), with an environment without us if the program `look()` cannot load the library.
template <class Look, class Call> int start_program(Words environment, Look&& look, Call&& call) {
  if (inert() || environment == nullptr) return call(environment);
  const Preloads preloads = look_for_us(environment);
  if (preloads.text == 0 || preloads.entries > kMostVariables || !must_go(look(), preloads)) return call(environment);
  auto** const changed = static_cast<char**>(alloca((preloads.entries + 1) * sizeof(char*)));
  auto* const text = static_cast<char*>(alloca(preloads.text));
  copy_without_us(environment, changed, text);
  return call(static_cast<Words>(changed));
}

const char* search_path() { return environment_variable("PATH"); }

int spawn(Spawn next_spawn, pid_t* pid, const char* path, Actions actions, Attributes attributes, Words arguments,
          Words variables, bool search) {
  const bool may_change_folder = actions != nullptr;
  const auto look = [&] {
    if (search) return look_at_command(path, search_path(), may_change_folder);
    return may_change_folder && path[0] != '/' ? ExecTarget::Any : look_at_file(AT_FDCWD, path);
  };
  return start_program(variables, look, [&](Words changed) {
    return next_spawn != nullptr ? next_spawn(pid, path, actions, attributes, arguments, changed) : ENOSYS;
  });
}

}  // namespace
}  // namespace prof::preload

using namespace prof::preload;

extern "C" {

#define PROF_HIDDEN __attribute__((visibility("hidden"), used))

PROF_HIDDEN int prof_execve(const char* path, Words arguments, Words variables) {
  return start_program(
      variables, [&] { return look_at_file(AT_FDCWD, path); },
      [&](Words changed) { return next().execve(path, arguments, changed); });
}

PROF_HIDDEN int prof_execv(const char* path, Words arguments) {
  return start_program(
      environment(), [&] { return look_at_file(AT_FDCWD, path); },
      [&](Words changed) {
        return changed == environment() ? next().execv(path, arguments) : next().execve(path, arguments, changed);
      });
}

PROF_HIDDEN int prof_execvp(const char* file, Words arguments) {
  return start_program(
      environment(), [&] { return look_at_command(file, search_path(), false); },
      [&](Words changed) {
        return changed == environment() ? next().execvp(file, arguments) : next().execvpe(file, arguments, changed);
      });
}

PROF_HIDDEN int prof_execvpe(const char* file, Words arguments, Words variables) {
  return start_program(
      variables, [&] { return look_at_command(file, search_path(), false); },
      [&](Words changed) { return next().execvpe(file, arguments, changed); });
}

PROF_HIDDEN int prof_fexecve(int fd, Words arguments, Words variables) {
  return start_program(
      variables, [&] { return look_at_descriptor(fd); },
      [&](Words changed) { return next().fexecve(fd, arguments, changed); });
}

PROF_HIDDEN int prof_execveat(int folder, const char* path, Words arguments, Words variables, int flags) {
  const auto look = [&] {
    if (path[0] != '\0') return look_at_file(folder, path);
    return (flags & AT_EMPTY_PATH) != 0 ? look_at_descriptor(folder) : ExecTarget::Any;
  };
  return start_program(variables, look, [&](Words changed) {
    if (next().execveat != nullptr) return next().execveat(folder, path, arguments, changed, flags);
    return static_cast<int>(syscall(SYS_execveat, folder, path, arguments, changed, flags));  // glibc before 2.34
  });
}

// `arguments`: those of execl() and its relatives, as an array on the stack. `list` is after their null then.
#define PROF_LIST_OF_ARGUMENTS(first)                                                     \
  va_list list;                                                                           \
  size_t count = 0;                                                                       \
  va_start(list, first);                                                                  \
  for (const char* one = first; one != nullptr; one = va_arg(list, const char*)) ++count; \
  va_end(list);                                                                           \
  auto** const arguments = static_cast<char**>(alloca((count + 1) * sizeof(char*)));      \
  char** next_argument = arguments;                                                       \
  va_start(list, first);                                                                  \
  for (const char* one = first; one != nullptr; one = va_arg(list, const char*))          \
    *next_argument++ = const_cast<char*>(one);                                            \
  *next_argument = nullptr

PROF_HIDDEN int prof_execl(const char* path, const char* first, ...) {
  PROF_LIST_OF_ARGUMENTS(first);
  va_end(list);
  return prof_execv(path, arguments);
}

PROF_HIDDEN int prof_execlp(const char* file, const char* first, ...) {
  PROF_LIST_OF_ARGUMENTS(first);
  va_end(list);
  return prof_execvp(file, arguments);
}

PROF_HIDDEN int prof_execle(const char* path, const char* first, ...) {
  PROF_LIST_OF_ARGUMENTS(first);
  const auto variables = va_arg(list, Words);  // after the null of the arguments
  va_end(list);
  return prof_execve(path, arguments, variables);
}

PROF_HIDDEN int prof_posix_spawn(pid_t* pid, const char* path, Actions actions, Attributes attributes, Words arguments,
                                 Words variables) {
  return spawn(next().spawn, pid, path, actions, attributes, arguments, variables, false);
}
PROF_HIDDEN int prof_posix_spawnp(pid_t* pid, const char* file, Actions actions, Attributes attributes, Words arguments,
                                  Words variables) {
  return spawn(next().spawnp, pid, file, actions, attributes, arguments, variables, true);
}
PROF_HIDDEN int prof_old_posix_spawn(pid_t* pid, const char* path, Actions actions, Attributes attributes,
                                     Words arguments, Words variables) {
  return spawn(next().old_spawn, pid, path, actions, attributes, arguments, variables, false);
}
PROF_HIDDEN int prof_old_posix_spawnp(pid_t* pid, const char* file, Actions actions, Attributes attributes,
                                      Words arguments, Words variables) {
  return spawn(next().old_spawnp, pid, file, actions, attributes, arguments, variables, true);
}
}

PROF_EXPORT(execve, "@@" PROF_OLDEST_GLIBC);
PROF_EXPORT(execv, "@@" PROF_OLDEST_GLIBC);
PROF_EXPORT(execvp, "@@" PROF_OLDEST_GLIBC);
PROF_EXPORT(execvpe, "@@" PROF_EXECVPE_VERSION);
PROF_EXPORT(fexecve, "@@" PROF_OLDEST_GLIBC);
PROF_EXPORT(execveat, "@@GLIBC_2.34");
PROF_EXPORT(execl, "@@" PROF_OLDEST_GLIBC);
PROF_EXPORT(execlp, "@@" PROF_OLDEST_GLIBC);
PROF_EXPORT(execle, "@@" PROF_OLDEST_GLIBC);
PROF_EXPORT(posix_spawn, "@@" PROF_SPAWN_VERSION);
PROF_EXPORT(posix_spawnp, "@@" PROF_SPAWN_VERSION);
#if !defined(__aarch64__)
PROF_EXPORT_AS(old_posix_spawn, posix_spawn, "@" PROF_OLDEST_GLIBC);
PROF_EXPORT_AS(old_posix_spawnp, posix_spawnp, "@" PROF_OLDEST_GLIBC);
#endif
