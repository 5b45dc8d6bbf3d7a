# Sourced by ./run and ./test: build DIR [cmake options…] configures when needed and builds $targets (everything, when
# that is empty), quietly. On a terminal the build shows its progress; on failure the compiler's words are shown.
build() {
  local dir=$1 log
  shift
  log=$dir/build.log
  mkdir -p "$dir"
  # Configuring again costs seconds; it is needed only when the options change (cmake itself notices changed files).
  if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$dir/options" 2>/dev/null)" != "$*" ]; then
    echo "Configuring $dir"
    if ! cmake -G Ninja -S . -B "$dir" "$@" >"$log" 2>&1; then
      tail -n 30 "$log" >&2
      echo "Configuring failed; the whole log is $log" >&2
      return 1
    fi
    echo "$*" >"$dir/options"
  fi
  local started=$SECONDS
  if [ -t 1 ]; then
    NINJA_STATUS='Building [%f/%t] ' ninja -C "$dir" ${targets:-} 2>&1 | tee "$log" | {
      while IFS= read -r line; do
        case $line in Building\ \[*) printf '\r\033[K%s' "${line%% [A-Z]*}" ;; esac
      done
      printf '\r\033[K'
    }
    local result=${PIPESTATUS[0]}
  else
    local result=0
    ninja -C "$dir" ${targets:-} >"$log" 2>&1 || result=$?
  fi
  if [ "$result" -ne 0 ]; then
    grep -E -A 12 'error:|FAILED|ninja: error' "$log" | head -n 40 >&2
    echo "The build failed; the whole log is $log" >&2
    return 1
  fi
  local took=$((SECONDS - started))
  [ $took -lt 3 ] || echo "Built $dir in $took s"
}
