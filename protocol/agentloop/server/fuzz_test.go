package server

import (
	"bytes"
	"encoding/json"
	"testing"

	"agentctl/internal/dev/agentlooptest"
	"agentctl/protocol"
)

// FuzzServer: for any messages of a client, agentctl's server gets valid commands and the client
// valid messages.
func FuzzServer(f *testing.F) {
	agentlooptest.Seeds(f)
	f.Fuzz(func(t *testing.T, frames []byte) {
		h := newServerHarness(t, "/x", true)
		h.Record(agentlooptest.Asks("x"), agentlooptest.Wants("a1", "ls", ""))
		for _, frame := range bytes.Split(frames, []byte("\n")) {
			h.Receive(string(frame))
			h.SentMessages()
		}
		for _, c := range h.Commands {
			if _, err := protocol.DecodeCommand(protocol.MustEncode(c)); err != nil {
				t.Fatalf("%v: %+v", err, c)
			}
			v := protocol.CommandOf(c.Command).Data()
			if err := c.DecodeData(v); err != nil {
				t.Fatalf("%v: %s", err, c.Data)
			}
		}
	})
}

// FuzzEvents: for any events of a session, the client gets valid messages.
func FuzzEvents(f *testing.F) {
	for i, typ := range protocol.EventTypes {
		f.Add(i, []byte(protocol.MustEncode(typ.New())))
	}
	f.Fuzz(func(t *testing.T, which int, raw []byte) {
		data, ok := protocol.Compact(raw)
		if !ok {
			return
		}
		typ := protocol.EventTypes[uint(which)%uint(len(protocol.EventTypes))]
		if typ.Ephemeral || json.Unmarshal(data, typ.New()) != nil {
			return
		}
		h := newServerHarness(t, "", true)
		h.Record(agentlooptest.Asks("x"), agentlooptest.Entry(typ.Type, json.RawMessage(data)),
			agentlooptest.Entry(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c"}), agentlooptest.Entry(typ.Type, json.RawMessage(data)))
		h.Record(agentlooptest.Ends(protocol.ReasonCompleted))
		if codecOf(h).session.view.turn.buffered != 0 || !h.Wake.IsZero() {
			t.Fatalf("after the turn %d bytes are kept, wake %v", codecOf(h).session.view.turn.buffered, h.Wake)
		}
	})
}
