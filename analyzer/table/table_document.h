// How are tables written in each form of table_formats.def, and how do several share one file? JSON: one object with a
// list of the tables. HTML: one page. Markdown: sections. Text, and CSV on stdout: tables with a blank line between.
#pragma once

#include "analyzer/table/table.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::analyzer {

enum class TableForm : uint8_t {
#define PROF_TABLE_FORMAT(id, name, extension, holds) id,
#include "analyzer/table/table_formats.def"
#undef PROF_TABLE_FORMAT
};

class TableDocument {
 public:
  // `tables`: how many follow. `width`: columns of a terminal that lines of the text form should fit; 0: whole lines.
  TableDocument(Sink& sink, TableForm form, TimeUnit unit, size_t tables, size_t width = 0);

  void add(const Table& table);
  // A page that another writer made, as a section of a page of HTML. With one table it is the page itself.
  void add_page(std::string_view title, std::string_view name, std::string_view page);
  void close();  // does not close the sink

 private:
  void begin_part();

  Sink& sink_;
  TableForm form_;
  TimeUnit unit_;
  size_t tables_, added_ = 0, width_;
};

// A file of one table.
void write_document(const Table& table, TableForm form, TimeUnit unit, Sink& sink, size_t width = 0);

}  // namespace prof::analyzer
