// See record_child.h.
#include "analyzer/command/record_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace prof::analyzer {

namespace {

std::atomic<pid_t> g_child{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);  // a signal handler reads it

// SI_KERNEL: the terminal sent the signal, to every process of the group.
void pass_on(int signal, siginfo_t* info, void*) {
  const int error = errno;
  const pid_t child = g_child.load(std::memory_order_relaxed);
  if (info->si_code != SI_KERNEL && info->si_pid != child && child > 0) kill(child, signal);
  errno = error;
}

struct Handlers {
  struct sigaction old_int, old_term, old_hup, old_quit;

  void install() {
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    set(SIGINT, action, old_int);
    set(SIGTERM, action, old_term);
    set(SIGHUP, action, old_hup);
    action.sa_flags = 0;
    action.sa_handler = SIG_IGN;
    sigaction(SIGQUIT, &action, &old_quit);
  }
  void restore() const {
    sigaction(SIGINT, &old_int, nullptr);
    sigaction(SIGTERM, &old_term, nullptr);
    sigaction(SIGHUP, &old_hup, nullptr);
    sigaction(SIGQUIT, &old_quit, nullptr);
  }

 private:
  // An ignored signal (nohup) stays ignored, for the program too.
  static void set(int signal, const struct sigaction& action, struct sigaction& old) {
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
};

[[noreturn]] void become(char* const* argv, const std::vector<std::pair<std::string, std::string>>& variables,
                         int report) {
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  execvp(argv[0], argv);
  const int error = errno;
  (void)!write(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& argv,
                   const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (const std::string& word : argv) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));

  // Signals are blocked until the child's pid is known, because a signal before that would be lost.
  sigset_t blocked, before;
  sigemptyset(&blocked);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked, signal);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  Handlers handlers;
  handlers.install();
  const pid_t child = fork();
  if (child == 0) {
    handlers.restore();
    sigprocmask(SIG_SETMASK, &before, nullptr);
    become(pointers.data(), variables, report[1]);
  }
  close(report[1]);
  if (child < 0) throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(errno));
  g_child = child;
  sigprocmask(SIG_SETMASK, &before, nullptr);

  ChildEnd end;
  int error = 0;
  ssize_t got = 0;
  while ((got = read(report[0], &error, sizeof error)) < 0 && errno == EINTR) {}
  if (got == static_cast<ssize_t>(sizeof error)) end.exec_error = error;
  close(report[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  g_child = 0;
  handlers.restore();
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.status = WEXITSTATUS(status);
  }
  return end;
}

void die_by(int signal) {
  const rlimit no_core{0, 0};  // the program may have written a core file, which ours would replace
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);
}

}  // namespace prof::analyzer
