#!/usr/bin/env bash
# Hands a session to another server: exports its signed state, creates it there, and removes it here.
# The other server must accept the key that signs it (state_keys; agentctl state key prints the key).
#
#   hand-over.sh SESSION ssh://you@box
set -euo pipefail
session=$1 server=$2

state=$(mktemp)
trap 'rm -f "$state"' EXIT
agentctl wait "$session" --for idle >/dev/null
name=$(agentctl status "$session" --jq '.name // ""')
agentctl state export "$session" >"$state"
agentctl --server "$server" state restore "$state" ${name:+--name "$name"}
agentctl rm "$session" --yes
