#!/usr/bin/env bash
# Has an agent repair the tests of the current directory: runs them, sends the output of a failure,
# and tries again. Exits 0 when the tests pass, 1 after the last round, else as agentctl send:
# 6 when a request waits for your decision.
#
#   TEST="go test ./..." AGENT=claude fix-tests.sh
set -euo pipefail
test=${TEST:-make test} agent=${AGENT:-claude} rounds=${ROUNDS:-3}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
session=
for ((round = 1; round <= rounds; round++)); do
	if sh -c "$test" >"$log" 2>&1; then
		echo "the tests pass after $((round - 1)) rounds"
		exit 0
	fi
	[[ $session ]] || session=$(agentctl new --agent "$agent" --title "Repair the tests")
	{ echo "make the tests pass. The output of $test ends with:"; tail -n 50 "$log"; } |
		agentctl send "$session" --wait
done
sh -c "$test" >"$log" 2>&1 || { echo "the tests still fail: agentctl attach $session" >&2; exit 1; }
echo "the tests pass after $rounds rounds"
