// Which names of ranges, ops and Python functions say that a thread waits?
#include "analyzer/analysis/idle/wait_names.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(WaitNames, FunctionsOfPythonThatWait) {
  for (const char* const text : {
           "threading.py(320): wait",
           "/usr/lib/python3.11/threading.py(1064): join",
           "/usr/lib/python3.11/threading.py(1116): _wait_for_tstate_lock",
           "queue.py(171): get",
           "multiprocessing/queues.py(103): get",
           "multiprocessing/connection.py(257): poll",
           "concurrent/futures/_base.py(428): result",
           "selectors.py(466): select",
           "subprocess.py(1209): wait",
           "$threading.py:320 wait",
           "$<built-in method acquire of _thread.lock object at 0x7f00>",
           "<built-in method acquire of _thread.lock object at 0x7f00>",
           "<built-in method acquire of _thread.RLock object at 0x7f00>",
           "<method 'acquire' of '_thread.lock' objects>",
           "<built-in method poll of select.epoll object at 0x7f00>",
           "<built-in function select>",
           "<method 'recv_into' of '_socket.socket' objects>",
           "<built-in method get of _queue.SimpleQueue object at 0x7f00>",
           "<built-in method wait of torch._C.Future object at 0x7f00>",
       })
    EXPECT_TRUE(names_wait(RangeKind::Python, text)) << text;
  for (const char* const text : {
           "<built-in method join of str object at 0x7f00>",
           "<method 'get' of 'dict' objects>",
           "<method 'acquire' of 'Pool' objects>",
           "posixpath.py(71): join",
           "pandas/core/frame.py(9800): join",
           "threading.py(953): run",
           "queue.py(34): __init__",
           "train.py(10): wait_less",
           "train.py(10): get",
           "requests/api.py(62): get",
           "torch/nn/modules/module.py(1501): _call_impl",
       })
    EXPECT_FALSE(names_wait(RangeKind::Python, text)) << text;
}

TEST(WaitNames, RangesAndFunctionsOfTheSystemThatWait) {
  for (const char* const text : {
           "pthread_mutex_lock",
           "pthread_cond_wait",
           "pthread_cond_timedwait",
           "pthread_join",
           "pthread_rwlock_rdlock",
           "sem_wait",
           "sem_timedwait",
           "poll",
           "ppoll",
           "epoll_wait",
           "epoll_pwait2",
           "futex",
           "futex_wait",
           "wait",
           "waitpid",
           "accept",
           "recvmsg",
           "queue.get",
           "Queue::pop",
           "std::condition_variable::wait",
           "std::condition_variable::wait(std::unique_lock<std::mutex>&)",
           "lock acquire",
           "acquire lock",
           "mutex lock",
           "thread.join",
           "join",
           "wait for batch",
           "WaitForBatch",
           "Waiting: data",
           "future.result",
           "condWait",
       })
    EXPECT_TRUE(names_wait(RangeKind::Nvtx, text)) << text;
  for (const char* const text : {
           "",
           "cudf::inner_join",
           "hash join tables",
           "epoll_ctl",
           "wait_stream",
           "WaitEvent handler",
           "dict.get",
           "forward",
           "interlock",
           "block",
           "select",
           "unlock",
           "pthread_mutex_unlock",
           "latency",
           "await_less",
           "clock",
           "a text of many words that says nothing of what the thread does while it must wait",
       })
    EXPECT_FALSE(names_wait(RangeKind::Nvtx, text)) << text;
  EXPECT_FALSE(names_wait(RangeKind::Operator, "aten::wait")) << "an operator of tensors";
  EXPECT_FALSE(names_wait(RangeKind::Overhead, "wait"));
}

}  // namespace
}  // namespace prof::analyzer
