// Prints all state of the process that a library could change: descriptors, signals, threads, environment, limits,
// errno. With "cuda" it launches in between. At the end it prints the descriptors of a program that it starts.
#include "tests/sim/sim_program.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

extern char** environ;

static std::vector<std::string> descriptors() {
  std::vector<std::string> lines;
  DIR* const folder = opendir("/proc/self/fd");
  while (const dirent* const entry = readdir(folder)) {
    char target[4096] = {};
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(path.c_str(), target, sizeof target - 1) <= 0) continue;
    std::string text = target;
    if (text.starts_with("pipe:")) text = "a pipe";
    if (text.starts_with("/proc/")) text = "this folder";
    lines.push_back(std::string("descriptor ") + entry->d_name + " " + text);
  }
  closedir(folder);
  return lines;
}

static void show(const char* when) {
  std::printf("-- %s, errno %d\n", when, errno);
  std::vector<std::string> lines = descriptors();
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  char line[512];
  while (std::fgets(line, sizeof line, status) != nullptr) {
    for (const char* field :
         {"Threads", "SigQ", "SigPnd", "SigBlk", "SigIgn", "SigCgt", "Seccomp", "NoNewPrivs", "Umask"}) {
      if (std::strncmp(line, field, std::strlen(field)) == 0 && std::strncmp(field, "SigQ", 4) != 0)
        lines.push_back(std::string(line, std::strcspn(line, "\n")));
    }
  }
  std::fclose(status);
  for (char** at = environ; *at != nullptr; ++at) lines.push_back(std::string("environment ") + *at);
  char name[16] = {};
  prctl(PR_GET_NAME, name, 0, 0, 0);
  lines.push_back(std::string("name ") + name);
  for (const int what : {RLIMIT_NOFILE, RLIMIT_STACK, RLIMIT_FSIZE, RLIMIT_CORE}) {
    rlimit limit{};
    getrlimit(static_cast<__rlimit_resource>(what), &limit);
    lines.push_back("limit " + std::to_string(what) + " " + std::to_string(limit.rlim_cur) + " " +
                    std::to_string(limit.rlim_max));
  }
  lines.push_back(std::string("locale ") + setlocale(LC_ALL, nullptr));
  std::sort(lines.begin(), lines.end());
  for (const std::string& text : lines) std::printf("%s\n", text.c_str());
}

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "descriptors") == 0) {
    for (const std::string& text : descriptors()) std::printf("started with %s\n", text.c_str());
    return 0;
  }
  errno = 77;
  show("at the beginning");
  if (argc > 1 && std::strcmp(argv[1], "cuda") == 0) {
    sim_program::make_context();
    const CUfunction function = sim_program::kernel("kernel");
    errno = 78;
    for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
    SIM_CHECK(cuCtxSynchronize());
  }
  show("at the end");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl(argv[0], argv[0], "descriptors", nullptr);
    _exit(9);
  }
  waitpid(child, nullptr, 0);
}
