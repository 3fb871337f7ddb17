// The simulator reads its script once per process, so each test runs in its own child process.
#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

// Returns the child's exit status: 0 if every EXPECT in `body` passed. `script` is the value of SIM.
inline int in_child(const char* script, const std::function<void()>& body) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("SIM", script, 1);
    unsetenv("SIM_SCRIPT");
    alarm(60);
    body();
    fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define SIM_TEST(suite, name, script)                                      \
  static void suite##name##Body();                                         \
  TEST(suite, name) { EXPECT_EQ(in_child(script, suite##name##Body), 0); } \
  static void suite##name##Body()
