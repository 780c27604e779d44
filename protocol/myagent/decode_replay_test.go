package myagent

import (
	"strings"
	"testing"

	"agentctl/protocol"
)

// X-8, MY-7, MY-9: the document's replay is one notice with a list of events. The client accepts it
// after a reconnect with and without a state: received events are skipped, old confirmations are
// requested again only if they are pending, and the turn goes on.
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
				s.receive(`{"event":"agent.final_answer","seq":2,"content":"first"}`,
					`{"event":"agent.state_exported","session_id":"sess_123","seq":3,"metadata":{"signed_state":{"state":{},"signature":"s"}}}`)
				s.call(protocol.DoSend, "sess_123", protocol.SendData{Text: "more"}, nil)
			}
			s.receive(`{"event":"agent.thinking","seq":4,"content":"heard"}`)
			was := s.at
			s.connect()
			s.receive(`{"event":"system.connected","content":{"server_version":"1.0","capabilities":["plan"]}}`)
			id := s.command(protocol.DoSubscribe, "sess_123", protocol.SubscribeData{Position: &was})
			want, how := userReconnect, protocol.ResumeReplayed
			if c.state {
				want, how = userReconnectState, protocol.ResumeRestored
			}
			if m := s.takeSent(); len(m) != 1 || string(m[0].Event) != want ||
				parseObject(m[0].Content).int("last_seq") != 4 {
				t.Fatalf("sent %+v", m)
			}
			s.receive(c.notice)
			if a, ok := s.answers[id]; !ok || a.Error != nil || s.modes[len(s.modes)-1] != protocol.ModeResume ||
				!strings.Contains(string(a.Result), how) {
				t.Fatalf("%t %s %+v", ok, a.Result, a.Error)
			}
			transcript := string(protocol.MustEncode(s.transcript.Current()))
			for what, n := range map[string]int{
				"heard": 1, "missed": 1, "by the way": 1, "of.tomorrow": 2, "sure?": 1,
			} {
				if strings.Count(transcript, what) != n {
					t.Errorf("%q occurs %d times in %s", what, strings.Count(transcript, what), transcript)
				}
			}
			if len(s.state.Approvals) != 0 || s.state.Turn == nil {
				t.Errorf("pending %+v, turn %+v", s.state.Approvals, s.state.Turn)
			}
			s.receive(`{"event":"agent.final_answer","content":"done"}`)
			if s.state.Turn != nil || s.state.Last.Reason != protocol.ReasonCompleted {
				t.Errorf("ended %+v", s.state.Last)
			}
		})
	}
}

// MY-9: a pending confirmation is requested again.
func TestAConfirmationThatWaitsIsAskedAgain(t *testing.T) {
	s := attachedClient(t)
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.receive(serverFrame(4, "agent.final_answer", "8202", `,"content":"first"`),
		serverFrame(5, "agent.state_exported", "8202", `,"metadata":{"signed_state":{"state":{},"signature":"s"}}`))
	was := s.at
	s.connect()
	s.receive(`{"event":"system.connected","seq":1}`)
	s.command(protocol.DoSubscribe, "8202", protocol.SubscribeData{Position: &was})
	s.receive(
		`{"event":"agent.state_restored","session_id":"9000","metadata":{"pending_confirmations":["now",{"step_id":"too"}]}}`,
		`{"event":"agent.user_confirm","session_id":"9000","step_id":"old","metadata":{"orig_seq":7}}`,
		`{"event":"agent.user_confirm","session_id":"9000","step_id":"now","metadata":{"orig_seq":8}}`,
		`{"event":"agent.user_confirm","session_id":"9000","step_id":"too","metadata":{"orig_seq":9}}`,
	)
	log := s.codec.(*client).findSession("8202").log
	if a := log.State.Approvals; len(a) != 2 || a[0].Request != "now" || a[1].Request != "too" {
		t.Errorf("pending %+v", a)
	}
}
