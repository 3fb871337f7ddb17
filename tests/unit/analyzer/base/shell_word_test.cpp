// Does a shell read a printed name as the name that was meant?
#include "analyzer/base/shell_word.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

TEST(ShellWord, LeavesPlainNamesAlone) {
  for (const char* const word : {"logs/prof.1.plog", "a_b-c+d:e@f%g,h=i"}) EXPECT_EQ(shell_word(word), word);
}

TEST(ShellWord, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_word("my run.plog"), "'my run.plog'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$HOME;*"), "'$HOME;*'");
  EXPECT_EQ(shell_word("~x"), "'~x'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace prof::analyzer
