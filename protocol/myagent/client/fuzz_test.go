package client

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// FuzzClient: for any frame of a server, the codec does not panic or close, and the client's events
// apply.
func FuzzClient(f *testing.F) {
	for _, s := range myagenttest.Seeds {
		f.Add([]byte(s), true)
		f.Add([]byte(s+"\n"+myagenttest.Seeds[13]+"\n"+s), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, kin bool) {
		u := myagenttest.NewClient(t, openClient)
		u.Dial(func(fr codec.Frame) {
			if !json.Valid(fr.Data) {
				t.Fatalf("not JSON: %s", fr.Data)
			}
		})
		receive := func(frame []byte) {
			u.Now = u.Now.Add(time.Second)
			u.Deliver(u.Codec.Foreign(u.Now, codec.Frame{Data: frame}))
		}
		u.Command(protocol.DoHello, "", protocol.HelloData{Name: "ada"})
		if kin {
			receive([]byte(`{"event":"system.connected","content":{"capabilities":["turns","reply","reconnect"]}}`))
		} else {
			receive([]byte(`{"event":"system.connected"}`))
		}
		u.Command(protocol.DoSubscribe, "a", protocol.SubscribeData{})
		receive([]byte(`{"event":"system.error","content":"Unknown event type or missing session_id: user.reconnect"}`))
		receive([]byte(`{"event":"agent.session_created","session_id":"a","seq":2,"metadata":{"connection_id":"c"}}`))
		receive([]byte(`{"event":"system.notice","metadata":{"action":"reply","reply_to":"q_2","result":{"session":"a"}}}`))
		u.Command(protocol.DoSend, "a", protocol.SendData{Text: "hi"})
		for line := range bytes.Lines(data) {
			receive(line)
		}
		u.Command(protocol.DoInterrupt, "a", protocol.InterruptData{})
		u.Command(protocol.DoApprove, "a", protocol.ApproveData{Decision: protocol.AllowOnce})
		u.Command(protocol.DoAck, "a", protocol.AckData{Seq: u.At.Seq})
		u.Command(protocol.DoList, "", protocol.ListData{})
		u.Command(protocol.DoSnapshot, "a", nil)
		waits := func() {
			for range 5 {
				u.Now = u.Now.Add(time.Minute)
				out := u.Codec.Wake(u.Now)
				if out.Close != nil && out.Close.Reason != "no answer to a reconnect" {
					t.Fatal("the codec closed the connection")
				}
				u.Deliver(out)
			}
		}
		waits()
		at := u.At
		u.Dial(u.ToServer) // the same frames on another connection
		receive([]byte(`{"event":"system.connected"}`))
		u.Command(protocol.DoSubscribe, "a", protocol.SubscribeData{Position: &at})
		for line := range bytes.Lines(data) {
			receive(line)
		}
		waits()
	})
}
