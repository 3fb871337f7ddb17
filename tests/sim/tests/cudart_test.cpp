// Runtime programs on the simulated driver. The simulated runtimes run to the end. The real static runtime gets an
// answer to each of its cuGetProcAddress requests (export_table.cpp describes what stops it afterwards).
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace {

std::string run(const std::string& command, int* status) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  char piece[4096];
  for (size_t got; (got = fread(piece, 1, sizeof piece, pipe)) != 0;) output.append(piece, got);
  *status = pclose(pipe);
  return output;
}

std::string on_sim(const char* program, const std::string& script) {
  return "LD_LIBRARY_PATH=" PROF_SIM_DIR " SIM='" + script + "' " + program + " 2>&1";
}

void expect_complete(const char* program) {
  int status = -1;
  const std::string output = run(on_sim(program, ""), &status);
  EXPECT_EQ(status, 0) << output;
  EXPECT_NE(output.find("data 3 4 devices 2\n"), std::string::npos) << output;
}

TEST(Cudart, SharedStandInRunsAProgram) { expect_complete(PROF_CUDART_SHARED); }
TEST(Cudart, StaticStandInRunsAProgram) { expect_complete(PROF_CUDART_STATIC); }

#ifdef PROF_CUDART_REAL
TEST(Cudart, TheRealStaticRuntimeFindsEveryFunctionItAsksFor) {
  const std::string log = ::testing::TempDir() + "sim_requests." + std::to_string(getpid());
  int status = -1;
  run(on_sim(PROF_CUDART_REAL, "log_requests " + log), &status);
  std::ifstream file(log);
  int requests = 0, per_thread = 0;
  std::set<std::string> refused;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string symbol;
    int version = 0, result = 0;
    unsigned long long flags = 0;
    words >> symbol;
    if (symbol == "export_table") continue;
    words >> version >> flags >> result;
    ++requests;
    if ((flags & 2) != 0) ++per_thread;
    if (result != 0) refused.insert(symbol);
  }
  remove(log.c_str());
  EXPECT_GE(requests, 440);
  EXPECT_GE(per_thread, 74);
  EXPECT_EQ(refused, std::set<std::string>{"-"}) << "only the empty string is unknown";
}
#endif

}  // namespace
