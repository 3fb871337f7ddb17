// A program of musl, which libprof.so must not disturb: symbols, libraries, threads, children and ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void* thread_main(void* argument) { return argument; }
static void at_end(void) { puts("exit handler"); }

static int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  if (argc > 1) return printf("child %s\n", argv[1]), 9;
  printf("default: %d, of libc: %d\n", dlsym(RTLD_DEFAULT, "puts") == (void*)puts,
         dlsym(RTLD_NEXT, "puts") == (void*)puts);
  printf("itself: %d\n", dlsym(RTLD_NEXT, "dlsym") != NULL);
  const char* const names[] = {"no_such", "cuInit", "cuLaunchKernel", "cudaLaunchKernel", "cuptiSubscribe",
                               "cublasCreate_v2", "ncclAllReduce", "nvtxMarkA", "cu", "c"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    printf("%s: %d %d\n", names[i], dlsym(RTLD_DEFAULT, names[i]) != NULL, dlsym(RTLD_NEXT, names[i]) != NULL);
  printf("error: %s\n", dlsym(RTLD_DEFAULT, "no_such_name") == NULL && dlerror() != NULL ? "yes" : "no");
  void* const self = dlopen(NULL, RTLD_NOW);
  printf("self: %d, cuInit there: %d, closed: %d\n", self != NULL, dlsym(self, "cuInit") != NULL, dlclose(self));
  printf("missing: %d\n", dlopen("libnothere.so", RTLD_NOW) != NULL);
  Dl_info info;
  printf("dladdr: %d\n", dladdr((void*)puts, &info) != 0);
  pthread_t threads[20];
  for (int i = 0; i < 20; ++i) pthread_create(&threads[i], NULL, thread_main, &threads[i]);
  for (int i = 0; i < 20; ++i) pthread_join(threads[i], NULL);
  printf("variables: %s, %d, %d\n", getenv("HOME"), getenv("NVTX_INJECTION64_PATH") != NULL, getenv("NO_SUCH") != NULL);
  pid_t child = fork();
  if (child == 0) _exit(3);
  printf("_exit: %d\n", status_of(child));
  if ((child = fork()) == 0) _Exit(4);
  printf("_Exit: %d\n", status_of(child));
  if ((child = fork()) == 0) quick_exit(5);
  printf("quick_exit: %d\n", status_of(child));
  if ((child = vfork()) == 0) _exit(6);
  printf("vfork: %d\n", status_of(child));
  if ((child = fork()) == 0) { execl(argv[0], argv[0], "execl", NULL); _exit(100); }
  printf("execl: %d\n", status_of(child));
  if ((child = fork()) == 0) { execlp(argv[0], argv[0], "execlp", NULL); _exit(100); }
  printf("execlp: %d\n", status_of(child));
  if ((child = fork()) == 0) { execvp("no-such-program", argv); _exit(101); }
  printf("execvp: %d\n", status_of(child));
  printf("system: %d\n", WEXITSTATUS(system("echo from a shell; exit 8")));
  if ((child = fork()) == 0) abort();
  printf("abort: %d\n", status_of(child));
  atexit(at_end);
  return 10;
}
