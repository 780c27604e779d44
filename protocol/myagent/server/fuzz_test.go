package server

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol/codec"
)

// FuzzServer: for any frame of a client, the codec does not panic or close, and sends valid frames
// and commands, in bounded number.
func FuzzServer(f *testing.F) {
	for _, s := range myagenttest.Seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newServerTest(t, myagenttest.NewNativeServer(t), new(codec.ResumeStore))
		b.Receive(`{"event":"user.create_session"}`)
		b.ReceiveNative(b.Native.Append("s1", myagenttest.PlanApprovalTurn()...)...)
		for line := range bytes.Lines(data) {
			before := len(b.Raw)
			b.Now = b.Now.Add(time.Second)
			b.Receive(string(line))
			if b.Closed != nil {
				t.Fatal("the codec closed the connection")
			}
			if n := len(b.Raw) - before; n > maxReplay+16 {
				t.Fatalf("%d frames for one line", n)
			}
		}
		b.Advance(time.Hour)
		for _, raw := range b.Raw {
			if !json.Valid(raw) {
				t.Fatalf("not JSON: %s", raw)
			}
		}
	})
}
