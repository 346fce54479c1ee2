#!/usr/bin/env bash
# Makes sure that the tools Weir is built and run with are there: installs what is missing if it may
# (Debian, as root), else says what to install.
#
#   scripts/prerequisites.sh [test]
#
# With `test` also what only the tests need.
set -euo pipefail

missing=()
need() { # COMMAND PACKAGE
  command -v "$1" >/dev/null || missing+=("$2")
}

need cc gcc
need curl curl
need python3 python3
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
[[ -e /etc/ssl/certs/ca-certificates.crt || ! -e /etc/debian_version ]] || missing+=(ca-certificates)
if [[ ${1:-} == test ]]; then
  need promtool prometheus
fi

if ((${#missing[@]})); then
  if ((EUID == 0)) && command -v apt-get >/dev/null; then
    echo "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # promtool comes with the server; nothing here needs the server to run.
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  else
    echo "these packages are missing: ${missing[*]}" >&2
    echo "install them (on Debian, as root: apt-get install ${missing[*]}) and start again" >&2
    exit 1
  fi
fi

if ! command -v cargo >/dev/null; then
  echo "cargo is missing: install Rust with rustup and start again" >&2
  exit 1
fi
