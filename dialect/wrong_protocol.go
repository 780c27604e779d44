package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
)

// wrongProtocol returns an unsupported error if a server's first message belongs to a protocol
// other than the dialect name. sent is the client's first message. An unknown message is not an
// error: codecs keep it.
func wrongProtocol(name string, sent, received []byte) error {
	if len(sent) > 0 && bytes.Equal(sent, received) {
		return protocol.Errorf(protocol.CodeUnsupported, "the server echoes messages: it does not speak %s", name)
	}
	var fields map[string]json.RawMessage
	if len(received) > protocol.MaxEvent || json.Unmarshal(received, &fields) != nil {
		return nil
	}
	if of := matchDialects(fields); len(of) > 0 && !slices.Contains(of, name) {
		return protocol.Errorf(protocol.CodeUnsupported, "the server speaks %[2]s, not %[1]s", name, of[0])
	}
	return nil
}

// signatures are the fields that identify a server's messages; a message must have all of them.
// Three systems have a field type, so it counts only in errors, or together with a field of only
// one system.
var signatures = []struct {
	of     string
	typ    string // the message's type; empty: any
	fields []string
}{
	{"sandcastle", "", []string{"_tag"}},
	{"myagent", "", []string{"event"}},
	{"effectiveagent", "", []string{"type", "agentRuntimeId"}},
	{"effectiveagent", "", []string{"type", "targetAgentRuntimeId"}},
	{"effectiveagent", "error", []string{"code", "message"}},
	{"agentloop", "error", []string{"id", "payload"}},
	{"multiagent", "", []string{"type", "conversationId"}},
	{"multiagent", "error", []string{"error"}},
	{protocol.Subprotocol, "", []string{"id", "result"}},
	{protocol.Subprotocol, "", []string{"session", "type", "time", "data"}},
}

// matchDialects returns the protocols whose servers may have sent a message.
func matchDialects(fields map[string]json.RawMessage) (of []string) {
	var typ string
	_ = json.Unmarshal(fields["type"], &typ) // not a string: none of them
	for _, m := range signatures {
		if m.typ != "" && !strings.EqualFold(m.typ, typ) {
			continue
		}
		if !slices.ContainsFunc(m.fields, func(f string) bool { return fields[f] == nil }) {
			of = append(of, m.of)
		}
	}
	var refusal struct{ Code, Message string }
	if fields["type"] == nil && json.Unmarshal(fields["error"], &refusal) == nil && refusal.Code != "" &&
		refusal.Message != "" {
		of = append(of, protocol.Subprotocol)
	}
	return of
}
