#!/usr/bin/env bash
# Runs the tasks of a file, one a line, each in a session of its own, and writes a report in Markdown.
# Requests are denied, and the agent gets the reason. For cron or a timer.
#
#   AGENT=claude LIMIT=1h nightly-batch.sh tasks.txt report.md
set -euo pipefail
tasks=$1 report=$2

echo "# Batch of $(date -I)" >"$report"
while IFS= read -r task; do
	[[ $task ]] || continue
	session=$(agentctl new --agent "${AGENT:-claude}" --title "$task" --label batch=nightly)
	code=0
	agentctl send "$session" "$task" --wait --timeout "${LIMIT:-1h}" </dev/null >/dev/null || code=$?
	while ((code == 6)); do
		agentctl approvals "$session" --jq .request |
			xargs -r -n 1 agentctl deny "$session" --reason "this is a batch: go on without it"
		code=0
		agentctl wait "$session" --for idle --timeout "${LIMIT:-1h}" >/dev/null || code=$?
	done
	((code != 3)) || agentctl interrupt "$session"
	{
		printf '\n## %s\n\nexit code %d, session %s\n\n' "$task" "$code" "$session"
		agentctl history "$session" --limit 1
	} >>"$report"
done <"$tasks"
