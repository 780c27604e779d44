package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// An unmatched error is recorded in the session; reasoning without a part id gets one; Open
// schedules a wake.
func TestUnmatchedFramesOfARealServer(t *testing.T) {
	s := attachedClient(t)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "weather?"}, nil)
	s.Receive(myagenttest.Frame(4, wire.AgentThinking, "8202", `,"content":"hm"`))
	if it := s.LastItem(); it.Kind != protocol.ItemReasoning || it.ID == "" || it.Text.String() != "hm" {
		t.Errorf("reasoning: %+v", it)
	}
	before := len(s.Transcript.Current().Items)
	s.Receive(myagenttest.Frame(5, wire.SystemError, "8202", `,"content":"Session not found"`))
	if len(s.Transcript.Turns[0].Items) == before && s.State.Turn != nil {
		t.Error("an unmatched error is not recorded")
	}
	if out := New(codec.ClientOptions{
		Name: "ada", ID: codectest.IDs(), Resume: new(codec.ClientState),
	}).Open(codectest.Start); !out.Wake.Equal(codectest.Start.Add(greetingTimeout)) {
		t.Errorf("wake at %s", out.Wake)
	}
}

// MY-8, MY-11, MY-14, MY-23: a turn with a tool approval on a real server. Seqs have gaps and are
// out of order. The server dropped pieces of the answer: the rest is progress, the final answer is
// the text.
func TestATurnOnARealServer(t *testing.T) {
	s := attachedClient(t)
	var sent protocol.SendResult
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "weather?"}, &sent)
	if m := s.TakeSent(); len(m) != 1 || m[0].Event != wire.UserMessage || m[0].Session != "8202" ||
		wire.Scalar(m[0].Content) != "weather?" || sent.Status != protocol.SendStarted {
		t.Fatalf("%+v %+v", m, sent)
	}
	s.Receive(
		myagenttest.Frame(4, "agent.thinking", "8202", `,"content":"Thinking about step 1","metadata":{"step":1}`),
		myagenttest.Frame(5, "agent.tool_call", "8202",
			`,"step_id":"step_0_get_weather","content":"calling","metadata":{"tool":"get_weather","args":{"city":"Paris"},"status":"running"}`),
		myagenttest.Frame(6, "agent.user_confirm", "8202",
			`,"step_id":"confirm_05ae3bfd_get_weather","content":"Confirm?","metadata":{"tool_name":"get_weather","tool_description":"Get it","tool_args":{"city":"Paris"},"requires_confirmation":true}`),
	)
	a := s.State.Approvals[0]
	if a.Kind != protocol.ApproveTool || a.Name != "get_weather" || string(a.Input) != `{"city":"Paris"}` ||
		len(a.Options) != 3 || a.Options[2].Kind != protocol.DenyStop {
		t.Errorf("%+v", a)
	}
	if e := s.CallError(protocol.DoApprove, "work",
		protocol.ApproveData{Decision: protocol.Explain}); e.Code != protocol.CodeUnsupported {
		t.Errorf("%+v", e)
	}
	if e := s.CallError(protocol.DoApprove, "work", protocol.ApproveData{
		Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Command: "ls"},
	}); e.Code != protocol.CodeUnsupported {
		t.Errorf("an edited command: %+v", e)
	}
	s.Call(protocol.DoApprove, "work", protocol.ApproveData{Decision: protocol.AllowOnce}, nil)
	if m := s.TakeSent(); len(m) != 1 || m[0].Step != "confirm_05ae3bfd_get_weather" ||
		!myagenttest.EqualJSON(m[0].Content, []byte(`{"approved":true,"confirmed":true}`)) {
		t.Errorf("%+v", m)
	}
	if e := s.CallError(protocol.DoApprove, "work", protocol.ApproveData{
		Request: a.Request, Decision: protocol.Deny,
	}); e.Code != protocol.CodeConflict || e.Winner.By.Name != "ada" {
		t.Errorf("%+v", e)
	}
	s.Receive(
		myagenttest.Frame(7, "agent.tool_result", "8202",
			`,"step_id":"step_0_get_weather","content":"sunny","metadata":{"tool":"get_weather","status":"success"}`),
		myagenttest.Frame(10, "agent.partial_answer", "8202",
			`,"content":"It is ","metadata":{"is_streaming":true,"is_final":false}`),
		myagenttest.Frame(13, "agent.partial_answer", "8202",
			`,"content":"sunny","metadata":{"is_streaming":true,"is_final":false}`),
		myagenttest.Frame(12, "system.notice", "8202",
			`,"content":"Retrying","metadata":{"attempt":2,"total_attempts":3,"retry_delay_seconds":1.5,"error_type":"x","error":"boom"}`),
		myagenttest.Frame(14, "agent.partial_answer", "8202",
			`,"content":"","metadata":{"is_streaming":true,"is_final":true}`),
		myagenttest.Frame(15, "agent.final_answer", "8202", `,"content":"It is sunny in Paris today."`),
	)
	turn := s.Transcript.Current()
	var texts, kinds []string
	for _, it := range turn.Items {
		kinds = append(kinds, string(it.Kind)+string(it.Type))
		if it.Kind == protocol.ItemText {
			texts = append(texts, it.Text.String())
		}
		if it.Kind == protocol.ItemTool && (it.Text.String() != "sunny" ||
			it.Tool.End.Status != protocol.ToolCompleted || it.Tool.Name != "get_weather") {
			t.Errorf("%+v", it.Tool)
		}
	}
	if want := []string{
		"reasoning", "tool", "approval", "reasoning", "eventretry.scheduled", "text",
	}; !slices.Equal(kinds, want) {
		t.Errorf("items %v", kinds)
	}
	if !slices.Equal(texts, []string{"It is sunny in Paris today."}) || turn.End.Reason != protocol.ReasonCompleted {
		t.Errorf("%q %+v", texts, turn.End)
	}
	// MY-5: the highest seq is acknowledged, in both forms.
	s.TakeSent()
	s.Command(protocol.DoAck, "8202", protocol.AckData{Seq: s.At.Seq})
	if m := s.TakeSent(); len(m) != 1 || m[0].Event != wire.UserAck || m[0].Seq != 15 ||
		wire.ParseObject(m[0].Content).Int("last_seq") != 15 {
		t.Errorf("%+v", m)
	}
}

// a real server rejects messages during a turn, so the client queues them.
func TestMessagesWaitForARealServer(t *testing.T) {
	s := attachedClient(t)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.TakeSent()
	var r protocol.SendResult
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "two"}, &r)
	if r.Status != protocol.SendQueued || len(s.State.Queue) != 1 || len(s.TakeSent()) != 0 {
		t.Fatalf("%+v %+v", r, s.State.Queue)
	}
	s.Receive(myagenttest.Frame(4, "agent.error", "8202", `,"content":"Agent is currently running, please try again later"`))
	if s.State.Turn == nil {
		t.Fatal("the turn ended")
	}
	s.Receive(myagenttest.Frame(5, "agent.final_answer", "8202", `,"content":"done"`))
	if s.State.Turn == nil || s.State.Turn.Message.Text != "two" || len(s.State.Queue) != 0 {
		t.Fatalf("%+v", s.State)
	}
	if m := s.TakeSent(); !slices.ContainsFunc(m, func(m wire.Message) bool {
		return m.Event == wire.UserMessage &&
			wire.Scalar(m.Content) == "two"
	}) {
		t.Errorf("sent %+v", m)
	}
	// An interrupt is answered after the end of the turn.
	id := s.Command(protocol.DoInterrupt, "work", protocol.InterruptData{})
	if _, early := s.Answers[id]; early || s.TakeSent()[0].Event != wire.UserCancel {
		t.Error("answered immediately")
	}
	s.Receive(myagenttest.Frame(6, "agent.interrupted", "8202", `,"content":"Execution cancelled"`))
	if a := s.Answers[id]; a == nil || a.Error != nil || !strings.Contains(string(a.Result), `"interrupted":true`) ||
		s.State.Last.Reason != protocol.ReasonInterrupted {
		t.Errorf("%+v", s.Answers[id])
	}
}

// Sessions of a real server end with their connection, so a one-shot client can neither use nor
// read them.
func TestAOneShotClientIsUnsupportedAtARealServer(t *testing.T) {
	s := newClientTest(t)
	s.Codec.(*Conn).Options.OneShot = true
	s.Receive(`{"event":"system.connected","content":"Connected","metadata":{"connection_id":"c1"},"seq":1,"event_id":"c1-1"}`)
	for verb, data := range map[protocol.Verb]any{
		protocol.DoSend: protocol.SendData{Text: "x"}, protocol.DoSnapshot: nil,
		protocol.DoCreate: protocol.CreateData{},
	} {
		session := "work"
		if verb == protocol.DoCreate {
			session = ""
		}
		a := s.Answers[s.Command(verb, session, data)]
		if a.Error == nil || a.Error.Code != protocol.CodeUnsupported || len(s.TakeSent()) != 0 {
			t.Errorf("%s: %+v", verb, a)
		}
	}
}

// A server without a greeting may speak another protocol.
func TestAOneShotClientTimesOutWithoutAGreeting(t *testing.T) {
	s := newClientTest(t)
	s.Codec.(*Conn).Options.OneShot = true
	id := s.Command(protocol.DoSnapshot, "work", nil)
	s.Advance(greetingTimeout)
	if a := s.Answers[id]; a == nil || a.Error == nil || a.Error.Code != protocol.CodeTimeout ||
		!strings.Contains(a.Error.Message, "does not speak myagent") {
		t.Errorf("%+v", a.Error)
	}
}

// A message over the server's limit is not sent: it would end this connection and, sent again, the
// next.
func TestATooLargeMessageIsNotSent(t *testing.T) {
	s := attachedClient(t)
	text := strings.Repeat("x", protocol.MaxMessage-40)
	a := s.Answers[s.Command(protocol.DoSend, "work", protocol.SendData{Text: text})]
	if a.Error == nil || a.Error.Code != protocol.CodeTooLarge || len(s.TakeSent()) != 0 {
		t.Errorf("%+v", a.Error)
	}
	s.Codec.(*Conn).capabilities[wire.CapReply] = true
	a = s.Answers[s.Command(protocol.DoSend, "work", protocol.SendData{Text: text})]
	if a.Error == nil || a.Error.Code != protocol.CodeTooLarge || len(s.TakeSent()) != 0 {
		t.Errorf("%+v", a.Error)
	}
}

// MY-7, MY-9, MY-18, MY-35: a real server's session ends with its connection. The state requested
// at the turn's end restores it: received frames are skipped, missed frames are recorded, and old
// confirmations are not requested again.
func TestARealSessionIsRevived(t *testing.T) {
	s := attachedClient(t)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.Receive(myagenttest.Frame(4, "agent.final_answer", "8202", `,"content":"first"`))
	if m := s.TakeSent(); m[len(m)-1].Event != wire.UserRequestState {
		t.Fatalf("sent %+v", m)
	}
	s.Receive(myagenttest.Frame(5, "agent.state_exported", "8202",
		`,"metadata":{"signed_state":{"state":{"session_id":"8202"},"timestamp":1,"signature":"s","version":"1.0","checksum":"c"}}`))
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "two"}, nil)
	s.Receive(myagenttest.Frame(6, "agent.thinking", "8202", `,"content":"hm","metadata":{"step":1}`))
	was := s.At

	s.Connect()
	s.Receive(`{"event":"system.connected","metadata":{"connection_id":"c2"},"seq":1,"event_id":"c2-1"}`)
	id := s.Command(protocol.DoSubscribe, "8202", protocol.SubscribeData{Position: &was})
	m := s.TakeSent()
	if len(m) != 1 || m[0].Event != wire.UserReconnectState || wire.ParseObject(m[0].Signed) == nil ||
		wire.ParseObject(m[0].Content).Str("last_event_id") != "c1-6" {
		t.Fatalf("sent %+v", m)
	}
	s.Receive(
		`{"event":"agent.state_restored","session_id":"9000","seq":2,"event_id":"c2-2","metadata":{"original_session_id":"8202","connection_id":"c2"}}`,
		`{"event":"agent.thinking","session_id":"9000","seq":3,"event_id":"c2-3","content":"hm","metadata":{"orig_seq":6,"orig_event_id":"c1-6","step":1}}`,
		`{"event":"agent.user_confirm","session_id":"9000","seq":4,"event_id":"c2-4","step_id":"old","content":"sure?","metadata":{"orig_seq":7,"orig_event_id":"c1-7"}}`,
		`{"event":"agent.partial_answer","session_id":"9000","seq":5,"event_id":"c2-5","content":"sec","metadata":{"orig_seq":8,"orig_event_id":"c1-8"}}`,
		`{"event":"agent.final_answer","session_id":"9000","seq":6,"event_id":"c2-6","content":"second","metadata":{"orig_seq":9,"orig_event_id":"c1-9"}}`,
		`{"event":"system.notice","session_id":"9000","seq":7,"event_id":"c2-7","content":"Replayed","metadata":{"action":"replay","replayed":3,"last_seq":6}}`,
	)
	if a, ok := s.Answers[id]; !ok || a.Error != nil || s.Modes[len(s.Modes)-1] != protocol.ModeResume {
		t.Fatalf("%t %+v %v", ok, a.Error, s.Modes)
	}
	if len(s.State.Approvals) != 0 || s.State.Turn != nil {
		t.Errorf("%+v", s.State)
	}
	turn := s.Transcript.Current()
	if len(turn.Items) != 3 || turn.Items[0].Text.String() != "hm" || turn.Items[1].Type != protocol.Raw ||
		turn.Items[2].Text.String() != "second" {
		t.Errorf("%s", protocol.MustEncode(turn.Items))
	}
	s.TakeSent()
	s.Call(protocol.DoSend, "8202", protocol.SendData{Text: "three"}, nil)
	if m := s.TakeSent(); m[0].Session != "9000" {
		t.Errorf("sent to %s", m[0].Session)
	}
}

// The end of a turn that the server lost states the cause: the connection was cut or, if the server
// has no frames to replay, the server was restarted.
func TestALostTurnTellsACutFromARestart(t *testing.T) {
	for notice, want := range map[string]protocol.TurnEndedData{
		`"content":"Replay completed","metadata":{"action":"replay","replayed":0,"last_event_id":null,"last_seq":5}`: connectionCut,
		`"content":"No buffered events available for replay","metadata":{"action":"replay","count":0}`:               serverRestarted,
	} {
		s := attachedClient(t)
		s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
		s.Receive(myagenttest.Frame(4, "agent.final_answer", "8202", `,"content":"first"`), myagenttest.Frame(5,
			"agent.state_exported", "8202", `,"metadata":{"signed_state":{"state":{},"signature":"s"}}`))
		s.Call(protocol.DoSend, "work", protocol.SendData{Text: "two"}, nil)
		s.Receive(myagenttest.Frame(6, "agent.user_confirm", "8202", `,"step_id":"c1","content":"sure?"`))
		was := s.At
		s.Connect()
		s.Receive(`{"event":"system.connected","content":"Connected","seq":1}`)
		s.Command(protocol.DoSubscribe, "8202", protocol.SubscribeData{Position: &was})
		s.Receive(`{"event":"agent.state_restored","session_id":"9000","seq":2}`,
			`{"event":"system.notice","session_id":"9000","seq":3,`+notice+`}`)
		if last := s.State.Last; s.State.Turn != nil || last.Message != want.Message || last.Code != want.Code {
			t.Errorf("%s: %+v", notice, last)
		}
		if len(s.State.Approvals) != 0 {
			t.Errorf("pending: %+v", s.State.Approvals)
		}
	}
}

// During the replay of a restored session the client sends neither a queued message nor a request
// for the state. It sends both once after the replay.
func TestNothingIsSentDuringAReplay(t *testing.T) {
	s := attachedClient(t)
	exported := `,"metadata":{"signed_state":{"state":{},"signature":"s"}}`
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.Receive(myagenttest.Frame(4, "agent.final_answer", "8202", `,"content":"first"`),
		myagenttest.Frame(5, "agent.state_exported", "8202", exported))
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "two"}, nil)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "three"}, nil)
	was := s.At
	s.Connect()
	s.Receive(`{"event":"system.connected","seq":1}`)
	s.Command(protocol.DoSubscribe, "8202", protocol.SubscribeData{Position: &was})
	s.TakeSent()
	old := func(seq int, event string) string {
		return fmt.Sprintf(`{"event":%q,"session_id":"9000","content":"x","metadata":{"orig_seq":%d,"orig_event_id":"c1-%d"}}`, event, seq, seq)
	}
	s.Receive(`{"event":"agent.state_restored","session_id":"9000"}`, old(6, "agent.final_answer"),
		old(7, "agent.thinking"), old(8, "agent.final_answer"))
	if m := s.TakeSent(); len(m) != 0 {
		t.Fatalf("sent %+v", m)
	}
	s.Receive(`{"event":"system.notice","session_id":"9000","metadata":{"action":"replay","replayed":3}}`)
	m := s.TakeSent()
	if len(m) != 2 || m[0].Event != wire.UserRequestState || m[1].Event != wire.UserMessage ||
		wire.Scalar(m[1].Content) != "three" || m[1].Session != "9000" {
		t.Errorf("sent %+v", m)
	}
}

// A restore command is answered after the replay.
func TestARestoreIsAnsweredAfterTheReplay(t *testing.T) {
	s := attachedClient(t)
	id := s.Command(protocol.DoRestore, "", protocol.RestoreData{
		State: protocol.SignedState{Version: wire.Name, State: []byte(`{"state":{}}`)},
	})
	s.Receive(`{"event":"agent.state_restored","session_id":"9000"}`,
		`{"event":"agent.thinking","session_id":"9000","content":"hm","metadata":{"orig_seq":4}}`)
	if _, early := s.Answers[id]; early {
		t.Fatal("answered before the replay")
	}
	s.Receive(`{"event":"system.notice","session_id":"9000","metadata":{"action":"replay","replayed":1}}`)
	if a, ok := s.Answers[id]; !ok || a.Error != nil {
		t.Fatalf("%t %+v", ok, a.Error)
	}
	if last := s.Codec.(*Conn).sessions.find("9000").log.State.Last; last == nil ||
		last.Reason != protocol.ReasonInterrupted {
		t.Errorf("end of the old turn %+v", last)
	}
}

// The recovery action of a started recovery applies to its later events.
func TestARecoveryKeepsItsName(t *testing.T) {
	s := attachedClient(t)
	s.Receive(
		myagenttest.Frame(4, "error.recovery_started", "8202", `,"metadata":{"recovery_action":"reload"}`),
		myagenttest.Frame(5, "error.recovery_failed", "8202", `,"metadata":{"recovery_error":"b"}`),
		myagenttest.Frame(6, "error.recovery_started", "8202", `,"content":"Starting over"`),
		myagenttest.Frame(7, "error.recovery_success", "8202", `,"metadata":{"recovery_time":1.5}`),
	)
	var actions []string
	for _, e := range s.Events {
		var d protocol.RecoveryData
		if strings.HasPrefix(string(e.Type), "recovery.") && e.Decode(&d) == nil {
			actions = append(actions, d.Action)
		}
	}
	if !slices.Equal(actions, []string{"reload", "reload", "Starting over", "Starting over"}) {
		t.Errorf("recovery actions %q", actions)
	}
}

// A session that cannot be restored is created again. The client gets a reset, the transcript
// stays, and queued messages are sent.
func TestALostRealSessionIsCreatedAgain(t *testing.T) {
	s := attachedClient(t)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.Receive(myagenttest.Frame(4, "agent.final_answer", "8202", `,"content":"first"`))
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "two"}, nil)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "three"}, nil)
	s.Receive(myagenttest.Frame(5, "agent.user_confirm", "8202", `,"step_id":"c1","content":"sure?"`))
	was := s.At
	s.Connect()
	s.Receive(`{"event":"system.connected","seq":1}`)
	s.Command(protocol.DoSubscribe, "8202", protocol.SubscribeData{Position: &was})
	if m := s.TakeSent(); len(m) != 1 || m[0].Event != wire.UserCreateSession || wire.Scalar(m[0].Content) != "work" {
		t.Fatalf("sent %+v", m)
	}
	s.Receive(`{"event":"agent.session_created","session_id":"9000","metadata":{"agent_name":"weather"}}`)
	if s.Modes[len(s.Modes)-1] != protocol.ModeReset || s.State.Session != "8202" || len(s.State.Queue) != 0 ||
		s.State.Turn.Message.Text != "three" {
		t.Errorf("%v %+v", s.Modes, s.State)
	}
	if m := s.TakeSent(); len(m) != 2 || m[0].Event != wire.UserRequestState || m[1].Event != wire.UserMessage ||
		wire.Scalar(m[1].Content) != "three" || m[1].Session != "9000" {
		t.Errorf("sent %+v", m)
	}
	s.Receive(myagenttest.Frame(5, "agent.final_answer", "9000", `,"content":"third"`))
	var past protocol.HistoryResult
	s.Call(protocol.DoHistory, "work", protocol.HistoryData{}, &past)
	history := string(protocol.MustEncode(past.Events))
	for what, n := range map[string]int{
		"first": 1, `"two"`: 1, `"cancelled"`: 1, connectionCut.Message: 1, "third": 1,
	} {
		if strings.Count(history, what) != n {
			t.Errorf("history has %q %d times: %s", what, strings.Count(history, what), history)
		}
	}
}

// The client stops waiting for a greeting, and for a reply.
func TestASilentServerIsGivenUp(t *testing.T) {
	s := newClientTest(t)
	id := s.Command(protocol.DoCreate, "", protocol.CreateData{Title: "x"})
	if len(s.Frames) != 0 {
		t.Fatal("sent before the greeting")
	}
	s.Advance(greetingTimeout)
	if m := s.TakeSent(); len(m) != 1 || m[0].Event != wire.UserCreateSession {
		t.Fatalf("sent %+v", m)
	}
	s.Advance(requestTimeout)
	if a := s.Answers[id]; a == nil || a.Error == nil || a.Error.Code != protocol.CodeTimeout {
		t.Errorf("%+v", a)
	}
}

// Invariant 12: unknown, malformed or namespaced frames are recorded or understood, and never end
// the session.
func TestUnknownFramesAreKept(t *testing.T) {
	s := attachedClient(t)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	for _, frame := range []string{
		`{"event":"agent.musing","session_id":"8202","content":{"role":"assistant"}}`,
		`{"event":"nonsense","session_id":"8202"}`,
		`{"event":7,"session_id":"8202"}`, `not JSON`, `[1]`,
		`{"event":"solver.retry","content":"` + strings.Repeat("x", 300<<10) + `"}`,
	} {
		before := len(s.Transcript.Current().Items)
		s.Receive(frame)
		if len(s.Transcript.Current().Items) != before+1 || s.LastItem().Type != protocol.Raw {
			t.Errorf("%.80s is not recorded", frame)
		}
	}
	s.Receive(`{"event":"myapp.agent.final_answer","session_id":"8202","content":"done"}`)
	if s.State.Last == nil || s.State.Last.Reason != protocol.ReasonCompleted {
		t.Error("the namespaced event is not handled")
	}
}

// MY-13: a cancelled plan ends the turn if the server does not.
func TestACancelledPlanEndsTheTurn(t *testing.T) {
	s := attachedClient(t)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.Receive(myagenttest.Frame(4, "plan.start", "8202", `,"content":{"question":"one"}`),
		myagenttest.Frame(5, "plan.cancelled", "8202", `,"content":null,"metadata":{"reason":"denied"}`))
	if s.State.Turn == nil {
		t.Fatal("ended too early")
	}
	s.Advance(turnEndTimeout)
	if s.State.Turn != nil || s.State.Plan.Status != protocol.StatusCancelled {
		t.Errorf("%+v", s.State)
	}
}

// Invariant 14: the state kept for a server is bounded, and the client's events apply.
func TestTheClientsEndIsBounded(t *testing.T) {
	s := attachedClient(t)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	for n := range 3000 {
		s.Receive(
			myagenttest.Frame(n+10, "agent.user_confirm", "8202", fmt.Sprintf(`,"step_id":"c%d","content":"sure?"`, n)),
			myagenttest.Frame(n+10, "agent.tool_call", "8202", fmt.Sprintf(`,"step_id":"s%d","metadata":{"tool":"x"}`, n)),
			myagenttest.Frame(n+10, "agent.thinking", fmt.Sprintf("other%d", n), `,"content":"x"`),
		)
	}
	c := s.Codec.(*Conn)
	if len(s.State.Approvals) > maxApprovals || len(s.State.Turn.Tools) > maxPending ||
		len(c.sessions.resume.sessions) > maxSessions || len(c.receiver.acks.frames) > maxUnackedFrames {
		t.Errorf("%d approvals, %d tools, %d sessions, %d unacked frames", len(s.State.Approvals),
			len(s.State.Turn.Tools), len(c.sessions.resume.sessions), len(c.receiver.acks.frames))
	}
	if c.sessions.find("work") == nil {
		t.Error("the subscribed session was dropped")
	}
}

// Another plan is requested by its question, then the pending plan is denied. If that was all, the
// plan is cancelled with its turn.
func TestAnotherPlanIsAQuestionAndADenial(t *testing.T) {
	s := attachedClient(t)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.Receive(myagenttest.Frame(4, "plan.start", "8202", `,"content":{"question":"one"}`),
		myagenttest.Frame(5, "plan.completed", "8202", `,"content":{"tasks":[{"id":1,"title":"a","objective":"b"}]}`),
		myagenttest.Frame(6, "agent.user_confirm", "8202",
			`,"step_id":"confirm_plan_1","metadata":{"scope":"plan","tasks":[{"id":1,"title":"a","objective":"b"}]}`))
	s.TakeSent()
	s.Call(protocol.DoApprove, "work", protocol.ApproveData{
		Decision: protocol.Deny, Reason: "two", Input: &protocol.ApprovalInput{Replan: true},
	}, nil)
	m := s.TakeSent()
	if len(m) != 2 || m[0].Event != wire.UserReplan || wire.ParseObject(m[0].Content).Str("question") != "two" ||
		m[1].Event != wire.UserResponse || m[1].Step != "confirm_plan_1" ||
		wire.ParseObject(m[1].Content).Str("confirmed") != "false" {
		t.Fatalf("sent %+v", m)
	}
	s.Receive(myagenttest.Frame(7, "agent.interrupted", "8202", `,"content":"Stopped"`))
	if s.State.Plan.Status != protocol.StatusCancelled {
		t.Errorf("%+v", s.State.Plan)
	}
}
