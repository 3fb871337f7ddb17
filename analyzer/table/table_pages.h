// How is a table written as Markdown, as HTML and for a terminal? For TableDocument.
#pragma once

#include "analyzer/table/table.h"

#include <string>
#include <string_view>

namespace prof::analyzer {

// Headings of level 2: a file of several tables has no other heading.
void write_markdown(const Table& table, TimeUnit unit, Sink& sink);

// The Content-Security-Policy of every page: it admits the two scripts of prof by their hashes. It forbids the network,
// every other script, and event handlers in markup.
std::string page_policy();

// What precedes the sections of a page, one section, what follows the last one. Style and theme: those of `prof page`.
void write_page_head(std::string_view title, Sink& sink);
void write_page_section(const Table& table, TimeUnit unit, Sink& sink);
// A section with what is between write_page_head() and write_page_end() of another page.
void write_page_in_page(std::string_view title, std::string_view name, std::string_view page, Sink& sink);
void write_page_end(Sink& sink);

// The text form of write_table(). Lines fit `width` characters, in which texts are cut; 0: lines are whole.
void write_text_table(const Table& table, TimeUnit unit, size_t width, Sink& sink);

// The title of a column, with the unit of times if it is fixed: "Time (ms)".
std::string shown_title(const TableColumn& column, TimeUnit unit);

}  // namespace prof::analyzer
