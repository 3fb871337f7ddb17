// A program that start_program.cpp starts, built for another word size, another libc, statically or with a sanitizer.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char** environ;

static int compare(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

int main(int argc, char** argv) {
  size_t count = 0;
  for (int i = 1; i < argc; ++i) printf("[%s]", argv[i]);
  printf(" %s", getenv("LD_PRELOAD") != NULL ? "preloads\n" : "preloads nothing\n");
  while (environ[count] != NULL) ++count;
  qsort(environ, count, sizeof *environ, compare);
  for (size_t i = 0; i < count; ++i) {
    if (strncmp(environ[i], "PATH=", 5) == 0 || strncmp(environ[i], "_=", 2) == 0) continue;
    printf("environment %s\n", environ[i]);
  }
  return 7;
}
