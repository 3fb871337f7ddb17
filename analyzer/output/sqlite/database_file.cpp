#include "analyzer/output/sqlite/database_file.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace prof::analyzer {

namespace {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = static_cast<unsigned char>(text.front()) < 0x80 ? 1 : utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// A name for a file of this process that nobody else has. Empty if the folder refuses files.
std::string name_in_temporary_folder() {
  const char* const folder = std::getenv("TMPDIR");
  std::string name = fmt::format("{}/prof.XXXXXX", folder == nullptr || *folder == '\0' ? "/tmp" : folder);
  const int fd = mkstemp(name.data());
  if (fd < 0) throw OutputError(fmt::format("{}: cannot be opened for writing: {}", name, std::strerror(errno)));
  ::close(fd);
  return name;
}

void copy_to_sink(const std::string& from, const std::string& to) {
  const int fd = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw OutputError(fmt::format("{}: cannot be opened: {}", from, std::strerror(errno)));
  Sink sink(to);
  std::vector<char> bytes(size_t{1} << 20);
  ssize_t size = 0;
  try {
    while ((size = read(fd, bytes.data(), bytes.size())) > 0)
      sink.write(std::string_view(bytes.data(), static_cast<size_t>(size)));
    if (size == 0) sink.close();
  } catch (...) {
    ::close(fd);
    throw;
  }
  ::close(fd);
  if (size < 0) throw OutputError(fmt::format("{}: cannot be read: {}", from, std::strerror(errno)));
}

}  // namespace

DatabaseFile::DatabaseFile(const std::string& path) : path_(path) {
  struct stat existing = {};
  const bool special = path == "-" || (stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode));
  if (path != "-" && special && S_ISDIR(existing.st_mode)) throw OutputError(fmt::format("{}: is a directory", path));
  copied_ = special;
  temporary_ =
      UnfinishedFile(special ? name_in_temporary_folder() : fmt::format("{}.{}.tmp", path, static_cast<int>(getpid())));
  // SQLite follows a link and keeps what a file has, so the file is made here.
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
  const int fd = open(temporary_.path().c_str(), flags, 0666);
  if (fd < 0) {
    const std::string text = fmt::format("{}: cannot be opened for writing: {}", path, std::strerror(errno));
    temporary_.keep();
    throw OutputError(text);
  }
  ::close(fd);
  sqlite3* database = nullptr;
  const int opened = sqlite3_open_v2(temporary_.path().c_str(), &database, SQLITE_OPEN_READWRITE, nullptr);
  database_.reset(database);
  if (opened != SQLITE_OK) fail();
  run("PRAGMA page_size = 16384");
  run("PRAGMA journal_mode = OFF");
  run("PRAGMA synchronous = OFF");
  run("PRAGMA locking_mode = EXCLUSIVE");
  run("PRAGMA cache_size = -16384");
  run("BEGIN");
}

DatabaseFile::~DatabaseFile() = default;

void DatabaseFile::run(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void DatabaseFile::fail() const {
  const int system = database_ == nullptr ? 0 : sqlite3_system_errno(database_.get());
  const int status = database_ == nullptr ? SQLITE_NOMEM : sqlite3_errcode(database_.get());
  // SQLite reports a full disk as such, without the system's number.
  const std::string why = status == SQLITE_FULL  ? std::strerror(ENOSPC)
                          : system != 0          ? std::strerror(system)
                          : database_ == nullptr ? "out of memory"
                                                 : sqlite3_errmsg(database_.get());
  throw OutputError(fmt::format("{}: cannot be written: {}", path_ == "-" ? "stdout" : path_, why));
}

void DatabaseFile::close() {
  run("COMMIT");
  sqlite3* const database = database_.release();
  if (sqlite3_close(database) != SQLITE_OK) {
    database_.reset(database);
    fail();
  }
  if (!copied_) {
    put_in_place(temporary_, path_);
    return;
  }
  copy_to_sink(temporary_.path(), path_);
  temporary_.remove();
}

TableRows::TableRows(DatabaseFile& file, std::string_view name, std::span<const SqlColumn> columns)
    : file_(file), name_(name), columns_(columns) {}

void TableRows::create() {
  std::string table = fmt::format("CREATE TABLE {} (", name_), row = fmt::format("INSERT INTO {} VALUES (", name_);
  for (size_t i = 0; i < columns_.size(); ++i) {
    table += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", columns_[i].name, columns_[i].type);
    row += i == 0 ? "?" : ", ?";
  }
  file_.run(table + ")");
  row += ')';
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v3(file_.database_.get(), row.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
  statement_.reset(statement);
}

void TableRows::set(int column, std::string_view text) {
  if (is_utf8(text)) {
    check(sqlite3_bind_text64(statement_.get(), column, text.data() == nullptr ? "" : text.data(), text.size(),
                              SQLITE_STATIC, SQLITE_UTF8));
    return;
  }
  const std::string readable = readable_utf8(text);
  check(sqlite3_bind_text64(statement_.get(), column, readable.data(), readable.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void TableRows::set(int column, SqlBytes blob) {
  check(sqlite3_bind_blob64(statement_.get(), column, blob.bytes.data(), blob.bytes.size(), SQLITE_STATIC));
}

void TableRows::add() {
  if (sqlite3_step(statement_.get()) != SQLITE_DONE || sqlite3_reset(statement_.get()) != SQLITE_OK) file_.fail();
  ++file_.rows_;
}

}  // namespace prof::analyzer
