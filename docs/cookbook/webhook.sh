#!/usr/bin/env bash
# Decides requests from the notifications of a hook, by their single-use links: allows commands that match
# ALLOW, denies those that match DENY, and leaves the rest to you. The patterns are those of grep -E and
# must match the whole command. Needs jq and curl. The server starts it for each notification:
#
#   "hooks": {"policy": {"command": ["env", "ALLOW=go test [./a-z]+", "DENY=rm .*", "/path/of/webhook.sh"],
#                        "events": ["approval.requested"], "decide_urls": {"base": "http://127.0.0.1:7777"}}}
#
# With "url" a web server receives the same notification: it verifies the signature, and gives the body to
# this script.
set -euo pipefail
notification=$(cat)
field() { jq -r "$1 // empty" <<<"$notification"; }

command=$(jq '.approval.request.command // ""' <<<"$notification")
command=${command#\"} command=${command%\"} # of JSON: a line break stays an escape and matches nothing
if [[ ${ALLOW:-} ]] && grep -qxE -- "$ALLOW" <<<"$command"; then
	link=$(field .approval.links.allow_once)
elif [[ ${DENY:-} ]] && grep -qxE -- "$DENY" <<<"$command"; then
	link=$(field .approval.links.deny)
else
	exit 0
fi
[[ $link ]] || exit 0 # not offered: left to you
curl -sf -o /dev/null -X POST "$link"
