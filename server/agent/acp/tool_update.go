package acp

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// parseUpdate parses an update of a tool or of the plan in the form that agents send: it is
// validated once, and its fields are decoded one by one. It reports false for every other form and
// every other update, which are then decoded as JSON. The result has no reference to line.
func parseUpdate(line []byte) (session string, u *update, ok bool) {
	s := scanner{line}
	var name []byte
	if !s.skip(updateStart) || !s.name(&name) || !s.skip(`,"update":`) {
		return "", nil, false
	}
	u = new(update)
	raw, ok := bytes.CutSuffix(s.rest, []byte(`}}`))
	if !ok || !utf8.Valid(raw) || !json.Valid(raw) || !eachField(raw, u.decodeField) {
		return "", nil, false
	}
	switch u.Kind {
	case "tool_call", "tool_call_update", "plan":
		return string(name), u, true
	}
	return "", nil, false
}

// decodeField decodes a field of an update. It returns false for a field that updates of tools and
// of the plan do not have.
func (u *update) decodeField(name, value []byte) bool {
	switch string(name) {
	case "sessionUpdate":
		return decodeText(value, &u.Kind)
	case "toolCallId":
		return decodeText(value, &u.ID)
	case "name":
		return decodeText(value, &u.Name)
	case "title":
		return decodeText(value, &u.Title)
	case "kind":
		return decodeText(value, &u.ToolKind)
	case "status":
		return decodeText(value, &u.Status)
	case "content":
		u.Content = bytes.Clone(value)
	case "rawInput":
		u.Input = bytes.Clone(value)
	case "rawOutput":
		u.Output = bytes.Clone(value)
	case "locations":
		return decode(value, &u.Locations) == nil
	case "entries":
		return decode(value, &u.Entries) == nil
	case "_meta":
		return decode(value, &u.Meta) == nil
	default:
		return false
	}
	return true
}

// decodeText decodes a string. Any other value leaves text as it is, as decode does.
func decodeText(value []byte, text *string) bool {
	ok := true
	if value[0] == '"' {
		*text, ok = unescape(value[1 : len(value)-1])
	}
	return ok
}
