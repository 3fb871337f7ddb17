// What identifies a frame in two runs, or in two ranks of one run? Addresses, temporary folders and names that a
// compiler generated differ between processes that run the same code, so they are written as `*`. Used by call trees.
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

// The name of a function, or the path of its file, without these parts:
//   "get of dict object at 0x7f1cfb44b440"   -> "get of dict object at 0x*"    (an address: six or more digits)
//   "<eval_with_key>.12"                     -> "<eval_with_key>.*"            (torch.fx)
//   "/tmp/tmpab12cd_x/model.py"              -> "/tmp/tmp*/model.py"           (Python's tempfile)
//   "/tmp/ipykernel_812/2733016.py"          -> "/tmp/ipykernel_*/*.py"        (a notebook's cell)
//   "/tmp/torchinductor_me/bo/cbo…7.py"      -> "/tmp/torchinductor_me/*/*.py" (a hash as the name of a file)
// Other texts are unchanged, and so is an address that is the whole name. O(length).
std::string frame_text(std::string_view text);

}  // namespace prof::analyzer
