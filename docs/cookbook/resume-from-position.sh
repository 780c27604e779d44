#!/usr/bin/env bash
# Processes every event of a session once, over restarts of this script and of the server: keeps the
# position in a file and continues after it. Here processing prints the ends of turns.
#
#   resume-from-position.sh SESSION FILE
set -euo pipefail
session=$1 file=$2

since=$(cat "$file" 2>/dev/null || echo 0)
while read -r seq type; do
	[[ $type != turn.ended ]] || echo "turn ended at $seq"
	# After the work: a crash between both repeats an event and loses none.
	echo "$seq" >"$file.new" && mv "$file.new" "$file"
done < <(agentctl events "$session" --since "$since" --jq 'select(.seq) | "\(.seq) \(.type)"')
