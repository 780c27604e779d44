#!/usr/bin/env bash
# Decides the requests of one session by a policy until the session is idle: allows commands that match
# ALLOW, denies those that match DENY, and leaves the rest to you. The patterns are those of grep -E and
# must match the whole command, so that "go test && rm -rf ." does not pass as a test.
#
#   ALLOW='go (test|vet|build)( [./a-zA-Z]+)*' DENY='rm .*' approve-by-policy.sh SESSION
set -euo pipefail
session=$1

# Prints "REQUEST COMMAND" for each pending request. Kinds other than commands have no command.
requests() { agentctl approvals "$session" --jq '.request + " " + ((.command // "") | @json)'; }

while :; do
	code=0
	agentctl wait "$session" --for idle >/dev/null || code=$?
	((code == 6)) || exit "$code" # 6: a request waits for a decision
	left=0
	while read -r request command; do
		command=${command#\"} command=${command%\"} # of JSON: a line break stays an escape and matches nothing
		if [[ ${ALLOW:-} ]] && grep -qxE -- "$ALLOW" <<<"$command"; then
			agentctl approve "$session" "$request" --reason "policy: allowed"
		elif [[ ${DENY:-} ]] && grep -qxE -- "$DENY" <<<"$command"; then
			agentctl deny "$session" "$request" --reason "policy: denied"
		else
			left=1
		fi
	done < <(requests)
	((left == 0)) || { echo "a request is left to you: agentctl attach $session" >&2; exit 6; }
done
