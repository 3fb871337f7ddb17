// A C++ program with an embedded interpreter: embed SCRIPT. Python runs below a C++ function and C++ below Python, on
// the main thread and on a C++ thread; the interpreter ends and starts again. python_embedded.py builds it with each
// libpython of the machine.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace {

using Launch = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                       void**);
Launch g_launch = nullptr;
void *g_function = nullptr, *g_context = nullptr;
int (*g_make_current)(void*) = nullptr;

template <class... Args> void driver(void* library, const char* name, Args... args) {
  const auto function = reinterpret_cast<int (*)(Args...)>(dlsym(library, name));
  if (function == nullptr || function(args...) != 0) {
    std::fprintf(stderr, "%s failed\n", name);
    std::exit(99);
  }
}

void open_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* module = nullptr;
  driver(library, "cuInit", 0u);
  driver(library, "cuDevicePrimaryCtxRetain", &g_context, 0);
  driver(library, "cuCtxSetCurrent", g_context);
  driver(library, "cuModuleLoadData", &module, static_cast<const void*>("image"));
  driver(library, "cuModuleGetFunction", &g_function, module, "kernel");
  g_launch = reinterpret_cast<Launch>(dlsym(library, "cuLaunchKernel"));
  g_make_current = reinterpret_cast<int (*)(void*)>(dlsym(library, "cuCtxSetCurrent"));
}

#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

__attribute__((noinline)) void launch_in_cpp(unsigned number) {
  g_launch(g_function, number, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  NO_TAIL_CALL;
}

extern "C" {
// host.launch(N), host.call(function): C++ between two functions of Python
PyObject* host_launch(PyObject*, PyObject* number) {
  launch_in_cpp(static_cast<unsigned>(PyLong_AsUnsignedLong(number)));
  Py_RETURN_NONE;
}
__attribute__((noinline)) PyObject* host_call(PyObject*, PyObject* function) {
  PyObject* const result = PyObject_CallObject(function, nullptr);
  NO_TAIL_CALL;
  return result;
}
PyObject* make_host() {
  static PyMethodDef methods[] = {{"launch", host_launch, METH_O, nullptr}, {"call", host_call, METH_O, nullptr}, {}};
  static PyModuleDef module = {PyModuleDef_HEAD_INIT, "host", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};
  return PyModule_Create(&module);
}
}

__attribute__((noinline)) void call_python(const char* name) {
  PyObject* const main = PyImport_AddModule("__main__");
  PyObject* const result = PyObject_CallMethod(main, name, nullptr);
  if (result == nullptr) PyErr_Print(), std::exit(98);
  Py_DECREF(result);
  NO_TAIL_CALL;
}

void* thread_of_cpp(void*) {
  g_make_current(g_context);
  launch_in_cpp(7001);  // no thread state yet
  const PyGILState_STATE state = PyGILState_Ensure();
  call_python("on_thread");
  PyGILState_Release(state);
  launch_in_cpp(7002);  // no longer a thread state
  return nullptr;
}

__attribute__((noinline)) void run_script(const char* path) {
  std::FILE* const file = std::fopen(path, "r");
  if (file == nullptr || PyRun_SimpleFile(file, path) != 0) std::exit(97);
  std::fclose(file);
}

}  // namespace

int main(int, char** argv) {
  open_driver();
  launch_in_cpp(7000);
  for (int life = 0; life < 2; ++life) {
    PyImport_AppendInittab("host", make_host);
    Py_Initialize();
    launch_in_cpp(7003);  // a thread state without frames
    run_script(argv[1]);
    call_python("on_main");
    PyThreadState* const saved = PyEval_SaveThread();
    pthread_t thread;
    pthread_create(&thread, nullptr, thread_of_cpp, nullptr);
    pthread_join(thread, nullptr);
    PyEval_RestoreThread(saved);
    call_python("write_down");
    if (Py_FinalizeEx() != 0) return 96;
    launch_in_cpp(7004);
  }
  return 0;
}
