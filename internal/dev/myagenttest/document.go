package myagenttest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"reflect"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

//go:embed testdata/examples.json
var examplesJSON []byte

// Examples returns the examples of the protocol's document, by name. The document writes them in
// JavaScript and Python; the file holds them as JSON without the ellipses.
func Examples(t testing.TB) map[string]string {
	t.Helper()
	var list map[string]json.RawMessage
	if err := json.Unmarshal(examplesJSON, &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for name, frame := range list {
		all[name] = string(frame)
	}
	return all
}

// DocumentClient returns a client on a server with the document's features only, with one session
// and a turn.
func DocumentClient(t *testing.T, newCodec clientCodec) *ClientAtServer {
	s := NewClientAtServer(t, newCodec)
	s.Receive(`{"event":"system.connected","content":{"server_version":"1.0","capabilities":["plan"]}}`)
	s.Command(protocol.DoCreate, "", protocol.CreateData{Title: "x"})
	s.Receive(`{"event":"agent.session_created","session_id":"sess_123","metadata":{"agent_name":"ppt"}}`)
	s.Call(protocol.DoSubscribe, "sess_123", protocol.SubscribeData{}, nil)
	s.Call(protocol.DoSend, "sess_123", protocol.SendData{Text: "make slides"}, nil)
	s.TakeSent()
	return s
}

// IncludesJSON reports whether a has the values of b. Objects of a may have further fields.
func IncludesJSON(a, b json.RawMessage) bool {
	var of, want []json.RawMessage
	if o := wire.ParseObject(b); o != nil {
		have := wire.ParseObject(a)
		for name, v := range o {
			if !IncludesJSON(have[name], v) {
				return false
			}
		}
		return true
	}
	if len(b) > 0 && b[0] == '[' && json.Unmarshal(a, &of) == nil && json.Unmarshal(b, &want) == nil {
		for i, v := range want {
			if i >= len(of) || !IncludesJSON(of[i], v) {
				return false
			}
		}
		return len(of) == len(want)
	}
	return EqualJSON(a, b)
}

// EqualJSON reports whether two JSON values are equal, except for the order of fields.
func EqualJSON(a, b json.RawMessage) bool {
	decode := func(raw json.RawMessage) (v any, err error) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		err = d.Decode(&v)
		return v, err
	}
	x, err1 := decode(a)
	y, err2 := decode(b)
	return err1 == nil && err2 == nil && reflect.DeepEqual(x, y)
}
