#!/usr/bin/env bash
# Sends one task to an agent in each of many directories, JOBS at a time, and prints how each ended.
# Exits 1 if one did not complete.
#
#   AGENT=claude JOBS=4 many-repositories.sh "update the licence header" ~/src/*/
set -euo pipefail
export TASK=$1 AGENT=${AGENT:-claude}
shift

one() {
	local session code=0
	session=$(agentctl new --agent "$AGENT" --cwd "$1" --label task=batch --title "$TASK") || return
	agentctl send "$session" "$TASK" --wait >/dev/null || code=$?
	case $code in
	0) echo "done     $1" ;;
	6) echo "waiting  $1   agentctl attach $session" ;;
	*) echo "failed   $1   agentctl attach $session (exit code $code)" ;;
	esac
	return "$code"
}
export -f one

printf '%s\0' "$@" | xargs -0 -n 1 -P "${JOBS:-4}" bash -c 'one "$1" || exit 1' bash || exit 1
