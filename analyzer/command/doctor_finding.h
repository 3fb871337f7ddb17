// One thing that prof doctor looked at: how it is, what that means for a recording, and what to do about it.
#pragma once

#include <string>
#include <vector>

namespace prof::analyzer {

enum class FindingVerdict {
  Ok,
  Less,  // it will be recorded, but less of it or with a smaller promise
  No,    // nothing will be recorded
};

struct Finding {
  FindingVerdict verdict = FindingVerdict::Ok;
  std::string topic;
  std::string text;
  std::string remedy;  // empty where nothing is to be done
};

// What can be read without running anything (doctor_checks.cpp). `command` is empty or the program that is to be recorded.
std::vector<Finding> examine_machine(const std::string& library, const std::string& output);
std::vector<Finding> examine_variables();
std::vector<Finding> examine_program(const std::string& command);

// Runs a small CUDA program, prof itself, under the recorder and looks at its log (doctor_self_test.cpp).
std::vector<Finding> run_self_test(const std::string& library);
// That program: some copies on the first GPU. Its exit status is prof's.
int self_test_program();

}  // namespace prof::analyzer
