// Is our entry of LD_PRELOAD found, and do the others stay as they are?
#include "preload/base/preload_list.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::preload {
namespace {

std::string without(std::string_view list, std::string_view path) {
  std::string copy(list.size(), '?');
  copy.resize(copy_without(list, path, copy.data()));
  return copy;
}

TEST(PreloadList, OurEntryIsLeftOutAndOthersKeepTheirOrder) {
  EXPECT_EQ(without("/a/libprof.so", "/a/libprof.so"), "");
  EXPECT_EQ(without("/b/x.so:/a/libprof.so:y.so", "/a/libprof.so"), "/b/x.so:y.so");
  EXPECT_EQ(without("/a/libprof.so /b/x.so", "/a/libprof.so"), "/b/x.so");
  EXPECT_EQ(without(":/a/libprof.so: :/b/x.so:/a/libprof.so:", "/a/libprof.so"), "/b/x.so");
  EXPECT_EQ(without("", "/a/libprof.so"), "");
}

TEST(PreloadList, AnotherLibraryOfThatNameStays) {
  EXPECT_EQ(without("/b/libprof.so:/a/libprof.so.1:/a/libprof.s", "/a/libprof.so"),
            "/b/libprof.so:/a/libprof.so.1:/a/libprof.s");
}

TEST(PreloadList, TheLoadersNamesOfAFolderMeanUs) {
  EXPECT_TRUE(names_library("/opt/$LIB/libprof.so", "/opt/lib/x86_64-linux-gnu/libprof.so"));
  EXPECT_TRUE(names_library("${ORIGIN}/libprof.so", "/opt/libprof.so"));
  EXPECT_FALSE(names_library("/opt/$LIB/other.so", "/opt/lib/libprof.so"));
  EXPECT_FALSE(names_library("/opt/lib64/libprof.so", "/opt/lib/libprof.so"));
}

TEST(PreloadList, EntriesAreSeparatedByColonsAndSpaces) {
  std::string_view rest = " a::b ";
  EXPECT_EQ(next_preload(rest), "a");
  EXPECT_EQ(next_preload(rest), "b");
  EXPECT_EQ(next_preload(rest), "");
  EXPECT_EQ(next_preload(rest), "");
}

}  // namespace
}  // namespace prof::preload
