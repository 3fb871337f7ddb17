// The function's own name in the output of demanglers: operators, conversions, lambdas, local functions, arguments with
// every kind of brackets. Names that a compiler made are demangled here, so that the texts are those of this machine's
// demangler.
#include "analyzer/model/names.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace prof::analyzer {
namespace {

TEST(FunctionName, OfOperators) {
  const std::pair<const char*, const char*> names[] = {
      {"operator new(unsigned long)", "operator new"},
      {"operator new[](unsigned long, std::align_val_t)", "operator new[]"},
      {"operator delete(void*, unsigned long)", "operator delete"},
      {"X::operator()(int) const", "X::operator()"},
      {"void X::operator()<int>(int) const", "X::operator()"},
      {"foo::operator<<(std::ostream&, int)", "foo::operator<<"},
      {"std::ostream& foo::operator<< <int>(std::ostream&, S<int> const&)", "foo::operator<<"},
      {"bool operator< <A>(A const&, A const&)", "operator<"},
      {"bool ns::operator<(A const&, A const&)", "ns::operator<"},
      {"bool ns::operator> <A<1> >(A<1> const&)", "ns::operator>"},
      {"A::operator<=>(A const&) const", "A::operator<=>"},
      {"A::operator->() const", "A::operator->"},
      {"A::operator->*(int A::*)", "A::operator->*"},
      {"A::operator[](unsigned long)", "A::operator[]"},
      {"A::operator,(A const&)", "A::operator,"},
      {"A& A::operator>>=(int)", "A::operator>>="},
      {"operator\"\" _kb(unsigned long long)", "operator\"\" _kb"},
  };
  for (const auto& [text, name] : names) EXPECT_EQ(short_function_name(text), name) << text;
}

TEST(FunctionName, OfConversions) {
  EXPECT_EQ(short_function_name("X::operator bool() const"), "X::operator bool");
  EXPECT_EQ(short_function_name("X<int>::operator unsigned long() const"), "X::operator unsigned long");
  EXPECT_EQ(short_function_name("X::operator std::vector<int, std::allocator<int> >() const"),
            "X::operator std::vector");
  EXPECT_EQ(short_function_name("X::operator int*<int>()"), "X::operator int*");
}

TEST(FunctionName, OfLambdasAndLocalFunctions) {
  EXPECT_EQ(short_function_name("f(int)::{lambda(int)#1}::operator()(int) const"), "f::{lambda(int)#1}::operator()");
  EXPECT_EQ(short_function_name(
                "void ns::X::run<int>(std::vector<int>) const::{lambda(auto:1)#2}::operator()<float>(float) const"),
            "ns::X::run::{lambda(auto:1)#2}::operator()");
  EXPECT_EQ(short_function_name("f(int)::local::method(char)"), "f::local::method");
  EXPECT_EQ(short_function_name("X::g() &&::{lambda()#1}::operator()() const::{lambda()#1}::operator()() const"),
            "X::g::{lambda()#1}::operator()::{lambda()#1}::operator()");
  EXPECT_EQ(short_function_name("{lambda(int)#1}::operator()(int) const"), "{lambda(int)#1}::operator()");
}

TEST(FunctionName, WithBracketsInTemplateArguments) {
  EXPECT_EQ(short_function_name("void kernel<(int)4, (bool)1>(float*)"), "kernel");
  EXPECT_EQ(short_function_name("void f<((1)>(2)), int>(int)"), "f");
  EXPECT_EQ(short_function_name("void f<((1)<(2)), int>(int)"), "f");
  EXPECT_EQ(short_function_name("void f<&(bool ns::operator< <A>(A, A))>()"), "f");
  EXPECT_EQ(short_function_name("void f<&X::operator()>(int)"), "f");
  EXPECT_EQ(short_function_name("void f<decltype (x->y)>(int)"), "f");
  EXPECT_EQ(short_function_name("void at::gpu<main::{lambda(int)#1}>(int, main::{lambda(int)#1})"), "at::gpu");
  EXPECT_EQ(short_function_name("std::function<void (int, std::vector<int>)>::function()"), "std::function::function");
}

TEST(FunctionName, WithReturnTypesOfEveryForm) {
  EXPECT_EQ(short_function_name("unsigned long long const& ns::f<int>(int)"), "ns::f");
  EXPECT_EQ(short_function_name("decltype (h(g())) ns::f<int>(int)"), "ns::f");
  EXPECT_EQ(short_function_name("decltype(auto) ns::f<int>(int)"), "ns::f");
  EXPECT_EQ(short_function_name("void (*ns::f<int>(int))(char)"), "ns::f");
  EXPECT_EQ(short_function_name("void (anonymous namespace)::f<int>((anonymous namespace)::T)"),
            "(anonymous namespace)::f");
}

TEST(FunctionName, LeavesOtherTextsAlone) {
  EXPECT_EQ(short_function_name("my_operator<int>(int)"), "my_operator");
  EXPECT_EQ(short_function_name("ns::operators::f(int)"), "ns::operators::f");
  EXPECT_EQ(short_function_name("operator_table(int)"), "operator_table");
  EXPECT_EQ(short_function_name("std::to_string[abi:cxx11](int)"), "std::to_string[abi:cxx11]");
  EXPECT_EQ(short_function_name("f(int) [clone .constprop.0]"), "f");
  EXPECT_EQ(short_function_name("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(short_function_name("core::fmt::write::h0123456789abcdef"), "core::fmt::write::h0123456789abcdef");
}

TEST(FunctionName, SurvivesAnyText) {
  for (const char* const text : {"",
                                 "(",
                                 "<",
                                 ")",
                                 ">",
                                 "{",
                                 "f<",
                                 "f<(",
                                 "operator",
                                 "operator ",
                                 "operator<",
                                 "operator(",
                                 "(*",
                                 "(*)",
                                 "(*(*(*(",
                                 "f(",
                                 "f(int",
                                 "a b",
                                 "a b(",
                                 " (",
                                 "f<int>>(int)",
                                 "::",
                                 "(anonymous namespace)",
                                 "operator\"\"",
                                 "{lambda(",
                                 "decltype("}) {
    const std::string name = short_function_name(text);
    EXPECT_LE(name.size(), std::string_view(text).size()) << text;
    EXPECT_EQ(name.empty(), *text == '\0') << text;
  }
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "(*";
  EXPECT_EQ(short_function_name(deep), deep);
  EXPECT_EQ(short_function_name(deep + std::string(1000, ')')), deep + std::string(1000, ')'));
}

TEST(FunctionName, OfWhatTheCompilerMangles) {
  EXPECT_EQ(short_function_name(demangled_name("_Znwm")), "operator new");
  EXPECT_EQ(short_function_name(demangled_name("_ZdlPvm")), "operator delete");
  EXPECT_EQ(short_function_name(demangled_name("_ZNK1AcvbEv")), "A::operator bool");
  EXPECT_EQ(short_function_name(demangled_name("_ZlsIcERSoS0_T_")), "operator<<");
  EXPECT_EQ(short_function_name(demangled_name("_ZZ4mainENKUliE_clEi")), "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(short_function_name(demangled_name("_Z1fILi4EEvv")), "f");
}

TEST(Names, ShortFormDropsSignatureAndTemplateArguments) {
  EXPECT_EQ(short_function_name("void at::native::kernel<4, at::F<float> >(int, float*)"), "at::native::kernel");
  EXPECT_EQ(short_function_name("std::enable_if<!(false), void>::type gemv::kernel<int, 1>(P<int>)"), "gemv::kernel");
  EXPECT_EQ(short_function_name("void (anonymous namespace)::f<int>(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(short_function_name("X::operator()(int) const"), "X::operator()");
  EXPECT_EQ(short_function_name("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(demangled_name("_Zbroken"), "_Zbroken");
  EXPECT_EQ(plain_api_name("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(plain_api_name("cuMemcpy2D_v2"), "cuMemcpy2D");
}

}  // namespace
}  // namespace prof::analyzer
