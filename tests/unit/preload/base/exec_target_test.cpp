// Which programs cannot load libprof.so? The files are made here, whole, cut and changed.
#include "preload/base/exec_target.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace prof::preload {
namespace {

namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64, kOtherMachine = EM_X86_64;
#else
constexpr uint16_t kMachine = EM_X86_64, kOtherMachine = EM_AARCH64;
#endif

class ExecTargets : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "exec_target.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes, mode_t mode = 0755) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    chmod(path.c_str(), mode);
    return path;
  }

  // A program of 64 bits that needs `needed`, and has a loader if `loader`.
  static std::string program(const std::vector<std::string>& needed, bool loader = true, uint16_t machine = kMachine) {
    constexpr uint64_t kAddress = 0x400000;
    std::string strings(1, '\0');
    std::vector<Elf64_Dyn> dynamic;
    for (const std::string& name : needed) {
      dynamic.push_back({DT_NEEDED, {strings.size()}});
      strings += name + '\0';
    }
    const uint64_t dynamic_at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
    const uint64_t strings_at = dynamic_at + (dynamic.size() + 2) * sizeof(Elf64_Dyn);
    dynamic.push_back({DT_STRTAB, {kAddress + strings_at}});
    dynamic.push_back({DT_NULL, {0}});
    strings += std::string(64, '\0');
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_machine = machine;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 3;
    Elf64_Phdr load{}, table{}, interpreter{};
    load.p_type = PT_LOAD;
    load.p_vaddr = kAddress;
    load.p_filesz = strings_at + strings.size();
    table.p_type = PT_DYNAMIC;
    table.p_offset = dynamic_at;
    table.p_filesz = dynamic.size() * sizeof(Elf64_Dyn);
    interpreter.p_type = loader ? PT_INTERP : PT_NULL;
    const auto bytes = [](const auto& value) {
      return std::string(reinterpret_cast<const char*>(&value), sizeof value);
    };
    std::string out = bytes(header) + bytes(load) + bytes(table) + bytes(interpreter);
    for (const Elf64_Dyn& entry : dynamic) out += bytes(entry);
    return out + strings;
  }

  static std::string program32(bool loader) {
    Elf32_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf32_Phdr);
    header.e_phnum = 1;
    Elf32_Phdr segment{};
    segment.p_type = loader ? PT_INTERP : PT_LOAD;
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
           std::string(reinterpret_cast<const char*>(&segment), sizeof segment);
  }

  static ExecTarget look(const std::string& path) { return look_at_file(AT_FDCWD, path.c_str()); }

  fs::path folder_;
};

TEST_F(ExecTargets, ProgramsOfThisMachineAreAny) {
  EXPECT_EQ(look("/proc/self/exe"), ExecTarget::Any);
  EXPECT_EQ(look(write("p", program({"libc.so.6"}))), ExecTarget::Any);
  EXPECT_EQ(look(write("none", program({}))), ExecTarget::Any);
}

TEST_F(ExecTargets, AnotherMachineIsOneOnlyIfItHasALoader) {
  EXPECT_EQ(look(write("32", program32(true))), ExecTarget::OtherMachine);
  EXPECT_EQ(look(write("32s", program32(false))), ExecTarget::Any);
  EXPECT_EQ(look(write("other", program({"libc.so.6"}, true, kOtherMachine))), ExecTarget::OtherMachine);
  EXPECT_EQ(look(write("others", program({"libc.so.6"}, false, kOtherMachine))), ExecTarget::Any);
}

TEST_F(ExecTargets, ASanitizerCountsOnlyAsFirstLibraryOfADynamicProgram) {
  EXPECT_EQ(look(write("a", program({"libasan.so.8", "libc.so.6"}))), ExecTarget::SanitizerFirst);
  EXPECT_EQ(look(write("b", program({"libclang_rt.asan-x86_64.so"}))), ExecTarget::SanitizerFirst);
  EXPECT_EQ(look(write("c", program({"libc.so.6", "libasan.so.8"}))), ExecTarget::Any);
  EXPECT_EQ(look(write("d", program({"libasan.so.8"}, false))), ExecTarget::Any);
  EXPECT_EQ(look(write("e", program({"libasanother.so"}))), ExecTarget::Any);
}

TEST_F(ExecTargets, ScriptsOfScriptsAreFollowedAsTheKernelDoes) {
  const std::string sanitized = write("sanitized", program({"libasan.so.8"}));
  const std::string script = write("script", "#! " + sanitized + " -x\n");
  EXPECT_EQ(look(script), ExecTarget::SanitizerFirst);
  std::string last = script;
  for (const char* name : {"second", "third", "fourth"}) {
    last = write(name, "#!" + last + "\n");
    EXPECT_EQ(look(last), ExecTarget::SanitizerFirst) << name;
  }
  EXPECT_EQ(look(write("fifth", "#!" + last + "\n")), ExecTarget::Any);
  write("loop", "#!" + (folder_ / "loop").string() + "\n");
  EXPECT_EQ(look(folder_ / "loop"), ExecTarget::Any);
  EXPECT_EQ(look(write("absent", "#!/no/such/file\n")), ExecTarget::Any);
  EXPECT_EQ(look(write("endless", "#!" + std::string(1000, 'x'))), ExecTarget::Any);
  EXPECT_EQ(look(write("empty", "#!\n\n")), ExecTarget::Any);
}

TEST_F(ExecTargets, WhateverIsInDoubtIsAny) {
  EXPECT_EQ(look(folder_ / "absent"), ExecTarget::Any);
  EXPECT_EQ(look(folder_), ExecTarget::Any);
  EXPECT_EQ(look(write("short",
                       "\x7f"
                       "ELF")),
            ExecTarget::Any);
  EXPECT_EQ(look(write("nothing", "")), ExecTarget::Any);
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0755), 0);
  EXPECT_EQ(look(folder_ / "pipe"), ExecTarget::Any);
  EXPECT_EQ(look_at_file(AT_FDCWD, ""), ExecTarget::Any);
  EXPECT_EQ(look_at_descriptor(-1), ExecTarget::Any);
  EXPECT_EQ(look_at_command("", nullptr, false), ExecTarget::Any);
}

TEST_F(ExecTargets, NoBytesOfAProgramHarm) {
  const std::string whole = program({"libasan.so.8"});
  for (size_t size = 0; size < whole.size(); size += 7) look(write("cut", whole.substr(0, size)));
  for (size_t at = 0; at < whole.size() - 64; ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string bytes = whole;
      bytes[at] = value;
      look(write("changed", bytes));
    }
  }
}

TEST_F(ExecTargets, TheCommandIsTheFirstProgramInPath) {
  fs::create_directory(folder_ / "first");
  fs::create_directory(folder_ / "second");
  const std::string search = "/no/such/folder:" + (folder_ / "first").string() + ":" + (folder_ / "second").string();
  write("second/tool", program({"libasan.so.8"}));
  EXPECT_EQ(look_at_command("tool", search.c_str(), true), ExecTarget::SanitizerFirst);
  write("first/tool", "no program", 0644);  // may not be executed: the search goes on
  EXPECT_EQ(look_at_command("tool", search.c_str(), true), ExecTarget::SanitizerFirst);
  write("first/tool", program({"libc.so.6"}));
  EXPECT_EQ(look_at_command("tool", search.c_str(), true), ExecTarget::Any);
  EXPECT_EQ(look_at_command((folder_ / "second/tool").c_str(), "", true), ExecTarget::SanitizerFirst);
  EXPECT_EQ(look_at_command("tool", (":" + (folder_ / "second").string()).c_str(), true), ExecTarget::Any);
  EXPECT_EQ(look_at_command("tool", (":" + (folder_ / "second").string()).c_str(), false), ExecTarget::SanitizerFirst);
  EXPECT_EQ(look_at_command("tool", "", false), ExecTarget::Any);
}

TEST_F(ExecTargets, ErrnoAndTheOffsetOfTheFileStay) {
  const std::string path = write("p", program({"libasan.so.8"}));
  const int fd = open(path.c_str(), O_RDONLY);
  ASSERT_EQ(lseek(fd, 5, SEEK_SET), 5);
  errno = 4711;
  EXPECT_EQ(look_at_descriptor(fd), ExecTarget::SanitizerFirst);
  EXPECT_EQ(look(folder_ / "absent"), ExecTarget::Any);
  EXPECT_EQ(errno, 4711);
  EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 5);
  close(fd);
}

}  // namespace
}  // namespace prof::preload
