package myagent

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// foreignSeeds are frames of both ends, and invalid ones.
var foreignSeeds = []string{
	`{"event":"user.create_session","content":{"a":1}}`, `{"event":"user.message","session_id":"s1","content":"hi"}`,
	`{"event":"user.response","step_id":"confirm_r1","content":{"approved":true,"tasks":[{"id":1}]}}`,
	`{"event":"user.ack","content":{"last_seq":12}}`,
	`{"event":"user.reconnect","session_id":"s1","content":{"last_event_id":"conn_1-2"}}`,
	`{"event":"user.solve_tasks","content":{"tasks":[1,"a",{}]}}`,
	`{"event":"user.reconnect_with_state","signed_state":{"state":{},"timestamp":1,"signature":"x","version":"1.0","checksum":"y"}}`,
	`{"event":"user.request_state"}`, `{"event":"user.cancel"}`, `{"event":"user.cancel_task","content":{"task_id":1}}`,
	`{"event":"user.replan"}`,
	`{"event":"system.connected","content":{"server_version":"1","capabilities":["turns","reply","reconnect"]}}`,
	`{"event":"agent.session_created","session_id":"a","content":"x","metadata":{"agent_name":"z","connection_id":"c"},"seq":2}`,
	`{"event":"agent.thinking","session_id":"a","content":"x","metadata":{"streaming":true},"seq":3}`,
	`{"event":"agent.partial_answer","session_id":"a","content":"x","seq":4,"metadata":{"part":"p","turn_id":"t"}}`,
	`{"event":"agent.final_answer","session_id":"a","content":{"x":[1]},"seq":5}`,
	`{"event":"agent.tool_call","session_id":"a","step_id":"s","metadata":{"tool":"t","args":{"a":1}}}`,
	`{"event":"agent.tool_result","session_id":"a","step_id":"s","metadata":{"status":"failed","content":[{"type":"x"}],"data":[]}}`,
	`{"event":"agent.user_confirm","session_id":"a","step_id":"s","metadata":{"scope":"plan","tasks":[{"id":1,"title":2}],"options":7}}`,
	`{"event":"system.notice","session_id":"a","metadata":{"action":"message.user","data":{"message_id":"m"},"turn_id":"t"}}`,
	`{"event":"system.notice","session_id":"a","metadata":{"action":"reconnected","mode":"snapshot","state":{"approvals":[{}],"turn":null}}}`,
	`{"event":"system.notice","metadata":{"action":"reply","reply_to":"q_3","result":{"session":"a"}}}`,
	`{"event":"plan.completed","session_id":"a","content":{"tasks":[{"id":1,"after":[2,"x"]}]}}`,
	`{"event":"solver.completed","session_id":"a","content":{"result":{}}}`,
	`{"event":"error.timeout","session_id":"a","content":7,"metadata":{"timeout_seconds":1e300,"elapsed_seconds":-1,"errors":[1,{}]}}`,
	`{"event":"agent.state_restored","session_id":"b","metadata":{"original_session_id":"a","position":"x"}}`,
	`{"event":"agent.session_end","session_id":"a"}`,
	`{"event":"x.y","session_id":"a","seq":-1,"timestamp":5}`, `[]`, `{}`, ``, "\xff",
	`{"event":"user.message","content":` + string(bytes.Repeat([]byte("["), 9000)),
	`{"event":"user.message","session_id":"a","content":` + nested(9990) + `}`,
	`{"event":"agent.tool_call","session_id":"a","metadata":{"args":` + nested(9995) + `}}`,
	`{"event":"system.notice","content":[{"event":"agent.thinking","seq":4,"content":"x"},{"event":"system.notice","content":[{"event":"x"}]},7]}`,
	`{"event":"system.notice","session_id":"a","metadata":{"action":"replay","events":[{"event":"agent.user_confirm","step_id":"s","metadata":{"orig_seq":1}}]}}`,
	`{"event":"agent.state_restored","session_id":"b","metadata":{"pending_confirmations":["s",{"step_id":7},[]]}}`,
	`{"event":"solver.retry","session_id":"a","metadata":` + nested(120) + `}`,
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// FuzzServer: for any frame of a client, the codec does not panic or close, and sends valid frames
// and commands, in bounded number.
func FuzzServer(f *testing.F) {
	for _, s := range foreignSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newServerTest(t, newNativeServer(t), new(codec.ResumeStore))
		b.receive(`{"event":"user.create_session"}`)
		b.receiveNative(b.native.append("s1", planApprovalTurn()...)...)
		for line := range bytes.Lines(data) {
			before := len(b.raw)
			b.now = b.now.Add(time.Second)
			b.receive(string(line))
			if b.out.Close != nil {
				t.Fatal("the codec closed the connection")
			}
			if n := len(b.raw) - before; n > maxReplay+16 {
				t.Fatalf("%d frames for one line", n)
			}
		}
		b.wake(time.Hour)
		for _, raw := range b.raw {
			if !json.Valid(raw) {
				t.Fatalf("not JSON: %s", raw)
			}
		}
	})
}

// FuzzClient: for any frame of a server, the codec does not panic or close, and the client's events
// apply.
func FuzzClient(f *testing.F) {
	for _, s := range foreignSeeds {
		f.Add([]byte(s), true)
		f.Add([]byte(s+"\n"+foreignSeeds[13]+"\n"+s), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, kin bool) {
		u := newTestClient(t)
		u.dial(func(fr codec.Frame) {
			if !json.Valid(fr.Data) {
				t.Fatalf("not JSON: %s", fr.Data)
			}
		})
		receive := func(frame []byte) {
			u.now = u.now.Add(time.Second)
			u.deliver(u.codec.Foreign(u.now, codec.Frame{Data: frame}))
		}
		u.command(protocol.DoHello, "", protocol.HelloData{Name: "ada"})
		if kin {
			receive([]byte(`{"event":"system.connected","content":{"capabilities":["turns","reply","reconnect"]}}`))
		} else {
			receive([]byte(`{"event":"system.connected"}`))
		}
		u.command(protocol.DoSubscribe, "a", protocol.SubscribeData{})
		receive([]byte(`{"event":"system.error","content":"Unknown event type or missing session_id: user.reconnect"}`))
		receive([]byte(`{"event":"agent.session_created","session_id":"a","seq":2,"metadata":{"connection_id":"c"}}`))
		receive([]byte(`{"event":"system.notice","metadata":{"action":"reply","reply_to":"q_2","result":{"session":"a"}}}`))
		u.command(protocol.DoSend, "a", protocol.SendData{Text: "hi"})
		for line := range bytes.Lines(data) {
			receive(line)
		}
		u.command(protocol.DoInterrupt, "a", protocol.InterruptData{})
		u.command(protocol.DoApprove, "a", protocol.ApproveData{Decision: protocol.AllowOnce})
		u.command(protocol.DoAck, "a", protocol.AckData{Seq: u.at.Seq})
		u.command(protocol.DoList, "", protocol.ListData{})
		u.command(protocol.DoSnapshot, "a", nil)
		waits := func() {
			for range 5 {
				u.now = u.now.Add(time.Minute)
				out := u.codec.Wake(u.now)
				if out.Close != nil && out.Close.Reason != "no answer to a reconnect" {
					t.Fatal("the codec closed the connection")
				}
				u.deliver(out)
			}
		}
		waits()
		at := u.at
		u.dial(u.toServer) // the same frames on another connection
		receive([]byte(`{"event":"system.connected"}`))
		u.command(protocol.DoSubscribe, "a", protocol.SubscribeData{Position: &at})
		for line := range bytes.Lines(data) {
			receive(line)
		}
		waits()
	})
}
