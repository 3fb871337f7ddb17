// Which files does an argument mean? A user may give files, folders, lists of files and patterns.
#pragma once

#include <string>
#include <vector>

namespace prof::analyzer {

// The logs and traces in a folder and the folders in it, ordered by name. A file belongs to them if its name ends in
// .plog or if its contents have a format that prof reads; the number of the others is reported on stderr. Links to
// folders are not followed. Throws InputError if there is none, or if the folder cannot be read.
std::vector<std::string> files_in_folder(const std::string& folder);

// The files of all arguments, in the order of the arguments:
//   FOLDER    see files_in_folder()
//   @FILE     the arguments in a text file, one a line; empty lines are left out; relative to the current folder
//   PATTERN   a name with * ? or [ that is no file: the files it matches, ordered by name
//   else      the argument itself, whether or not there is such a file
// Throws InputError for a folder, a list or a pattern without files.
std::vector<std::string> input_files(const std::vector<std::string>& arguments);

}  // namespace prof::analyzer
