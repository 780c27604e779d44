package effectiveagent

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var seeds = []string{
	`{"type":"subscribe","agentRuntimeId":"s1"}`, `{"type":"unsubscribe","agentRuntimeId":"s1"}`,
	`{"type":"send","targetAgentRuntimeId":"s1","payload":{"type":"input","payload":{"text":"hi"},"metadata":{"agentctl":{"command":"approve"}}}}`,
	`{"type":"activity","agentRuntimeId":"r","activity":{"sequence":1,"timestamp":"2024-07-29T10:00:00Z","type":"output","payload":"x","agentRuntimeId":"r"}}`,
	`{"type":"activity","agentRuntimeId":"r","activity":{"type":"STATE_CHANGE","timestamp":1722247200000,"payload":{"state":"idle"}}}`,
	`{"type":"activity","agentRuntimeId":"r","activity":{"payload":{"part":"p","text":"x"},"metadata":{"agentctl":{"event":"text.delta","turn":"t1"}}}}`,
	`{"type":"activity","agentRuntimeId":"r","activity":{"payload":{"message_id":"m","text":"x"},"metadata":{"agentctl":{"event":"message.user","turn":"t1"}}}}`,
	`{"type":"activity","agentRuntimeId":"r","activity":{"payload":{"reason":"completed"},"metadata":{"agentctl":{"event":"turn.ended","turn":"t1"}}}}`,
	`{"type":"send","targetAgentRuntimeId":"r","payload":{"type":"input","payload":"hi"}}`,
	`{"type":"subscribe","agentRuntimeId":"s1","metadata":{"agentctl":{"after":"9f3ac1:0"}}}`,
	`{"type":"activity","agentRuntimeId":"r","activity":{"payload":null,"type":"status","metadata":{"agentctl":{"after":"9f3ac1:5"}}}}`,
	`{"type":"activity","agentRuntimeId":"r","activity":{"id":"9f3ac1:5","payload":{"part":"p","text":"x"},"metadata":{"agentctl":{"event":"text.delta","turn":"t1"}}}}`,
	`{"type":"activity","agentRuntimeId":"r","activity":{"type":"status","metadata":{"agentctl":{"after":"e1:7","state":{"seq":7,"turn":{"turn":"t"}},"until":9}}}}`,
	`{"type":"error","code":"AGENT_RUNTIME_SEND_FAILED","message":"no","details":"no_session"}`, `{`, `null`, `[]`, `"x"`,
}

// For any messages of a foreign client, agentctl's server gets valid commands, few of them, and the
// client JSON.
func FuzzServer(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), false)
		f.Add([]byte(`{"type":"subscribe","agentRuntimeId":"s1"}`+"\n"+s), true)
	}
	f.Fuzz(func(t *testing.T, frames []byte, event bool) {
		h := newServerHarness(t)
		for frame := range bytes.Lines(frames) {
			asked := len(h.commands)
			h.handleOutput(h.codec.Foreign(start, codec.Frame{Data: frame}))
			if n := len(h.commands) - asked; n > 2 {
				t.Fatalf("%q makes %d commands", frame, n)
			}
		}
		if event {
			h.publish("s1", protocol.Notice, "", protocol.NoticeData{Message: "x"})
		}
	})
}

// For any messages of a server that claims to be agentctl, the client keeps working, and every
// command is answered or the connection closed.
func FuzzAgentctlServer(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte(seeds[len(seeds)-6] + "\n" + s))
	}
	f.Fuzz(func(t *testing.T, frames []byte) {
		g := newAgentctlClientHarness(t, nil)
		g.mayClose = true
		look := g.send(protocol.DoSnapshot, "r", nil)
		decide := g.send(protocol.DoApprove, "r", protocol.ApproveData{Decision: protocol.Deny})
		for frame := range bytes.Lines(frames) {
			g.receive(string(frame))
		}
		s := g.codec.sessions["r"]
		g.advance(time.Minute)
		if _, ok := g.answers[look]; !ok && (s == nil || len(s.held) == 0) {
			t.Fatal("the snapshot has no answer")
		}
		if _, ok := g.answers[decide]; !ok && (s == nil || len(s.held) == 0) && len(g.codec.pending) == 0 {
			t.Fatal("the decision has no answer")
		}
		g.send(protocol.DoSubscribe, "r", nil)
		if line := protocol.MustEncode(g.codec.state.sessions["r"].log.State); !json.Valid(line) {
			t.Fatalf("state %s", line)
		}
	})
}

// For any messages of a foreign server, the client keeps working and produces valid events, in not
// many more bytes than it received.
func FuzzClient(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), uint16(0))
		f.Add([]byte(s+"\n"+s), uint16(700))
	}
	f.Fuzz(func(t *testing.T, frames []byte, wait uint16) {
		g := newFollowingClient(t)
		send := g.send(protocol.DoSend, "r", protocol.SendData{Text: "x"})
		for frame := range bytes.Lines(frames) {
			g.receive(string(frame))
			g.advance(time.Duration(wait) * time.Millisecond)
		}
		total := 0
		for i := range g.events {
			total += len(g.events[i].AppendJSON(nil))
		}
		if total > 1<<14+64*len(frames) {
			t.Fatalf("%d bytes became %d", len(frames), total)
		}
		g.advance(time.Minute)
		if _, ok := g.answers[send]; !ok {
			t.Fatal("the send has no answer")
		}
		if id := g.send(protocol.DoPing, "", nil); g.answers[id].Error != nil {
			t.Fatal("no answer to a ping")
		}
		if line := protocol.MustEncode(g.state); !json.Valid(line) {
			t.Fatalf("state %s", line)
		}
		again := newClientHarness(t, &codec.ClientState{Value: g.codec.state}) // the same frames on another connection
		again.mayClose = true                                                  // without a message about r
		look := again.send(protocol.DoSnapshot, "r", nil)
		again.send(protocol.DoSubscribe, "r",
			protocol.SubscribeData{Position: &protocol.Position{Epoch: "older", Seq: 1}})
		for frame := range bytes.Lines(frames) {
			again.receive(string(frame))
		}
		again.advance(time.Minute)
		if _, ok := again.answers[look]; !ok && len(again.codec.sessions["r"].held) == 0 {
			t.Fatal("after a reconnect a snapshot has no answer")
		}
	})
}
