# Sourced by the other scripts. Runs named steps, writes the output of each to a log, prints its result and duration,
# and ends with "N passed, N failed". A step is a command; it fails if the command fails.

PROF_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PROF_LOGS=${PROF_LOGS:-$PROF_ROOT/build/logs}
PROF_JOBS=${PROF_JOBS:-$(nproc)}
export PROF_SYMBOL_CACHE=${PROF_SYMBOL_CACHE:-off}  # nothing is written to the user's folders
steps_passed=0
steps_failed=()

say() { printf '%s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# help_if_asked "$@": prints the opening comment of the script if the first argument is -h or --help.
help_if_asked() {
  case ${1:-} in
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  esac
}
# refuse_option "$@": exits with an error if the first argument looks like an option that the script does not have.
refuse_option() {
  case ${1:-} in
    -*) die "$(basename "$0"): no option '$1'; scripts/$(basename "$0") --help shows what there is." ;;
  esac
}

# step NAME COMMAND... : on a terminal, shows the last line of the log while the command runs. Otherwise prints a line a
# minute, so that a long build does not look like a hang.
step() {
  local name=$1 log begin=$SECONDS shown=0 status
  shift
  mkdir -p "$PROF_LOGS"
  log=$PROF_LOGS/${name//[ \/]/-}.log
  (cd "$PROF_ROOT" && "$@") >"$log" 2>&1 </dev/null &
  local child=$!
  while kill -0 "$child" 2>/dev/null; do
    sleep 0.2
    if [ -t 1 ]; then
      printf '\r%-28s %4ds  %-.80s\033[K' "$name" $((SECONDS - begin)) "$(tail -c 400 "$log" | tr '\r' '\n' | tail -n 1)"
    elif [ $((SECONDS - begin)) -ge $((shown + 60)) ]; then
      shown=$((SECONDS - begin))
      printf '  … %s, %d s: %s\n' "$name" "$shown" "$(tail -n 1 "$log" | cut -c 1-100)"
    fi
  done
  wait "$child"
  status=$?
  [ -t 1 ] && printf '\r'
  if [ "$status" = 0 ]; then
    steps_passed=$((steps_passed + 1))
    printf '%-28s pass  %4d s  %s\n' "$name" $((SECONDS - begin)) "$(grep -E '^RESULT ' "$log" | tail -n 1 | cut -c 8-)"
  else
    steps_failed+=("$name")
    printf '%-28s FAIL  %4d s  status %d, log %s\n' "$name" $((SECONDS - begin)) "$status" "${log#"$PROF_ROOT"/}"
    tail -n "${PROF_TAIL:-60}" "$log" | sed 's/^/    /'
  fi
  return "$status"
}

# Prints the count and returns 0 only if every step passed and at least one ran.
steps_end() {
  printf '%d passed, %d failed%s in %d s\n' "$steps_passed" "${#steps_failed[@]}" \
    "${steps_failed[*]:+ (${steps_failed[*]})}" "$SECONDS"
  [ "${#steps_failed[@]}" = 0 ] && [ "$steps_passed" -gt 0 ]
}

# build PRESET [TARGET...]: configures once, then builds.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" -Wno-dev && cmake --build --preset "$preset" -j "$PROF_JOBS" ${*:+--target "$@"}
}

# run_tests PRESET [CTEST OPTION...]: runs all tests except those that need a GPU or an idle machine. One more at once
# than there are cores, because a test that waits leaves its core free.
run_tests() {
  local preset=$1 out=$PROF_LOGS/ctest-$1.txt status
  shift
  ctest --preset "$preset" -j "${PROF_TEST_JOBS:-$((PROF_JOBS + 1))}" -LE 'bench|gpu' "$@" 2>&1 | tee "$out"
  status=${PIPESTATUS[0]}
  [ "$status" = 0 ] || said_by_failed_tests "$out"
  printf 'RESULT %s\n' "$(grep -E 'tests passed' "$out" | tail -n 1)"
  return "$status"
}

# said_by_failed_tests CTEST_OUTPUT: prints the last lines of each failed test's output, together at the end.
said_by_failed_tests() {
  awk '
    function flush(  i) {
      if (name == "") return
      printf "\n--- %s\n", name
      for (i = count > 25 ? count - 25 : 0; i < count; ++i) print "  " said[i]
      name = ""
    }
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / { flush(); count = 0; if (/\*\*\*/ && !/Skipped/) { name = $0; sub(/ \.\.+/, " ", name) }; next }
    /^ +Start +[0-9]+: / { next }
    /tests passed, .* tests? failed out of/ { flush() }
    name != "" && NF { said[count++] = $0 }
  ' "$1"
}
