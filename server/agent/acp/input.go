package acp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
)

// mergeInput merges the arguments of a call with the arguments of its request, which may be fewer
// and have other names. The request's arguments replace the call's. If either cannot be read in one
// way, the result is a list of both.
func mergeInput(call, request json.RawMessage) json.RawMessage {
	switch {
	case !present(request):
		return call
	case !present(call) || bytes.Equal(call, request):
		return request
	}
	fields, more := protocol.ReadArguments(call), protocol.ReadArguments(request)
	if fields.Opaque() != "" || more.Opaque() != "" {
		return slices.Concat([]byte("["), call, []byte(","), request, []byte("]"))
	}
	merged := fields.Fields()
	maps.Copy(merged, more.Fields())
	return protocol.MustEncode(merged)
}

// toolCallNames are the fields of a tool call that an approval is made from.
var toolCallNames = []string{
	"toolCall", "toolCallId", "name", "title", "kind", "status", "content", "locations", "rawInput", "_meta",
}

// exactNames reports whether an object has each name once and in its exact case. Decoders differ
// about other objects.
func exactNames(raw json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return err == nil && t == nil
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, _ := t.(string)
		var v json.RawMessage
		if err != nil || d.Decode(&v) != nil || seen[name] {
			return false
		}
		seen[name] = true
		other := func(known string) bool { return known != name && strings.EqualFold(known, name) }
		if slices.ContainsFunc(toolCallNames, other) || name == "toolCall" && !exactNames(v) {
			return false
		}
	}
	return true
}
