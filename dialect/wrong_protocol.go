package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
)

// wrongProtocol tells why what a server said first can be no word of the dialect that our client speaks, or nil. said is what our client
// said first. What nobody would say is not strange: a codec keeps what it does not understand.
func wrongProtocol(name string, said, heard []byte) error {
	if len(said) > 0 && bytes.Equal(said, heard) {
		return protocol.Errorf(protocol.CodeUnsupported, "it says back what it hears: it does not speak %s", name)
	}
	var fields map[string]json.RawMessage
	if len(heard) > protocol.MaxEvent || json.Unmarshal(heard, &fields) != nil {
		return nil
	}
	if of := matchDialects(fields); len(of) > 0 && !slices.Contains(of, name) {
		return protocol.Errorf(protocol.CodeUnsupported, "it does not speak %s: what it says is %s", name, of[0])
	}
	return nil
}

// signatures are the fields by which the messages of servers are told apart: all of a mark's are there. What three systems call a type, and
// might extend, tells only where it is an error or beside a name that one of them alone has.
var signatures = []struct {
	of     string
	typ    string // the message's type; empty: any, or none
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

// matchDialects lists whose server may have said a message.
func matchDialects(fields map[string]json.RawMessage) (of []string) {
	var typ string
	_ = json.Unmarshal(fields["type"], &typ) // else it is none of those
	for _, m := range signatures {
		if m.typ != "" && !strings.EqualFold(m.typ, typ) {
			continue
		}
		if !slices.ContainsFunc(m.fields, func(f string) bool { return fields[f] == nil }) {
			of = append(of, m.of)
		}
	}
	var refusal struct{ Code, Message string }
	if fields["type"] == nil && json.Unmarshal(fields["error"], &refusal) == nil && refusal.Code != "" && refusal.Message != "" {
		of = append(of, protocol.Subprotocol)
	}
	return of
}
