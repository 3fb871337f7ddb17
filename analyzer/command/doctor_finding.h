// One result of prof doctor: the state of something, what it means for a recording, and what to do about it.
#pragma once

#include <string>
#include <vector>

namespace prof::analyzer {

enum class FindingVerdict {
  Ok,
  Less,  // it will be recorded, but less of it or with weaker guarantees
  No,    // nothing will be recorded
};

struct Finding {
  FindingVerdict verdict = FindingVerdict::Ok;
  std::string topic;
  std::string text;
  std::string remedy;  // empty if nothing needs to be done
};

// Checks that run no program (doctor_checks.cpp). `command` is empty or the program that is to be recorded.
std::vector<Finding> examine_machine(const std::string& library, const std::string& output);
std::vector<Finding> examine_variables();
std::vector<Finding> examine_program(const std::string& command);

// Runs a small CUDA program (prof itself) under the recorder and examines its log (doctor_self_test.cpp).
std::vector<Finding> run_self_test(const std::string& library);
// The small program: some copies on the first GPU. The return value is the exit status of prof.
int self_test_program();

}  // namespace prof::analyzer
