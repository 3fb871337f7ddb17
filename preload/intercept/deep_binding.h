// How do calls of a library that was opened with RTLD_DEEPBIND reach the hooks? Such a library searches itself and what
// it is linked with before libprof.so. Its references to dlsym and to driver functions are therefore set to the hooks,
// before the program gets the first address of the library (dlsym.S), so before anything but a constructor runs.
// This code runs in the program; it holds no lock of the recorder and allocates nothing.
#pragma once

extern "C" {
// Sets the references of all libraries. dlsym.S calls it once after each such open.
__attribute__((visibility("hidden"))) void prof_bind_deep_objects();
}
