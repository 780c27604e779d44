package client

import (
	"bytes"
	"testing"
	"time"

	"agentctl/internal/dev/agentlooptest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// FuzzClient: for any messages of a server, the client gets valid events of bounded size and stays
// connected.
func FuzzClient(f *testing.F) {
	agentlooptest.Seeds(f)
	f.Fuzz(func(t *testing.T, frames []byte) {
		memory := new(codec.ClientState)
		o := codec.ClientOptions{URL: "ws://x", Resume: memory, PeerIsAgentctl: len(frames)%2 == 0}
		g := resumeClientHarness(t, o, nil)
		g.Send(protocol.DoWatch, nil)
		for i, frame := range bytes.Split(frames, []byte("\n")) {
			if i%7 == 6 { // on another connection, sent in one frame
				g = resumeClientHarness(t, o, &protocol.Position{Epoch: "older", Seq: 1}, string(frame))
				continue
			}
			before := len(g.Events)
			g.Receive(string(frame))
			if n := len(g.Events) - before; n > len(frame)/8+16+maxHeld*4+maxParts {
				t.Fatalf("%d events of a frame of %d bytes", n, len(frame))
			}
			switch i % 5 {
			case 0:
				g.Send(protocol.DoSend, protocol.SendData{Text: "hi", Front: i%2 == 0})
			case 1:
				g.Send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.Explain})
			case 2:
				g.Send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.AllowOnce})
			case 3:
				g.Send(protocol.DoContext, nil)
			case 4:
				g.Advance(time.Second)
			}
		}
		g.Advance(time.Hour)
		if !g.Wake.IsZero() {
			t.Fatal("something waits for ever")
		}
	})
}
