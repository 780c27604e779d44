#!/usr/bin/env bash
# Sends a message and interrupts the turn if it takes longer than LIMIT. What the agent has written
# stays. Exits as agentctl send, 130 after the interrupt.
#
#   LIMIT=10m interrupt-on-timeout.sh SESSION "refactor the parser"
set -euo pipefail
session=$1 message=$2

code=0
agentctl send "$session" "$message" --wait --timeout "${LIMIT:-10m}" || code=$?
if ((code == 3)); then # timed out
	agentctl interrupt "$session" --queue hold
	agentctl wait "$session" >/dev/null || true # 6: the queue is held
	exit 130
fi
exit "$code"
