package catalog

import (
	"encoding/json"
	"regexp"

	"agentctl/protocol"
)

// codexZed is the older adapter of Codex, @zed-industries/codex-acp.
var codexZed = Agent{
	Reports: "codex-acp", // 0.16.0
	// The arguments of an edit are the event of Codex: the changes again, with its own ids and times
	// (0.16.0).
	EditFields: map[string]EditField{
		"auto_approved": isFalse, "call_id": isCall, "changes": isChanges, "started_at_ms": isTime, "turn_id": isUUID,
	},
}

var (
	uuidText = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	timeText = regexp.MustCompile(`^[0-9]{1,16}$`)
)

// isCall accepts the id of the call.
func isCall(e *Edit, _ *protocol.Arguments, value json.RawMessage) bool {
	s, ok := text(value)
	return ok && s == e.Call
}

// isUUID accepts an id in the form of a UUID.
func isUUID(_ *Edit, _ *protocol.Arguments, value json.RawMessage) bool {
	s, ok := text(value)
	return ok && uuidText.MatchString(s)
}

// isTime accepts a time in milliseconds.
func isTime(_ *Edit, _ *protocol.Arguments, value json.RawMessage) bool { return timeText.Match(value) }

// isChanges accepts the changes of the edit by path: new files, and changed ones that keep their
// name.
func isChanges(e *Edit, _ *protocol.Arguments, value json.RawMessage) bool {
	files := protocol.ReadArguments(value)
	if files.Opaque() != "" || len(files.Fields()) != len(e.Changes) {
		return false
	}
	for path, raw := range files.Fields() {
		c, change := e.changeOf(path), protocol.ReadArguments(raw)
		if c == nil || change.Opaque() != "" {
			return false
		}
		fields := change.Fields()
		typ, _ := change.Text("type")
		switch typ {
		case "add":
			content, ok := change.Text("content")
			if !ok || len(fields) != 2 || oldText(c) != "" || content != c.New {
				return false
			}
		case "update":
			diff, ok := change.Text("unified_diff")
			if !ok || len(fields) != 3 || string(fields["move_path"]) != "null" || !isDiffOf(diff, c) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
