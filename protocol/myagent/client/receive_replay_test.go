package client

import (
	"strings"
	"testing"

	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// X-8, MY-7, MY-9: the document's replay is one notice with a list of events. The client accepts it
// after a reconnect with and without a state: received events are skipped, old confirmations are
// requested again only if they are pending, and the turn continues.
func TestAReplayMayBeAListOfEvents(t *testing.T) {
	missed := `[{"event":"agent.thinking","seq":4,"content":"heard"},{"event":"agent.thinking","seq":5,"content":"missed"},` +
		`{"event":"agent.user_confirm","seq":6,"step_id":"old","content":"sure?"},{"event":"system.heartbeat","seq":7},` +
		`{"event":"system.notice","seq":8,"content":{"message":"by the way"}},{"event":"of.tomorrow","seq":9},7]`
	for _, c := range []struct {
		name, notice string
		state        bool
	}{
		{"as content", `{"event":"system.notice","content":` + missed + `}`, false},
		{"in the content", `{"event":"system.notice","content":{"message":"replay","events":` + missed + `}}`, false},
		{
			"in the metadata",
			`{"event":"system.notice","session_id":"sess_123","content":"Replayed","metadata":{"action":"replay","events":` + missed + `}}`,
			false,
		},
		{"with a state", `{"event":"system.notice","session_id":"sess_123","content":` + missed + `}`, true},
		{
			"with a state, under another id",
			`{"event":"system.notice","session_id":"sess_456","content":` + missed + `}`, true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := documentClient(t)
			if c.state {
				s.Receive(`{"event":"agent.final_answer","seq":2,"content":"first"}`,
					`{"event":"agent.state_exported","session_id":"sess_123","seq":3,"metadata":{"signed_state":{"state":{},"signature":"s"}}}`)
				s.Call(protocol.DoSend, "sess_123", protocol.SendData{Text: "more"}, nil)
			}
			s.Receive(`{"event":"agent.thinking","seq":4,"content":"heard"}`)
			was := s.At
			s.Connect()
			s.Receive(`{"event":"system.connected","content":{"server_version":"1.0","capabilities":["plan"]}}`)
			id := s.Command(protocol.DoSubscribe, "sess_123", protocol.SubscribeData{Position: &was})
			want, how := wire.UserReconnect, protocol.ResumeReplayed
			if c.state {
				want, how = wire.UserReconnectState, protocol.ResumeRestored
			}
			if m := s.TakeSent(); len(m) != 1 || string(m[0].Event) != want ||
				wire.ParseObject(m[0].Content).Int("last_seq") != 4 {
				t.Fatalf("sent %+v", m)
			}
			s.Receive(c.notice)
			if a, ok := s.Answers[id]; !ok || a.Error != nil || s.Modes[len(s.Modes)-1] != protocol.ModeResume ||
				!strings.Contains(string(a.Result), how) {
				t.Fatalf("%t %s %+v", ok, a.Result, a.Error)
			}
			transcript := string(protocol.MustEncode(s.Transcript.Current()))
			for what, n := range map[string]int{
				"heard": 1, "missed": 1, "by the way": 1, "of.tomorrow": 2, "sure?": 1,
			} {
				if strings.Count(transcript, what) != n {
					t.Errorf("%q occurs %d times in %s", what, strings.Count(transcript, what), transcript)
				}
			}
			if len(s.State.Approvals) != 0 || s.State.Turn == nil {
				t.Errorf("pending %+v, turn %+v", s.State.Approvals, s.State.Turn)
			}
			s.Receive(`{"event":"agent.final_answer","content":"done"}`)
			if s.State.Turn != nil || s.State.Last.Reason != protocol.ReasonCompleted {
				t.Errorf("ended %+v", s.State.Last)
			}
		})
	}
}

// MY-9: a pending confirmation is requested again.
func TestAConfirmationThatWaitsIsAskedAgain(t *testing.T) {
	s := attachedClient(t)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.Receive(myagenttest.Frame(4, "agent.final_answer", "8202", `,"content":"first"`),
		myagenttest.Frame(5, "agent.state_exported", "8202", `,"metadata":{"signed_state":{"state":{},"signature":"s"}}`))
	was := s.At
	s.Connect()
	s.Receive(`{"event":"system.connected","seq":1}`)
	s.Command(protocol.DoSubscribe, "8202", protocol.SubscribeData{Position: &was})
	s.Receive(
		`{"event":"agent.state_restored","session_id":"9000","metadata":{"pending_confirmations":["now",{"step_id":"too"}]}}`,
		`{"event":"agent.user_confirm","session_id":"9000","step_id":"old","metadata":{"orig_seq":7}}`,
		`{"event":"agent.user_confirm","session_id":"9000","step_id":"now","metadata":{"orig_seq":8}}`,
		`{"event":"agent.user_confirm","session_id":"9000","step_id":"too","metadata":{"orig_seq":9}}`,
	)
	log := s.Codec.(*Conn).sessions.find("8202").log
	if a := log.State.Approvals; len(a) != 2 || a[0].Request != "now" || a[1].Request != "too" {
		t.Errorf("pending %+v", a)
	}
}
