# Sourced by the commands of this folder: Debian chroots below build-packages/, which are kept for the next time.
#   build-packages/SUITE/base   what debootstrap makes: no compiler, no X libraries
#   build-packages/SUITE/…      copies of it
packages=$PWD/build-packages

skip() {
  echo "skipped: $*"
  exit 77
}

say() { printf '%4d s  %s\n' $SECONDS "$*"; }

# own_namespace COMMAND...: starts the command again where its mounts are its own, so that none is left when it ends or is
# killed.
own_namespace() {
  [ -z "${LUNAGRAD_OWN_MOUNTS:-}" ] || return 0
  [ "$(id -u)" -eq 0 ] || skip "a chroot is for root alone"
  command -v debootstrap >/dev/null || skip "debootstrap is not installed (./setup.sh packages)"
  [ "$(dpkg --print-architecture)" = amd64 ] || skip "the packages are for amd64"
  unshare --mount --pid --fork true 2>/dev/null || skip "this system lets no mounts be made"
  exec env LUNAGRAD_OWN_MOUNTS=1 unshare --mount --pid --fork --kill-child "$@"
}

# make_base SUITE
make_base() {
  local base=$packages/$1/base
  [ ! -f "$base.made" ] || return 0
  say "debootstrap $1"
  rm -rf "$base"
  mkdir -p "$base"
  debootstrap --variant=minbase "$1" "$base" >"$packages/$1/debootstrap.log" 2>&1 ||
    { tail -n 5 "$packages/$1/debootstrap.log" >&2; return 1; }
  rm -f "$base"/var/cache/apt/archives/*.deb
  touch "$base.made"
}

# new_root SUITE NAME: a copy of the base. Sets root.
new_root() {
  root=$packages/$1/$2
  rm -rf "$root" "$root.made"
  cp -a "$packages/$1/base" "$root"
}

# mount_root: what programs in $root need. /tmp is in memory.
mount_root() {
  cp /etc/resolv.conf "$root/etc/"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/tmp"
}

# in_root COMMAND...: runs a command in $root with a small environment; `environment` has more of it, as NAME=VALUE.
in_root() {
  local name proxies=()
  for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
  done
  env -i "${proxies[@]}" HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "${environment[@]}" chroot "$root" "$@"
}
environment=()

# quietly LOG COMMAND...: keeps the output in a file, and shows its end where the command fails.
quietly() {
  local log=$1 result=0
  shift
  "$@" >"$log" 2>&1 </dev/null || result=$?
  [ $result -eq 0 ] || { tail -n "${shown:-20}" "$log" >&2; echo "exit code $result; the whole log is $log" >&2; }
  return $result
}
