#include "analyzer/analysis/idle/wait_names.h"
#include "analyzer/base/text_parts.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <vector>

namespace prof::analyzer {

namespace {

bool is_in(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}
// "Queue.get_nowait" -> queue, get, nowait; "waitForBatch" -> wait, for, batch. Without what is in parentheses.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '(' || c == ',' || c == '[' || c == '{') break;
    if (std::isalnum(c) == 0) {
      inside = false;
      continue;
    }
    const bool hump = std::isupper(c) != 0 && i != 0 && std::islower(static_cast<unsigned char>(text[i - 1])) != 0;
    if (!inside || hump) words.emplace_back();
    inside = true;
    words.back() += static_cast<char>(std::tolower(c));
  }
  return words;
}

// A function of Python's library in that file.
bool is_python_wait(std::string_view file, std::string_view function) {
  if (const size_t slash = file.find_last_of("/\\"); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  if (file == "threading.py")
    return is_in(function, {"wait", "wait_for", "acquire", "join", "_wait_for_tstate_lock", "_acquire_restore"});
  if (is_in(file, {"queue.py", "queues.py"})) return is_in(function, {"get", "put", "join"});
  if (file == "_base.py" || file == "futures.py") return is_in(function, {"result", "exception", "wait"});
  if (is_in(file, {"connection.py", "synchronize.py"})) {
    return is_in(function, {"wait", "poll", "_poll", "recv", "_recv", "recv_bytes", "_recv_bytes", "accept", "acquire",
                            "wait_for", "__enter__"});
  }
  if (is_in(file, {"process.py", "pool.py", "popen_fork.py", "popen_spawn_posix.py", "subprocess.py"}))
    return is_in(function, {"join", "wait", "poll", "get", "_wait", "_try_wait", "communicate"});
  if (file == "selectors.py") return function == "select";
  return file == "socket.py" && is_in(function, {"accept", "readinto"});
}

// A method of Python that is written in C: "<built-in method acquire of _thread.lock object at 0x7f>",
// "<method 'acquire' of '_thread.lock' objects>".
bool is_builtin_wait(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != '\'' && c != '<' && c != '>') plain += c;
  }
  const std::string_view rest(plain);
  const size_t name = rest.find("method ") != std::string_view::npos     ? rest.find("method ") + 7
                      : rest.find("function ") != std::string_view::npos ? rest.find("function ") + 9
                                                                         : std::string_view::npos;
  if (name == std::string_view::npos) return false;
  const std::string_view function = rest.substr(name, rest.find(' ', name) - name);
  const size_t of = rest.find(" of ", name);
  const std::string_view type = of == std::string_view::npos ? std::string_view() : rest.substr(of + 4);
  if (is_in(function, {"acquire", "acquire_lock", "__enter__"}))
    return has(type, "ock") || has(type, "SemLock") || has(type, "emaphore");
  if (is_in(function, {"poll", "select", "control"})) return !has(type, "torch");
  if (is_in(function, {"get", "put"})) return has(type, "Queue");
  if (is_in(function, {"recv", "recv_into", "recvfrom", "accept", "_accept"})) return has(type, "socket");
  if (function == "join") return has(type, "hread");
  return is_in(function, {"wait", "waitpid", "wait4", "waitid", "sigwait"});
}

bool is_python(std::string_view text) {
  if (text.starts_with('<')) return is_builtin_wait(text);
  if (text.starts_with('$')) {  // "$threading.py:320 wait"
    text.remove_prefix(1);
    if (text.starts_with('<')) return is_builtin_wait(text);
    const size_t colon = text.find(".py:"), space = text.rfind(' ');
    if (colon == std::string_view::npos || space == std::string_view::npos || space < colon) return false;
    return is_python_wait(text.substr(0, colon + 3), text.substr(space + 1));
  }
  const size_t line = text.find(".py("), function = text.find("): ");
  if (line == std::string_view::npos || function == std::string_view::npos || function < line) return false;
  return is_python_wait(text.substr(0, line + 3), text.substr(function + 3));
}

// Most texts are no waits and end otherwise. This check allocates nothing.
bool may_be_plain_wait(std::string_view text) {
  text = text.substr(0, text.find_first_of("(,[{"));
  while (!text.empty() && std::isalnum(static_cast<unsigned char>(text.back())) == 0) text.remove_suffix(1);
  const auto lower = [&](size_t at) { return static_cast<char>(std::tolower(static_cast<unsigned char>(text[at]))); };
  if (text.size() < 3) return false;
  const char first[] = {lower(0), lower(1), lower(2)};
  const char last[] = {lower(text.size() - 3), lower(text.size() - 2), lower(text.size() - 1)};
  return is_in({first, 3}, {"wai", "fut", "acq"}) || std::isalnum(static_cast<unsigned char>(text[0])) == 0 ||
         is_in({last, 3}, {"ait", "ing", "tex", "oll", "it2", "pid", "ock", "oin", "ire", "get", "pop",
                           "ake", "ecv", "ive", "put", "ult", "rom", "msg", "ept", "it4", "tid", "ect"});
}

bool is_plain_wait(std::string_view text) {
  if (!may_be_plain_wait(text)) return false;
  const std::vector<std::string> words = words_of(text);
  if (words.empty() || words.size() > 8) return false;
  const std::string &last = words.back(), &first = words.front();
  const bool alone = words.size() == 1;
  const std::string_view before = alone ? std::string_view() : std::string_view(words[words.size() - 2]);
  if (is_in(last, {"wait", "waiting", "timedwait", "clockwait", "pwait", "pwait2", "waitpid", "futex", "epoll"}))
    return true;
  if (first == "waiting" || first == "futex") return true;
  if (first == "wait") return is_in(words[1], {"for", "on", "until"});
  if (is_in(last, {"poll", "ppoll", "pselect"})) return true;
  if (last == "acquire") return true;
  if (is_in(last, {"lock", "rdlock", "wrlock", "timedlock", "clocklock"})) {
    return alone || first == "acquire" || first == "acquiring" ||
           is_in(before, {"mutex", "rwlock", "rw", "pthread", "spin", "acquire", "take", "gil"});
  }
  if (last == "join") return alone || is_in(before, {"thread", "threads", "pthread", "process", "worker", "workers"});
  if (is_in(last, {"get", "pop", "take", "recv", "receive"}))
    return is_in(before, {"queue", "channel", "pipe", "future", "mailbox"});
  if (last == "put") return before == "queue";
  if (last == "result") return before == "future";
  return alone && is_in(last, {"recv", "recvfrom", "recvmsg", "accept", "sigwait", "wait4", "waitid"});
}

}  // namespace

bool names_wait(RangeKind kind, std::string_view text) {
  if (kind == RangeKind::Overhead || text.starts_with("aten::")) return false;
  if (kind == RangeKind::Python || text.starts_with('<') || text.starts_with('$') || has(text, ".py("))
    return is_python(text);
  return is_plain_wait(text);
}

}  // namespace prof::analyzer
