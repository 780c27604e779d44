package myagent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A clientTest is a client codec on a MyAgent server that the test plays.
type clientTest struct {
	*testClient
	frames []message
}

func newClientTest(t *testing.T) *clientTest {
	s := &clientTest{testClient: newTestClient(t)}
	s.connect()
	return s
}

func (s *clientTest) connect() {
	s.frames = nil
	s.dial(func(f codec.Frame) {
		m, ok := decodeMessage(f.Data)
		if !ok {
			s.t.Fatalf("not a frame: %s", f.Data)
		}
		s.frames = append(s.frames, m)
	})
}

// receive delivers frames of the server.
func (s *clientTest) receive(frames ...string) {
	s.t.Helper()
	for _, f := range frames {
		s.now = s.now.Add(time.Millisecond)
		s.deliver(s.codec.Foreign(s.now, codec.Frame{Data: []byte(f)}))
	}
}

// takeSent returns the frames sent since the last call.
func (s *clientTest) takeSent() []message {
	frames := s.frames
	s.frames = nil
	return frames
}

// lastItem returns the newest item of the transcript.
func (s *clientTest) lastItem() *protocol.Item {
	s.t.Helper()
	turn := s.transcript.Current()
	if turn == nil || len(turn.Items) == 0 {
		s.t.Fatal("no item")
	}
	return turn.Items[len(turn.Items)-1]
}

func (s *clientTest) wake(d time.Duration) {
	s.t.Helper()
	s.now = s.now.Add(d)
	s.deliver(s.codec.Wake(s.now))
}

// serverFrame returns a frame of the real system.
func serverFrame(seq int, event, session, rest string) string {
	return fmt.Sprintf(`{"event":%q,"session_id":%q,"timestamp":"2026-03-01T09:00:00.123456","seq":%d,"event_id":"c1-%d"%s}`, event, session, seq, seq, rest)
}

// attachedClient returns a client on a real server, with a session called work.
func attachedClient(t *testing.T) *clientTest {
	s := newClientTest(t)
	s.receive(`{"event":"system.connected","content":"Connected","metadata":{"connection_id":"c1"},"seq":1,"event_id":"c1-1"}`)
	id := s.command(protocol.DoSubscribe, "work", protocol.SubscribeData{})
	if m := s.takeSent(); len(m) != 1 || m[0].Event != userCreateSession || len(m[0].Metadata) > 0 {
		t.Fatalf("sent %+v", m)
	}
	s.receive(serverFrame(3, "agent.session_created", "8202",
		`,"content":"Session created successfully","metadata":{"agent_name":"weather","connection_id":"c1"}`))
	if a, ok := s.answers[id]; !ok || a.Error != nil {
		t.Fatalf("%t %+v", ok, a.Error)
	}
	if s.state.Session != "8202" || s.state.Agent != "weather" || s.caughtUp != 1 {
		t.Fatalf("%+v", s.state)
	}
	return s
}

// MY-8, MY-11, MY-14, MY-23: a turn with a tool approval on a real server. Seqs have gaps and are
// out of order. The server dropped pieces of the answer: the rest is progress, the final answer is
// the text.
func TestATurnOnARealServer(t *testing.T) {
	s := attachedClient(t)
	var sent protocol.SendResult
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "weather?"}, &sent)
	if m := s.takeSent(); len(m) != 1 || m[0].Event != userMessage || m[0].Session != "8202" ||
		scalarText(m[0].Content) != "weather?" || sent.Status != protocol.SendStarted {
		t.Fatalf("%+v %+v", m, sent)
	}
	s.receive(
		serverFrame(4, "agent.thinking", "8202", `,"content":"Thinking about step 1","metadata":{"step":1}`),
		serverFrame(5, "agent.tool_call", "8202",
			`,"step_id":"step_0_get_weather","content":"calling","metadata":{"tool":"get_weather","args":{"city":"Paris"},"status":"running"}`),
		serverFrame(6, "agent.user_confirm", "8202",
			`,"step_id":"confirm_05ae3bfd_get_weather","content":"Confirm?","metadata":{"tool_name":"get_weather","tool_description":"Get it","tool_args":{"city":"Paris"},"requires_confirmation":true}`),
	)
	a := s.state.Approvals[0]
	if a.Kind != protocol.ApproveTool || a.Name != "get_weather" || string(a.Input) != `{"city":"Paris"}` ||
		len(a.Options) != 3 || a.Options[2].Kind != protocol.DenyStop {
		t.Errorf("%+v", a)
	}
	if e := s.callError(protocol.DoApprove, "work",
		protocol.ApproveData{Decision: protocol.Explain}); e.Code != protocol.CodeUnsupported {
		t.Errorf("%+v", e)
	}
	if e := s.callError(protocol.DoApprove, "work", protocol.ApproveData{
		Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Command: "ls"},
	}); e.Code != protocol.CodeUnsupported {
		t.Errorf("an edited command: %+v", e)
	}
	s.call(protocol.DoApprove, "work", protocol.ApproveData{Decision: protocol.AllowOnce}, nil)
	if m := s.takeSent(); len(m) != 1 || m[0].Step != "confirm_05ae3bfd_get_weather" ||
		!equalJSON(m[0].Content, []byte(`{"approved":true,"confirmed":true}`)) {
		t.Errorf("%+v", m)
	}
	if e := s.callError(protocol.DoApprove, "work", protocol.ApproveData{
		Request: a.Request, Decision: protocol.Deny,
	}); e.Code != protocol.CodeConflict || e.Winner.By.Name != "ada" {
		t.Errorf("%+v", e)
	}
	s.receive(
		serverFrame(7, "agent.tool_result", "8202",
			`,"step_id":"step_0_get_weather","content":"sunny","metadata":{"tool":"get_weather","status":"success"}`),
		serverFrame(10, "agent.partial_answer", "8202",
			`,"content":"It is ","metadata":{"is_streaming":true,"is_final":false}`),
		serverFrame(13, "agent.partial_answer", "8202",
			`,"content":"sunny","metadata":{"is_streaming":true,"is_final":false}`),
		serverFrame(12, "system.notice", "8202",
			`,"content":"Retrying","metadata":{"attempt":2,"total_attempts":3,"retry_delay_seconds":1.5,"error_type":"x","error":"boom"}`),
		serverFrame(14, "agent.partial_answer", "8202",
			`,"content":"","metadata":{"is_streaming":true,"is_final":true}`),
		serverFrame(15, "agent.final_answer", "8202", `,"content":"It is sunny in Paris today."`),
	)
	turn := s.transcript.Current()
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
	s.takeSent()
	s.command(protocol.DoAck, "8202", protocol.AckData{Seq: s.at.Seq})
	if m := s.takeSent(); len(m) != 1 || m[0].Event != userAck || m[0].Seq != 15 ||
		parseObject(m[0].Content).int("last_seq") != 15 {
		t.Errorf("%+v", m)
	}
}

// a real server rejects messages during a turn, so the client queues them.
func TestMessagesWaitForARealServer(t *testing.T) {
	s := attachedClient(t)
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.takeSent()
	var r protocol.SendResult
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "two"}, &r)
	if r.Status != protocol.SendQueued || len(s.state.Queue) != 1 || len(s.takeSent()) != 0 {
		t.Fatalf("%+v %+v", r, s.state.Queue)
	}
	s.receive(serverFrame(4, "agent.error", "8202", `,"content":"Agent is currently running, please try again later"`))
	if s.state.Turn == nil {
		t.Fatal("the turn ended")
	}
	s.receive(serverFrame(5, "agent.final_answer", "8202", `,"content":"done"`))
	if s.state.Turn == nil || s.state.Turn.Message.Text != "two" || len(s.state.Queue) != 0 {
		t.Fatalf("%+v", s.state)
	}
	if m := s.takeSent(); !slices.ContainsFunc(m, func(m message) bool {
		return m.Event == userMessage &&
			scalarText(m.Content) == "two"
	}) {
		t.Errorf("sent %+v", m)
	}
	// An interrupt is answered after the end of the turn.
	id := s.command(protocol.DoInterrupt, "work", protocol.InterruptData{})
	if _, early := s.answers[id]; early || s.takeSent()[0].Event != userCancel {
		t.Error("answered at once")
	}
	s.receive(serverFrame(6, "agent.interrupted", "8202", `,"content":"Execution cancelled"`))
	if a := s.answers[id]; a.Error != nil || !strings.Contains(string(a.Result), `"interrupted":true`) ||
		s.state.Last.Reason != protocol.ReasonInterrupted {
		t.Errorf("%+v", s.answers[id])
	}
}

// Sessions of a real server end with their connection, so a one-shot client can neither use nor
// read them.
func TestAOneShotClientIsUnsupportedAtARealServer(t *testing.T) {
	s := newClientTest(t)
	s.codec.(*client).Options.OneShot = true
	s.receive(`{"event":"system.connected","content":"Connected","metadata":{"connection_id":"c1"},"seq":1,"event_id":"c1-1"}`)
	for verb, data := range map[protocol.Verb]any{
		protocol.DoSend: protocol.SendData{Text: "x"}, protocol.DoSnapshot: nil,
		protocol.DoCreate: protocol.CreateData{},
	} {
		session := "work"
		if verb == protocol.DoCreate {
			session = ""
		}
		a := s.answers[s.command(verb, session, data)]
		if a.Error == nil || a.Error.Code != protocol.CodeUnsupported || len(s.takeSent()) != 0 {
			t.Errorf("%s: %+v", verb, a)
		}
	}
}

// A server without a greeting may speak another protocol.
func TestAOneShotClientTimesOutWithoutAGreeting(t *testing.T) {
	s := newClientTest(t)
	s.codec.(*client).Options.OneShot = true
	id := s.command(protocol.DoSnapshot, "work", nil)
	s.wake(greetingTimeout)
	if a := s.answers[id]; a.Error == nil || a.Error.Code != protocol.CodeTimeout ||
		!strings.Contains(a.Error.Message, "does not speak myagent") {
		t.Errorf("%+v", a.Error)
	}
}

// A message over the server's limit is not sent: it would end this connection and, sent again, the
// next.
func TestATooLargeMessageIsNotSent(t *testing.T) {
	s := attachedClient(t)
	text := strings.Repeat("x", protocol.MaxMessage-40)
	a := s.answers[s.command(protocol.DoSend, "work", protocol.SendData{Text: text})]
	if a.Error == nil || a.Error.Code != protocol.CodeTooLarge || len(s.takeSent()) != 0 {
		t.Errorf("%+v", a.Error)
	}
	s.codec.(*client).capabilities[capReply] = true
	a = s.answers[s.command(protocol.DoSend, "work", protocol.SendData{Text: text})]
	if a.Error == nil || a.Error.Code != protocol.CodeTooLarge || len(s.takeSent()) != 0 {
		t.Errorf("%+v", a.Error)
	}
}

// MY-7, MY-9, MY-18, MY-35: a real server's session ends with its connection. The state requested
// at the turn's end restores it: received frames are skipped, missed frames are recorded, and old
// confirmations are not requested again.
func TestARealSessionIsRevived(t *testing.T) {
	s := attachedClient(t)
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.receive(serverFrame(4, "agent.final_answer", "8202", `,"content":"first"`))
	if m := s.takeSent(); m[len(m)-1].Event != userRequestState {
		t.Fatalf("sent %+v", m)
	}
	s.receive(serverFrame(5, "agent.state_exported", "8202",
		`,"metadata":{"signed_state":{"state":{"session_id":"8202"},"timestamp":1,"signature":"s","version":"1.0","checksum":"c"}}`))
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "two"}, nil)
	s.receive(serverFrame(6, "agent.thinking", "8202", `,"content":"hm","metadata":{"step":1}`))
	was := s.at

	s.connect()
	s.receive(`{"event":"system.connected","metadata":{"connection_id":"c2"},"seq":1,"event_id":"c2-1"}`)
	id := s.command(protocol.DoSubscribe, "8202", protocol.SubscribeData{Position: &was})
	m := s.takeSent()
	if len(m) != 1 || m[0].Event != userReconnectState || parseObject(m[0].Signed) == nil ||
		parseObject(m[0].Content).str("last_event_id") != "c1-6" {
		t.Fatalf("sent %+v", m)
	}
	s.receive(
		`{"event":"agent.state_restored","session_id":"9000","seq":2,"event_id":"c2-2","metadata":{"original_session_id":"8202","connection_id":"c2"}}`,
		`{"event":"agent.thinking","session_id":"9000","seq":3,"event_id":"c2-3","content":"hm","metadata":{"orig_seq":6,"orig_event_id":"c1-6","step":1}}`,
		`{"event":"agent.user_confirm","session_id":"9000","seq":4,"event_id":"c2-4","step_id":"old","content":"sure?","metadata":{"orig_seq":7,"orig_event_id":"c1-7"}}`,
		`{"event":"agent.partial_answer","session_id":"9000","seq":5,"event_id":"c2-5","content":"sec","metadata":{"orig_seq":8,"orig_event_id":"c1-8"}}`,
		`{"event":"agent.final_answer","session_id":"9000","seq":6,"event_id":"c2-6","content":"second","metadata":{"orig_seq":9,"orig_event_id":"c1-9"}}`,
		`{"event":"system.notice","session_id":"9000","seq":7,"event_id":"c2-7","content":"Replayed","metadata":{"action":"replay","replayed":3,"last_seq":6}}`,
	)
	if a, ok := s.answers[id]; !ok || a.Error != nil || s.modes[len(s.modes)-1] != protocol.ModeResume {
		t.Fatalf("%t %+v %v", ok, a.Error, s.modes)
	}
	if len(s.state.Approvals) != 0 || s.state.Turn != nil {
		t.Errorf("%+v", s.state)
	}
	turn := s.transcript.Current()
	if len(turn.Items) != 3 || turn.Items[0].Text.String() != "hm" || turn.Items[1].Type != protocol.Raw ||
		turn.Items[2].Text.String() != "second" {
		t.Errorf("%s", protocol.MustEncode(turn.Items))
	}
	s.takeSent()
	s.call(protocol.DoSend, "8202", protocol.SendData{Text: "three"}, nil)
	if m := s.takeSent(); m[0].Session != "9000" {
		t.Errorf("sent to %s", m[0].Session)
	}
}

// A turn that the server's session did not survive ends as what happened: the connection was cut,
// or, if the server has no frames to replay, it was restarted.
func TestALostTurnTellsACutFromARestart(t *testing.T) {
	for notice, want := range map[string]protocol.TurnEndedData{
		`"content":"Replay completed","metadata":{"action":"replay","replayed":0,"last_event_id":null,"last_seq":5}`: connectionCut,
		`"content":"No buffered events available for replay","metadata":{"action":"replay","count":0}`:               serverRestarted,
	} {
		s := attachedClient(t)
		s.call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
		s.receive(serverFrame(4, "agent.final_answer", "8202", `,"content":"first"`), serverFrame(5,
			"agent.state_exported", "8202", `,"metadata":{"signed_state":{"state":{},"signature":"s"}}`))
		s.call(protocol.DoSend, "work", protocol.SendData{Text: "two"}, nil)
		s.receive(serverFrame(6, "agent.user_confirm", "8202", `,"step_id":"c1","content":"sure?"`))
		was := s.at
		s.connect()
		s.receive(`{"event":"system.connected","content":"Connected","seq":1}`)
		s.command(protocol.DoSubscribe, "8202", protocol.SubscribeData{Position: &was})
		s.receive(`{"event":"agent.state_restored","session_id":"9000","seq":2}`,
			`{"event":"system.notice","session_id":"9000","seq":3,`+notice+`}`)
		if last := s.state.Last; s.state.Turn != nil || last.Message != want.Message || last.Code != want.Code {
			t.Errorf("%s: %+v", notice, last)
		}
		if len(s.state.Approvals) != 0 {
			t.Errorf("pending: %+v", s.state.Approvals)
		}
	}
}

// During the replay of a restored session the client sends neither a queued message nor a request
// for the state. It sends both once after the replay.
func TestNothingIsSentDuringAReplay(t *testing.T) {
	s := attachedClient(t)
	exported := `,"metadata":{"signed_state":{"state":{},"signature":"s"}}`
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.receive(serverFrame(4, "agent.final_answer", "8202", `,"content":"first"`),
		serverFrame(5, "agent.state_exported", "8202", exported))
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "two"}, nil)
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "three"}, nil)
	was := s.at
	s.connect()
	s.receive(`{"event":"system.connected","seq":1}`)
	s.command(protocol.DoSubscribe, "8202", protocol.SubscribeData{Position: &was})
	s.takeSent()
	old := func(seq int, event string) string {
		return fmt.Sprintf(`{"event":%q,"session_id":"9000","content":"x","metadata":{"orig_seq":%d,"orig_event_id":"c1-%d"}}`, event, seq, seq)
	}
	s.receive(`{"event":"agent.state_restored","session_id":"9000"}`, old(6, "agent.final_answer"),
		old(7, "agent.thinking"), old(8, "agent.final_answer"))
	if m := s.takeSent(); len(m) != 0 {
		t.Fatalf("sent %+v", m)
	}
	s.receive(`{"event":"system.notice","session_id":"9000","metadata":{"action":"replay","replayed":3}}`)
	m := s.takeSent()
	if len(m) != 2 || m[0].Event != userRequestState || m[1].Event != userMessage ||
		scalarText(m[1].Content) != "three" || m[1].Session != "9000" {
		t.Errorf("sent %+v", m)
	}
}

// A restore command is answered after the replay.
func TestARestoreIsAnsweredAfterTheReplay(t *testing.T) {
	s := attachedClient(t)
	id := s.command(protocol.DoRestore, "", protocol.RestoreData{
		State: protocol.SignedState{Version: Name, State: []byte(`{"state":{}}`)},
	})
	s.receive(`{"event":"agent.state_restored","session_id":"9000"}`,
		`{"event":"agent.thinking","session_id":"9000","content":"hm","metadata":{"orig_seq":4}}`)
	if _, early := s.answers[id]; early {
		t.Fatal("answered before the replay")
	}
	s.receive(`{"event":"system.notice","session_id":"9000","metadata":{"action":"replay","replayed":1}}`)
	if a, ok := s.answers[id]; !ok || a.Error != nil {
		t.Fatalf("%t %+v", ok, a.Error)
	}
	if last := s.codec.(*client).findSession("9000").log.State.Last; last == nil ||
		last.Reason != protocol.ReasonInterrupted {
		t.Errorf("end of the old turn %+v", last)
	}
}

// The recovery action of a started recovery applies to its later events.
func TestARecoveryKeepsItsName(t *testing.T) {
	s := attachedClient(t)
	s.receive(
		serverFrame(4, "error.recovery_started", "8202", `,"metadata":{"recovery_action":"reload"}`),
		serverFrame(5, "error.recovery_failed", "8202", `,"metadata":{"recovery_error":"b"}`),
		serverFrame(6, "error.recovery_started", "8202", `,"content":"Starting over"`),
		serverFrame(7, "error.recovery_success", "8202", `,"metadata":{"recovery_time":1.5}`),
	)
	var actions []string
	for _, e := range s.events {
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
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.receive(serverFrame(4, "agent.final_answer", "8202", `,"content":"first"`))
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "two"}, nil)
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "three"}, nil)
	s.receive(serverFrame(5, "agent.user_confirm", "8202", `,"step_id":"c1","content":"sure?"`))
	was := s.at
	s.connect()
	s.receive(`{"event":"system.connected","seq":1}`)
	s.command(protocol.DoSubscribe, "8202", protocol.SubscribeData{Position: &was})
	if m := s.takeSent(); len(m) != 1 || m[0].Event != userCreateSession || scalarText(m[0].Content) != "work" {
		t.Fatalf("sent %+v", m)
	}
	s.receive(`{"event":"agent.session_created","session_id":"9000","metadata":{"agent_name":"weather"}}`)
	if s.modes[len(s.modes)-1] != protocol.ModeReset || s.state.Session != "8202" || len(s.state.Queue) != 0 ||
		s.state.Turn.Message.Text != "three" {
		t.Errorf("%v %+v", s.modes, s.state)
	}
	if m := s.takeSent(); len(m) != 2 || m[0].Event != userRequestState || m[1].Event != userMessage ||
		scalarText(m[1].Content) != "three" || m[1].Session != "9000" {
		t.Errorf("sent %+v", m)
	}
	s.receive(serverFrame(5, "agent.final_answer", "9000", `,"content":"third"`))
	var past protocol.HistoryResult
	s.call(protocol.DoHistory, "work", protocol.HistoryData{}, &past)
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
	id := s.command(protocol.DoCreate, "", protocol.CreateData{Title: "x"})
	if len(s.frames) != 0 {
		t.Fatal("sent before the greeting")
	}
	s.wake(greetingTimeout)
	if m := s.takeSent(); len(m) != 1 || m[0].Event != userCreateSession {
		t.Fatalf("sent %+v", m)
	}
	s.wake(requestTimeout)
	if a := s.answers[id]; a.Error == nil || a.Error.Code != protocol.CodeTimeout {
		t.Errorf("%+v", a)
	}
}

// Invariant 12: unknown, malformed or namespaced frames are recorded or understood, and never end
// the session.
func TestUnknownFramesAreKept(t *testing.T) {
	s := attachedClient(t)
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	for _, frame := range []string{
		`{"event":"agent.musing","session_id":"8202","content":{"role":"assistant"}}`,
		`{"event":"nonsense","session_id":"8202"}`,
		`{"event":7,"session_id":"8202"}`, `not JSON`, `[1]`,
		`{"event":"solver.retry","content":"` + strings.Repeat("x", 300<<10) + `"}`,
	} {
		before := len(s.transcript.Current().Items)
		s.receive(frame)
		if len(s.transcript.Current().Items) != before+1 || s.lastItem().Type != protocol.Raw {
			t.Errorf("%.80s is not recorded", frame)
		}
	}
	s.receive(`{"event":"myapp.agent.final_answer","session_id":"8202","content":"done"}`)
	if s.state.Last == nil || s.state.Last.Reason != protocol.ReasonCompleted {
		t.Error("the namespaced event is not handled")
	}
}

// MY-13: a cancelled plan ends the turn if the server does not.
func TestACancelledPlanEndsTheTurn(t *testing.T) {
	s := attachedClient(t)
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.receive(serverFrame(4, "plan.start", "8202", `,"content":{"question":"one"}`),
		serverFrame(5, "plan.cancelled", "8202", `,"content":null,"metadata":{"reason":"denied"}`))
	if s.state.Turn == nil {
		t.Fatal("ended too early")
	}
	s.wake(turnEndTimeout)
	if s.state.Turn != nil || s.state.Plan.Status != protocol.StatusCancelled {
		t.Errorf("%+v", s.state)
	}
}

// Invariant 14: the state kept for a server is bounded, and the client's events apply.
func TestTheClientsEndIsBounded(t *testing.T) {
	s := attachedClient(t)
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	for n := range 3000 {
		s.receive(
			serverFrame(n+10, "agent.user_confirm", "8202", fmt.Sprintf(`,"step_id":"c%d","content":"sure?"`, n)),
			serverFrame(n+10, "agent.tool_call", "8202", fmt.Sprintf(`,"step_id":"s%d","metadata":{"tool":"x"}`, n)),
			serverFrame(n+10, "agent.thinking", fmt.Sprintf("other%d", n), `,"content":"x"`),
		)
	}
	c := s.codec.(*client)
	if len(s.state.Approvals) > maxApprovals || len(s.state.Turn.Tools) > maxPending ||
		len(c.resume.sessions) > maxSessions || len(c.acks.frames) > maxUnackedFrames {
		t.Errorf("%d approvals, %d tools, %d sessions, %d unacked frames", len(s.state.Approvals),
			len(s.state.Turn.Tools), len(c.resume.sessions), len(c.acks.frames))
	}
	if c.findSession("work") == nil {
		t.Error("the subscribed session was dropped")
	}
}

// Another plan is requested by its question, then the pending plan is denied. If that was all, the
// plan is cancelled with its turn.
func TestAnotherPlanIsAQuestionAndADenial(t *testing.T) {
	s := attachedClient(t)
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	s.receive(serverFrame(4, "plan.start", "8202", `,"content":{"question":"one"}`),
		serverFrame(5, "plan.completed", "8202", `,"content":{"tasks":[{"id":1,"title":"a","objective":"b"}]}`),
		serverFrame(6, "agent.user_confirm", "8202",
			`,"step_id":"confirm_plan_1","metadata":{"scope":"plan","tasks":[{"id":1,"title":"a","objective":"b"}]}`))
	s.takeSent()
	s.call(protocol.DoApprove, "work", protocol.ApproveData{
		Decision: protocol.Deny, Reason: "two", Input: &protocol.ApprovalInput{Replan: true},
	}, nil)
	m := s.takeSent()
	if len(m) != 2 || m[0].Event != userReplan || parseObject(m[0].Content).str("question") != "two" ||
		m[1].Event != userResponse || m[1].Step != "confirm_plan_1" ||
		parseObject(m[1].Content).str("confirmed") != "false" {
		t.Fatalf("sent %+v", m)
	}
	s.receive(serverFrame(7, "agent.interrupted", "8202", `,"content":"Stopped"`))
	if s.state.Plan.Status != protocol.StatusCancelled {
		t.Errorf("%+v", s.state.Plan)
	}
}
