# Sourced by ./run and ./test: `build DIR [cmake options...]` configures when needed and builds $targets (everything when
# that is empty). It prints its progress: in place on a terminal, else a line every 20 seconds. On failure it prints
# the compiler's messages.

# Reads ninja's output, writes it to the log and prints the progress.
show_progress() {
  local log=$1 line last=0 terminal=
  [ -t 1 ] && terminal=1
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    case $line in
      "Building "*)
        line=${line%%;*}
        if [ -n "$terminal" ]; then
          printf '\r\033[K%s, %d s' "$line" $((SECONDS - started))
        elif [ $((SECONDS - started - last)) -ge 20 ]; then
          last=$((SECONDS - started))
          printf '%s, %d s\n' "$line" "$last"
        fi ;;
    esac
  done
  if [ -n "$terminal" ]; then printf '\r\033[K'; fi
}

build() {
  local dir=$1 log
  shift
  log=$dir/build.log
  mkdir -p "$dir"
  # Configuring again takes seconds. It is needed only when the options change: cmake itself notices changed files.
  if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$dir/options" 2>/dev/null)" != "$*" ]; then
    echo "Configuring $dir"
    if ! cmake -G Ninja -S . -B "$dir" "$@" >"$log" 2>&1; then
      tail -n 30 "$log" >&2
      echo "Configuring failed; the whole log is $log" >&2
      return 1
    fi
    echo "$*" >"$dir/options"
  fi
  local started=$SECONDS result
  : >"$log"
  # ccache may reuse objects that were compiled with a precompiled header, and objects of another clone: paths below the
  # base folder count relative to the build folder.
  export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=$PWD
  NINJA_STATUS='Building %f of %t;' ninja -C "$dir" ${targets:-} 2>&1 | show_progress "$log" &&
    result=0 || result=${PIPESTATUS[0]}
  if [ "$result" -ne 0 ]; then
    grep -E -A 12 'error:|FAILED|ninja: error' "$log" | sed -n 1,40p >&2  # head would end grep by SIGPIPE
    echo "The build failed; the whole log is $log" >&2
    return 1
  fi
  local took=$((SECONDS - started))
  [ $took -lt 3 ] || echo "Built $dir in $took s"
}
