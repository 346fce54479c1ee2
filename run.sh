#!/usr/bin/env bash
# Builds Weir and runs its main job: the gateway in front of an inference server.
#
#   ./run.sh [--once] [UPSTREAM_URL]
#
# UPSTREAM_URL is any OpenAI-compatible server, such as http://127.0.0.1:8000. Without one a simulated GPU
# server is started and used. --once ends after the demonstration instead of staying in the foreground.
#
# WEIR_LISTEN, WEIR_ADMIN and WEIR_SIM are the addresses that are used (127.0.0.1 with ports 8080, 9900, 8000).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
listen=${WEIR_LISTEN:-127.0.0.1:8080}
admin=${WEIR_ADMIN:-127.0.0.1:9900}
sim=${WEIR_SIM:-127.0.0.1:8000}
weir=${CARGO_TARGET_DIR:-$root/target}/release/weir
once=false
upstream=

usage() { sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
fail() { echo "run.sh: $*" >&2; exit 1; }

for argument in "$@"; do
  case $argument in
    --once) once=true ;;
    -h | --help) usage; exit 0 ;;
    http://* | https://*) upstream=$argument ;;
    *) usage >&2; exit 2 ;;
  esac
done

# --- build

cd "$root"
say "1/4 Tools and model"
scripts/prerequisites.sh
models/setup.sh

say "2/4 Build (some minutes the first time)"
cargo build --release --locked

# --- start

logs=$(mktemp -d)
started=()
stop() {
  trap - EXIT INT TERM
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$logs"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start() { # NAME COMMAND...
  local name=$1
  shift
  "$@" >"$logs/$name" 2>&1 &
  started+=($!)
}

wait_for() { # NAME PID URL
  for _ in {1..600}; do
    curl -fsS -o /dev/null --max-time 2 "$3" 2>/dev/null && return
    if ! kill -0 "$2" 2>/dev/null; then
      cat "$logs/$1" >&2
      fail "$1 ended"
    fi
    sleep 0.1
  done
  cat "$logs/$1" >&2
  fail "$1 is not ready after a minute"
}

say "3/4 Start"
if [[ -z $upstream ]]; then
  upstream=http://$sim
  start simulator "$weir" sim --listen "$sim"
  wait_for simulator "${started[-1]}" "$upstream/v1/models"
  echo "simulated GPU server: $upstream"
fi
start gateway "$weir" serve --upstream "$upstream" --listen "$listen" --admin "$admin"
gateway=${started[-1]}
wait_for gateway "$gateway" "http://$admin/readyz"
echo "gateway: http://$listen, in front of $upstream"

# --- demonstrate

model=$(curl -fsS "http://$listen/v1/models" | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][0]["id"])') ||
  fail "$upstream lists no models at /v1/models"

body() { # QUESTION
  python3 -c 'import json, sys; print(json.dumps({"model": sys.argv[1], "temperature": 0, "max_tokens": 64,
    "messages": [{"role": "user", "content": sys.argv[2]}]}, ensure_ascii=False))' "$model" "$1"
}

ask() { # QUESTION
  local headers=$logs/headers
  curl -fsS --max-time 120 -o "$logs/answer" -D "$headers" -w '%{time_total}' -X POST "http://$listen/v1/chat/completions" \
    -H 'Content-Type: application/json' -H 'X-Task-Type: qa' --data "$(body "$1")" >"$logs/time"
  printf '  %-52s source %-10s %-18s %5.0f ms\n' "$1" "$(header x-weir-source)" "$(header x-weir-match)" \
    "$(awk '{print $1 * 1000}' "$logs/time")"
}

header() { # NAME
  tr -d '\r' <"$logs/headers" | awk -v name="$1" 'tolower($1) == name ":" {sub(/^[^:]*: */, ""); print}'
}

say "4/4 One question, asked again, and in other words"
ask "What is the capital of France?"
ask "What is the capital of France?"
ask "Could you please tell me what is the capital of France"
ask "What is the capital of Spain?"
inferences=$(curl -fsS "http://$admin/metrics" | awk '/^weir_upstream_inferences_total/ {sum += $2} END {print sum + 0}')
echo "  inferences so far: $inferences"

say "Try next"
cat <<TEXT
  curl http://$listen/v1/chat/completions -H 'Content-Type: application/json' \\
    -d '{"model": "$model", "temperature": 0, "messages": [{"role": "user", "content": "Why is the sky blue?"}]}' -i
  curl http://$listen/api/ai/summarization -H 'Content-Type: application/json' \\
    -d '{"model": "$model", "prompt": "Summarise: ...", "temperature": 0}'
  curl http://$admin/metrics | grep -E 'weir_(aggregation_ratio|cache_hit_ratio|upstream_inferences)'
  $weir explain "How tall is Everest?" "How high is Everest?" --task qa
  OpenAI clients: base URL http://$listen/v1
TEXT

if $once; then
  exit 0
fi
echo
echo "Ctrl-C stops everything."
tail -n +1 -f "$logs/gateway" &
started+=($!)
wait "$gateway"
