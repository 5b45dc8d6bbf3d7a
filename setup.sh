#!/usr/bin/env bash
# Installs the Debian packages that Lunagrad needs. Safe to repeat: it asks apt only for missing packages. Waits while another
# program holds apt's lock.
#   ./setup.sh           for building and running
#   ./setup.sh docs      also for the target `docs`, which writes the documents as a site
#   ./setup.sh tests     also for the tests: validation layers, a virtual display, clang-format, the site
#   ./setup.sh browser   also Chromium, in which the tests open the pages of `lunagrad runs export` and `serve`, and ip
#   ./setup.sh bench     also PyTorch, for the comparison of speed
#   ./setup.sh references  also PyTorch and mpmath, which make the values that the tests read (tests/reference)
#   ./setup.sh debian13  also for building a Debian 13 chroot
#   ./setup.sh clang     also for building with clang
#   ./setup.sh packages  for making Debian packages and the archive, in chroots
#   ./setup.sh device    also for packing a bundle for a machine with a GPU
#   ./setup.sh porting   also for parsing the engine with MinGW-w64's compiler
#   ./setup.sh neon      also for cross-compiling the engine for 64-bit ARM and running its tests in an emulator
set -euo pipefail

build=(g++ cmake ninja-build pkg-config ccache mold git
  liblua5.4-dev libopenblas-dev libhwy-dev libsleef-dev zlib1g-dev libzip-dev libpng-dev nlohmann-json3-dev libcli11-dev
  libopenmpi-dev openmpi-bin libedit-dev libseccomp-dev libprotobuf-dev protobuf-compiler libonnx-dev
  libvulkan-dev libvulkan-volk-dev glslang-tools glslang-dev spirv-tools
  libglfw3-dev libimgui-dev libstb-dev libfontconfig-dev libfreetype-dev fonts-dejavu-core)
docs=(cmark-gfm)
tests=("${docs[@]}" doctest-dev clang-format mesa-vulkan-drivers vulkan-validationlayers xvfb xauth xdotool spirv-tools python3 python3-onnx
  python3-numpy python3-setuptools python3-wheel
  libluajit-5.1-dev liblua5.1-0-dev)
bench=(python3-torch libopenblas0-openmp)
references=(python3-torch python3-mpmath python3-numpy)
neon=(g++-aarch64-linux-gnu qemu-user libhwy-dev:arm64 libopenblas-dev:arm64 libsleef-dev:arm64 zlib1g-dev:arm64
  libzip-dev:arm64 libpng-dev:arm64)

wanted=("${build[@]}")
case "${1:-}" in
  "") ;;
  docs) wanted+=("${docs[@]}") ;;
  tests) wanted+=("${tests[@]}") ;;
  browser) wanted+=("${tests[@]}" chromium iproute2) ;;
  bench) wanted+=("${tests[@]}" "${bench[@]}") ;;
  references) wanted+=("${tests[@]}" "${references[@]}") ;;
  debian13) wanted+=("${tests[@]}" debootstrap) ;;
  clang) wanted+=("${tests[@]}" clang) ;;
  packages) wanted=(git ccache debootstrap xz-utils) ;;
  device) wanted+=(patchelf) ;;
  neon) wanted+=("${tests[@]}" "${neon[@]}") ;;
  porting) wanted+=("${tests[@]}" g++-mingw-w64-x86-64-posix) ;;
  *) echo "usage: ./setup.sh [docs|tests|browser|bench|references|debian13|clang|packages|device|neon|porting]" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "setup.sh: Lunagrad is built on Debian 12 or 13 with apt-get, which this system lacks. It needs: ${wanted[*]}" >&2
  exit 1
fi

# One query for all packages: a query for each would take longer than the rest of a `./run` that has nothing to build.
declare -A installed=()
while read -r package architecture status; do
  [[ $status = *"ok installed" ]] || continue
  installed[$package:$architecture]=1
done < <(dpkg-query -W -f='${Package} ${Architecture} ${Status}\n' "${wanted[@]}" 2>/dev/null || true)
native=$(dpkg --print-architecture)
missing=()
for package in "${wanted[@]}"; do
  case $package in
    *:*) found=${installed[$package]:-} ;;
    *) found=${installed[$package:$native]:-${installed[$package:all]:-}} ;;
  esac
  [ -n "$found" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup.sh: run as root, or install sudo: ${missing[*]} are missing" >&2; exit 1; }
  as_root=(sudo)
fi

if [ "${1:-}" = neon ]; then "${as_root[@]}" dpkg --add-architecture arm64; fi
echo "Installing ${#missing[@]} packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# apt ARGUMENTS: runs apt-get. Waits up to ten minutes while another program holds the lock of apt or dpkg.
apt() {
  local waited=0
  while ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" >"$log" 2>&1; do
    grep -q 'Could not get lock\|Unable to lock' "$log" || return 1
    [ $waited -lt 600 ] || return 1
    [ $((waited % 60)) -ne 0 ] || echo "Another program is installing packages; waiting for it to finish ($waited s)"
    sleep 5
    waited=$((waited + 5))
  done
}
if ! { apt update && apt install -y --no-install-recommends "${missing[@]}"; }; then
  tail -n 15 "$log" >&2
  echo "setup.sh: apt-get could not install the packages named above; mend that and run this again." >&2
  exit 1
fi
