package agentloop

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// seeds adds frames; a fuzzed input is frames, one a line.
func seeds(f *testing.F) {
	var all [][]byte
	for _, e := range examples(f) {
		f.Add([]byte(e))
		all = append(all, e)
	}
	f.Add(bytes.Join(all, []byte("\n")))
	f.Add([]byte(strings.Repeat("[", 5000)))
	f.Add([]byte(`{"id":"1","type":"response_item","payload":{"type":"reasoning","duration_ms":1e300}}`))
	f.Add([]byte(loads(true) + "\n" + request + "\n" + request + "\n" + loads(false)))
	f.Add([]byte("{\"id\":\"1\",\"type\":\"\xff\"}"))
	echo := response(`{"type":"message","role":"user","content":"x"}`)
	says := response(`{"id":"p","type":"message","role":"assistant","content":"hé"}`)
	call := response(`{"type":"local_shell_call","id":"s","action":{"command":["ls"]}}`)
	f.Add([]byte(strings.Join([]string{
		loads(true), echo, says, request, call, says, loads(true), echo, says, call,
		says, says, request, loads(true),
	}, "\n")))
	f.Add([]byte(strings.Join([]string{loads(true), echo, request, call, call, says, says, request, loads(false)},
		"\n")))
}

// FuzzClient: for any messages of a server, the client gets valid events of bounded size and stays
// connected.
func FuzzClient(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, frames []byte) {
		memory := new(codec.ClientState)
		o := codec.ClientOptions{URL: "ws://x", Resume: memory, PeerIsAgentctl: len(frames)%2 == 0}
		g := resumeClientHarness(t, o, nil)
		g.send(protocol.DoWatch, nil)
		for i, frame := range bytes.Split(frames, []byte("\n")) {
			if i%7 == 6 { // on another connection, sent at once
				g = resumeClientHarness(t, o, &protocol.Position{Epoch: "older", Seq: 1}, string(frame))
				continue
			}
			before := len(g.events)
			g.receive(string(frame))
			if n := len(g.events) - before; n > len(frame)/8+16+maxHeld*4+maxParts {
				t.Fatalf("%d events of a frame of %d bytes", n, len(frame))
			}
			switch i % 5 {
			case 0:
				g.send(protocol.DoSend, protocol.SendData{Text: "hi", Front: i%2 == 0})
			case 1:
				g.send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.Explain})
			case 2:
				g.send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.AllowOnce})
			case 3:
				g.send(protocol.DoContext, nil)
			case 4:
				g.advance(time.Second)
			}
		}
		g.advance(time.Hour)
		if !g.wake.IsZero() {
			t.Fatal("something waits for ever")
		}
	})
}

// FuzzServer: for any messages of a client, agentctl's server gets valid commands and the client
// valid messages.
func FuzzServer(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, frames []byte) {
		h := newServerHarness(t, "/x", true)
		h.record(asks("x"), wants("a1", "ls", ""))
		for _, frame := range bytes.Split(frames, []byte("\n")) {
			h.receive(string(frame))
			h.sentMessages()
		}
		for _, c := range h.commands {
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
		h.record(asks("x"), entry(typ.Type, json.RawMessage(data)),
			entry(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c"}), entry(typ.Type, json.RawMessage(data)))
		h.record(ends(protocol.ReasonCompleted))
		if h.codec.turn.buffered != 0 || !h.wake.IsZero() {
			t.Fatalf("after the turn %d bytes are kept, wake %v", h.codec.turn.buffered, h.wake)
		}
	})
}
