# shellcheck shell=bash
# Shared by examples/quickstart and tests/run: install what is missing, configure, build.
# Sourced, never run. Every step is quiet when it has nothing to do, so a second run takes seconds.

set -euo pipefail
MEMAGENT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export MEMAGENT_ROOT
# With ccache, a second clone of this tree reuses what the first one compiled.
export CCACHE_BASEDIR=$MEMAGENT_ROOT CCACHE_NOHASHDIR=1

say() { printf '==> %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# run_logged LOGFILE COMMAND...: the output goes to the file, and its end to stderr on failure.
run_logged() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 60 "$log" >&2
    die "'$*' failed; its whole output is in $log"
  fi
}

# wanted_packages build|test: names from the list; test includes build.
wanted_packages() {
  awk -v step="$1" '$1 == "build" || $1 == step { print $2 }' "$MEMAGENT_ROOT/cmake/debian-packages.txt"
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# without_services COMMAND...: packages of servers that the command installs start none of them.
# invoke-rc.d(8) asks this policy; one that is there already stays as it is. Uses its caller's as_root.
without_services() {
  local policy=/usr/sbin/policy-rc.d
  [ ! -e "$policy" ] || { "$@"; return; }
  (
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
    "$@"
  )
}

# install_packages build|test: asks apt only when something is missing.
install_packages() {
  command -v dpkg-query >/dev/null || die "this script installs Debian packages; elsewhere build by hand as README.md says"
  local missing=() package as_root=()
  for package in $(wanted_packages "$1"); do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "missing packages (${missing[*]}) need root: install them, or install sudo"
    as_root=(sudo)
  fi
  say "installing ${#missing[@]} packages: ${missing[*]}"
  local log=$MEMAGENT_ROOT/build/apt.log
  run_logged "$log" "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 update
  without_services run_logged "$log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    -o DPkg::Lock::Timeout=300 install --no-install-recommends "${missing[@]}"
}

# Whether the tests are configured too: they need more packages. A folder that has them keeps them.
with_tests=ON

needs_configuring() {
  [ -f "build/$1/build.ninja" ] || return 0
  [ "$with_tests" = ON ] && grep -q '^MEMAGENT_TESTS:BOOL=OFF' "build/$1/CMakeCache.txt"
}

# build_preset PRESET [TARGET...]: configures once, then builds; ccache is used where it exists.
build_preset() {
  local preset=$1 log=$MEMAGENT_ROOT/build/$1.log launcher=()
  shift
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
  fi
  cd "$MEMAGENT_ROOT"
  if needs_configuring "$preset"; then
    say "configuring build/$preset"
    run_logged "$log" cmake --preset "$preset" "-DMEMAGENT_TESTS=$with_tests" "${launcher[@]}"
  fi
  say "building ${*:-everything} in build/$preset"
  run_logged "$log" cmake --build --preset "$preset" ${1:+--target "$@"}
}
