#!/usr/bin/env bash
# Sets up what the tests need and runs all of them: format, lints, tests, documentation.
#
#   ./test.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$root"

step() { printf '\n\033[1m== %s (%s s so far)\033[0m\n' "$*" "$SECONDS"; }

step "Tools, model, OpenAI client"
scripts/prerequisites.sh test
models/setup.sh
wanted=$(sha256sum tests/openai/requirements.txt)
if [[ "$(cat .venv/requirements.sha256 2>/dev/null)" != "$wanted" ]]; then
  rm -rf .venv
  python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check --requirement tests/openai/requirements.txt
  echo "$wanted" >.venv/requirements.sha256
fi

step "Format"
cargo fmt --check

step "Lints"
cargo clippy --all-targets --locked -- -D warnings

step "Scripts and deployment files"
bash -n run.sh test.sh scripts/*.sh models/setup.sh .ci/run
promtool check config docker/prometheus.yml

step "Documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked

step "Tests"
# Nothing may be left out for want of a tool.
WEIR_TEST_ALL=1 cargo test --locked

step "All passed"
