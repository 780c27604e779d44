package catalog

import (
	"encoding/json"
	"strings"

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
	// A running command has the id of its process (0.16.0).
	Records: []string{"process_id", "source", "started_at_ms"},
}

// isCall accepts the id of the call.
func isCall(e *Edit, _ *protocol.Arguments, value json.RawMessage) bool {
	s, ok := text(value)
	return ok && s == e.Call
}

// isUUID accepts an id in the form of a UUID.
func isUUID(_ *Edit, _ *protocol.Arguments, value json.RawMessage) bool {
	s, ok := text(value)
	if !ok || len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(c)) {
			return false
		}
	}
	return true
}

// isTime accepts a time in milliseconds.
func isTime(_ *Edit, _ *protocol.Arguments, value json.RawMessage) bool {
	return len(value) <= 16 && strings.Trim(string(value), "0123456789") == ""
}

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
