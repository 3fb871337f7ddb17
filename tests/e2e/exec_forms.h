// Every way of libc to start a program, for test programs: exec*(), fexecve(), execveat(), posix_spawn*(), after fork
// and vfork, and in a signal handler.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

extern char** environ;

namespace exec_forms {

inline const char* g_path = nullptr;  // of the program, absolute
inline const char* g_name = nullptr;  // its name in PATH
inline char** g_arguments = nullptr;
inline const char* g_argument = nullptr;  // the only one

struct Form {
  const char* name;
  void (*start)();  // returns if the program could not be started
};

inline const Form kForms[] = {
    {"execve", [] { execve(g_path, g_arguments, environ); }},
    {"execv", [] { execv(g_path, g_arguments); }},
    {"execvp path", [] { execvp(g_path, g_arguments); }},
    {"execvp name", [] { execvp(g_name, g_arguments); }},
    {"execvpe path", [] { execvpe(g_path, g_arguments, environ); }},
    {"execvpe name", [] { execvpe(g_name, g_arguments, environ); }},
    {"execl", [] { execl(g_path, g_arguments[0], g_argument, nullptr); }},
    {"execlp", [] { execlp(g_name, g_arguments[0], g_argument, nullptr); }},
    {"execle", [] { execle(g_path, g_arguments[0], g_argument, nullptr, environ); }},
    {"fexecve", [] { fexecve(open(g_path, O_RDONLY | O_NONBLOCK), g_arguments, environ); }},
    {"execveat", [] { execveat(AT_FDCWD, g_path, g_arguments, environ, 0); }},
    {"execveat descriptor",
     [] { execveat(open(g_path, O_RDONLY | O_NONBLOCK), "", g_arguments, environ, AT_EMPTY_PATH); }},
    {"handler",
     [] {
       signal(SIGUSR1, [](int) { execve(g_path, g_arguments, environ); });
       raise(SIGUSR1);
     }},
};

inline int status_of(pid_t child) {
  int status = 0;
  if (child <= 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                      char* const*);

inline int spawn(Spawn function, const char* file, bool with_actions) {
  pid_t child = 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  const int error = function(&child, file, with_actions ? &actions : nullptr, nullptr, g_arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error != 0 ? 512 + error : status_of(child);
}

// Calls each(form, status) after each start of `path` with one argument, the name of the form. `path` is absolute, and
// its folder becomes the first of PATH.
template <class Each> void start_each(const char* path, Each&& each) {
  const std::string folder(path, static_cast<size_t>(std::strrchr(path, '/') - path));
  const char* const before = getenv("PATH");
  setenv("PATH", ("/no/such/folder:" + folder + ":" + (before != nullptr ? before : "/bin")).c_str(), 1);
  g_path = path;
  g_name = path + folder.size() + 1;
  char* arguments[] = {const_cast<char*>(path), nullptr, nullptr};
  g_arguments = arguments;
  const auto with = [&](const char* form) {
    g_argument = form;
    arguments[1] = const_cast<char*>(form);
    return form;
  };
  for (const Form& form : kForms) {
    with(form.name);
    const pid_t child = fork();
    if (child == 0) {
      form.start();
      _exit(100);
    }
    each(form.name, status_of(child));
  }
  with("vfork");
  const pid_t child = vfork();
  if (child == 0) {
    execve(path, arguments, environ);
    _exit(100);
  }
  each("vfork", status_of(child));
  each(with("posix_spawn"), spawn(posix_spawn, path, false));
  each(with("posix_spawn actions"), spawn(posix_spawn, path, true));
  each(with("posix_spawnp path"), spawn(posix_spawnp, path, false));
  each(with("posix_spawnp name"), spawn(posix_spawnp, g_name, true));
}

constexpr int kCount = static_cast<int>(sizeof kForms / sizeof kForms[0]) + 5;

}  // namespace exec_forms
