package server

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// MY-1, MY-5, MY-26, X-24: the first frame of a connection is the greeting. Frames are numbered
// from 1 and named after the connection.
func TestEveryConnectionIsGreetedFirst(t *testing.T) {
	b := newServerTest(t, myagenttest.NewNativeServer(t), nil)
	m := b.NextFrame(wire.SystemConnected)
	o := wire.ParseObject(m.Content)
	var can []string
	if !o.Decode("capabilities", &can) || !slices.Contains(can, wire.CapTurns) ||
		o.Str("server_version") != "agentctl/test" {
		t.Errorf("greeting: %s", m.Content)
	}
	if m.Seq != 1 || m.ID != "conn_1-1" || m.Connection != "conn_1" || myagenttest.MetaOf(m).Str("connection_id") != "conn_1" ||
		m.Session != "" {
		t.Errorf("numbered %+v", m)
	}
	if _, err := time.Parse(time.RFC3339, string(m.Timestamp)); err != nil {
		t.Error(err)
	}
}

// MY-16, MY-25, S8: a session is created from any content, which becomes its title.
func TestASessionIsCreatedFromAnyContent(t *testing.T) {
	for content, title := range map[string]string{
		``: "", `,"content":null`: "", `,"content":"fix CI"`: "fix CI", `,"content":{"title":"fix"}`: "fix",
		`,"content":{"a":[1]}`: `{"a":[1]}`,
		`,"content":[1,2]`:     `[1,2]`, `,"content":7`: "7", `,"content":true`: "true",
	} {
		b := newServerTest(t, myagenttest.NewNativeServer(t), nil)
		b.Receive(`{"event":"user.create_session"` + content + `}`)
		m := b.NextFrame(wire.AgentSessionCreated)
		if m.Session != "s1" || wire.Scalar(m.Content) != "Session created successfully" ||
			myagenttest.MetaOf(m).Str("agent_name") != "script" {
			t.Errorf("%s: %+v", content, m)
		}
		var d protocol.CreateData
		b.LastCommand(protocol.DoCreate, &d)
		if d.Title != title {
			t.Errorf("%s: title %q, want %q", content, d.Title, title)
		}
	}
}

// MY-14: string and object content are accepted, and empty content gets error.validation.
func TestAMessageMayHoldAnything(t *testing.T) {
	for content, text := range map[string]string{
		`"hi"`: "hi", `{"text":"hi"}`: "hi", `{"content":"hi"}`: "hi", `{"q":1}`: `{"q":1}`, `["a"]`: `["a"]`, `5`: "5",
	} {
		b := openedServer(t)
		b.Receive(`{"event":"user.message","session_id":"s1","content":` + content + `}`)
		var d protocol.SendData
		if b.LastCommand(protocol.DoSend, &d); d.Text != text {
			t.Errorf("%s: sent %q", content, d.Text)
		}
	}
	for _, content := range []string{`""`, `null`, `{}`, `"  "`} {
		b := openedServer(t)
		b.Receive(`{"event":"user.message","content":` + content + `}`)
		if m := b.NextFrame(wire.ErrorValidation); !myagenttest.MetaOf(m).Has("errors") {
			t.Errorf("%s: %s", content, m.Metadata)
		}
	}
}

// MY-10, MY-11: a response with the right step_id decides, in either field. If both are present,
// both must be true. Another step_id decides nothing.
func TestAResponseDecidesItsOwnStepOnly(t *testing.T) {
	for content, want := range map[string]protocol.Decision{
		`{"approved":true}`: protocol.AllowOnce, `{"confirmed":true}`: protocol.AllowOnce,
		`{"approved":true,"confirmed":true}`: protocol.AllowOnce,
		`{"approved":false}`:                 protocol.Deny, `{"confirmed":false}`: protocol.Deny,
		`{"approved":true,"confirmed":false}`: protocol.Deny,
		`true`:                                protocol.AllowOnce, `false`: protocol.Deny,
		`{"decision":"allow_always"}`: protocol.AllowAlways,
	} {
		b := openedServer(t)
		b.ReceiveNative(b.Native.Append("s1", myagenttest.PlanApprovalTurn()...)...)
		step := string(b.NextFrame(wire.AgentUserConfirm).Step)
		b.Receive(`{"event":"user.response","step_id":"` + step + `","content":` + content + `}`)
		var d protocol.ApproveData
		c := b.LastCommand(protocol.DoApprove, &d)
		if d.Request != "r1" || d.Decision != want || c.Session != "s1" {
			t.Errorf("%s: %s %+v", content, c.Session, d)
		}
	}
	b := openedServer(t)
	b.ReceiveNative(b.Native.Append("s1", myagenttest.PlanApprovalTurn()...)...)
	b.Native.Answers[protocol.DoApprove] = func(protocol.Command) (any, *protocol.Error) {
		return nil, protocol.Errorf(protocol.CodeNotFound, "no such request")
	}
	b.Receive(`{"event":"user.response","step_id":"other","content":{"approved":true}}`)
	var d protocol.ApproveData
	if b.LastCommand(protocol.DoApprove, &d); d.Request != "other" {
		t.Errorf("approve %+v", d)
	}
	for myagenttest.MetaOf(b.NextFrame(wire.SystemNotice)).Str("ok") != "false" { // no agent.error, which ends a turn
	}
	for _, bad := range []string{
		`{"approved":"yes"}`, `{}`, `null`, `{"approved":true,"decision":"deny"}`, `{"decision":"perhaps"}`,
	} {
		b.Receive(`{"event":"user.response","step_id":"confirm_r1","content":` + bad + `}`)
		b.NextFrame(wire.ErrorValidation)
	}
}

// MY-4, MY-12: a plan's confirmation has scope, tasks, count, summary and display text. Edited
// tasks reach the agent.
func TestAPlanIsConfirmed(t *testing.T) {
	b := openedServer(t)
	b.ReceiveNative(b.Native.Append("s1", myagenttest.PlanApprovalTurn()...)...)
	m := b.NextFrame(wire.AgentUserConfirm)
	o := myagenttest.MetaOf(m)
	if o.Str("scope") != "plan" || o.Int("task_count") != 3 || o.Str("plan_summary") != "three slides" ||
		len(wire.NativeTasks(o["tasks"])) != 3 {
		t.Errorf("metadata: %s", m.Metadata)
	}
	if want := "请确认规划（3 个任务）：生成PPT、优化样式、导出文件"; string(m.Show) != want || wire.Scalar(m.Content) != want {
		t.Errorf("display text %q", m.Show)
	}
	b.Receive(`{"event":"user.response","step_id":"` + string(m.Step) +
		`","content":{"confirmed":true,"tasks":[{"id":2,"title":"only this"}]}}`)
	var d protocol.ApproveData
	if b.LastCommand(protocol.DoApprove, &d); d.Input == nil || len(d.Input.Tasks) != 1 || d.Input.Tasks[0].ID != "2" ||
		d.Input.Tasks[0].Title != "only this" {
		t.Errorf("approved with %+v", d.Input)
	}
}

// MY-13, X-14: an unanswered confirmation is denied after 300 s, in turns of this client.
func TestAConfirmationTimesOut(t *testing.T) {
	for _, mine := range []bool{true, false} {
		b := openedServer(t)
		if mine {
			b.Receive(`{"event":"user.message","content":"slides"}`)
		}
		b.ReceiveNative(b.Native.Append("s1", myagenttest.PlanApprovalTurn()...)...)
		for range 9 {
			b.Advance(30 * time.Second)
		}
		if slices.ContainsFunc(b.Native.Commands, func(c protocol.Command) bool {
			return c.Command == protocol.DoApprove
		}) {
			t.Fatal("denied too early")
		}
		b.Advance(30 * time.Second)
		denied := slices.ContainsFunc(b.Native.Commands, func(c protocol.Command) bool {
			return c.Command == protocol.DoApprove
		})
		if denied != mine {
			t.Errorf("mine %t, denied %t", mine, denied)
		}
	}
}

// MY-13, MY-27, MY-34: each timeout is an option.
func TestTheServersTimesAreOptions(t *testing.T) {
	b := newServerTestWith(t, myagenttest.NewNativeServer(t), nil, map[string]string{
		"heartbeat": "5s", "confirm_timeout": "7s", "state_ttl": "1m",
	})
	b.Receive(`{"event":"user.create_session"}`)
	b.Receive(`{"event":"user.message","content":"slides"}`)
	b.ReceiveNative(b.Native.Append("s1", myagenttest.PlanApprovalTurn()...)...)
	b.Advance(5 * time.Second)
	b.NextFrame(wire.SystemHeartbeat)
	decided := func() bool {
		return slices.ContainsFunc(b.Native.Commands, func(c protocol.Command) bool {
			return c.Command == protocol.DoApprove
		})
	}
	if decided() {
		t.Error("denied too early")
	}
	b.Advance(5 * time.Second)
	if b.NextFrame(wire.SystemHeartbeat); !decided() {
		t.Error("not denied after 7 s")
	}
	b.Receive(`{"event":"user.request_state","session_id":"s1"}`)
	state := myagenttest.MetaOf(b.NextFrame(wire.AgentStateExported))["signed_state"]
	b.Now = b.Now.Add(2 * time.Minute)
	b.Receive(`{"event":"user.reconnect_with_state","signed_state":` + string(state) + `}`)
	if m := b.NextFrame(wire.SystemError); !strings.HasPrefix(wire.Scalar(m.Content), "Invalid state: ") {
		t.Errorf("a state from two minutes ago: %s", m.Content)
	}

	b = newServerTestWith(t, myagenttest.NewNativeServer(t), nil, map[string]string{"heartbeat": "0", "confirm_timeout": "0"})
	b.Receive(`{"event":"user.create_session"}`)
	b.Receive(`{"event":"user.message","content":"slides"}`)
	b.ReceiveNative(b.Native.Append("s1", myagenttest.PlanApprovalTurn()...)...)
	if b.TakeEvents(); !b.Wake.IsZero() {
		t.Errorf("wake at %s without a timer", b.Wake)
	}
}

// MY-15, MY-17: given tasks are solved, a task is cancelled or restarted, and cancel names the
// current turn.
func TestTasksAndTurnsAreSteered(t *testing.T) {
	b := openedServer(t)
	b.Receive(`{"event":"user.solve_tasks","content":{"tasks":[{"id":1,"title":"a"},{"id":"x","title":"b","after":[1]}],"question":"q","plan_summary":"s"}}`)
	var run protocol.PlanRunData
	if b.LastCommand(protocol.DoPlanRun, &run); len(run.Tasks) != 2 || run.Tasks[1].After[0] != "1" ||
		run.Question != "q" || run.Summary != "s" {
		t.Errorf("%+v", run)
	}
	b.ReceiveNative(b.Native.Append("s1", myagenttest.PlanApprovalTurn()...)...)
	var task protocol.TaskIDData
	b.Receive(`{"event":"user.cancel_task","content":{"task_id":1}}`)
	if b.LastCommand(protocol.DoTaskCancel, &task); task.Task != "1" {
		t.Errorf("%+v", task)
	}
	b.Receive(`{"event":"user.restart_task","content":{"task_id":"x"}}`)
	if b.LastCommand(protocol.DoTaskRestart, &task); task.Task != "x" {
		t.Errorf("%+v", task)
	}
	b.Receive(`{"event":"user.cancel"}`)
	var stop protocol.InterruptData
	if b.LastCommand(protocol.DoInterrupt, &stop); stop.Turn != "t1" {
		t.Errorf("%+v", stop)
	}
	b.Receive(`{"event":"user.cancel_plan"}`) // too late: the plan awaits its confirmation
	for myagenttest.MetaOf(b.NextFrame(wire.SystemNotice)).Str("action") != "cancel_plan" {
	}
	b.Receive(`{"event":"user.replan","content":{"question":"shorter"}}`)
	b.Receive(`{"event":"user.response","step_id":"confirm_plan_r1","content":{"confirmed":false}}`)
	var d protocol.ApproveData
	if b.LastCommand(protocol.DoApprove, &d); d.Decision != protocol.Deny || !d.Input.Replan || d.Reason != "shorter" {
		t.Errorf("%+v", d)
	}
}

// MY-27, X-10: a heartbeat is sent every 30 s, with both sets of fields.
func TestTheServerSendsHeartbeats(t *testing.T) {
	b := newServerTest(t, myagenttest.NewNativeServer(t), nil)
	if want := codectest.Start.Add(30 * time.Second); !b.Wake.Equal(want) {
		t.Fatalf("wake at %s", b.Wake)
	}
	b.Advance(30 * time.Second)
	m := b.NextFrame(wire.SystemHeartbeat)
	if wire.ParseObject(m.Content).Str("timestamp") == "" || !myagenttest.MetaOf(m).Has("active_sessions") ||
		myagenttest.MetaOf(m).Int("uptime") != 30 {
		t.Errorf("%s %s", m.Content, m.Metadata)
	}
}

// MY-36, X-17, X-18: an invalid frame gets an error, and the connection stays open.
func TestBadFramesAreAnswered(t *testing.T) {
	b := newServerTest(t, myagenttest.NewNativeServer(t), nil)
	for frame, want := range map[string]string{
		`nonsense`: "Invalid JSON", `[]`: "Invalid JSON", `{}`: "Missing event",
		`{"event":"user.fly"}`:                                        "Unknown event type or missing session_id: user.fly",
		`{"event":"user.message","content":"x"}`:                      "Unknown event type or missing session_id: user.message",
		`{"event":"user.message","session_id":"nope","content":"hi"}`: "Session not found",
		`{"event":"user.reconnect_with_state"}`:                       "Missing signed_state in reconnect request",
		`{"event":"user.reconnect_with_state","signed_state":{}}`:     "Invalid state: ",
		`{"event":"user.reconnect","session_id":"nope"}`:              "Session not found",
	} {
		b.TakeEvents()
		b.Receive(frame)
		if len(b.Frames) != 1 || !strings.HasPrefix(wire.Scalar(b.Frames[0].Content), want) {
			t.Errorf("%s: %s", frame, b.Raw)
		}
		if b.Closed != nil {
			t.Errorf("%s: the codec closed the connection", frame)
		}
	}
}

// MY-33, MY-34: a state is signed as in MyAgent and verified: checksum, signature, age, required
// fields.
func TestAStateIsSignedAndVerified(t *testing.T) {
	b := openedServer(t)
	b.Receive(`{"event":"user.request_state","session_id":"s1"}`)
	m := b.NextFrame(wire.AgentStateExported)
	raw := myagenttest.MetaOf(m)["signed_state"]
	if _, err := verifyState(raw, b.Now, wire.DefaultStateTTL, myagenttest.Sign); err != nil {
		t.Fatal(err)
	}
	var s signedState
	if err := json.Unmarshal(raw, &s); err != nil || s.Version != "1.0" || len(s.Checksum) != 64 {
		t.Fatalf("%s", raw)
	}
	spoil := func(f func(*signedState)) json.RawMessage { c := s; f(&c); return protocol.MustEncode(c) }
	for name, bad := range map[string]json.RawMessage{
		"version":  spoil(func(s *signedState) { s.Version = "2" }),
		"checksum": spoil(func(s *signedState) { s.Checksum = strings.Repeat("0", 64) }),
		"sign":     spoil(func(s *signedState) { s.Signature = "00" }),
		"state":    spoil(func(s *signedState) { s.State = json.RawMessage(`{"session_id":"s2"}`) }),
		"gone":     spoil(func(s *signedState) { s.State = nil }),
	} {
		if _, err := verifyState(bad, b.Now, wire.DefaultStateTTL, myagenttest.Sign); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := verifyState(raw, b.Now.Add(8*24*time.Hour), wire.DefaultStateTTL, myagenttest.Sign); err == nil {
		t.Error("an expired state is accepted")
	}
	if bad, err := signState(carriedState{Session: "s"}, b.Now, myagenttest.Sign); err != nil {
		t.Error(err)
	} else if _, err := verifyState(bad, b.Now, wire.DefaultStateTTL, myagenttest.Sign); err == nil {
		t.Error("a state without its fields is accepted")
	}
}

// a message during a turn is queued, and a notice reports it. Nothing is rejected or
// cancelled.
func TestAQueuedMessageIsAnnounced(t *testing.T) {
	b := openedServer(t)
	b.ReceiveNative(b.Native.Append("s1", myagenttest.PlanApprovalTurn()...)...)
	b.TakeEvents()
	b.Receive(`{"event":"user.message","content":"next","metadata":{"client_message_id":"ui-1"}}`)
	var d protocol.SendData
	if b.LastCommand(protocol.DoSend, &d); d.ClientMessageID != "ui-1" {
		t.Errorf("sent %+v", d)
	}
	b.ReceiveNative(b.Native.Append("s1", codectest.Event(protocol.QueueAdded, "", protocol.Message{
		MessageID: "m2", Text: "next", ClientMessageID: "ui-1",
	}))...)
	m := b.NextFrame(wire.SystemNotice)
	if o := myagenttest.MetaOf(m); wire.Scalar(m.Content) != "Message queued: next" || o.Str("message") == "" ||
		o.Str("action") != "queue.added" || wire.ParseObject(o["data"]).Str("client_message_id") != "ui-1" {
		t.Errorf("%s %s", m.Content, m.Metadata)
	}
}

// S8: a session is named by id, name or prefix, and subscribed on first use.
func TestASessionIsFollowedWhenItIsUsed(t *testing.T) {
	p := myagenttest.NewNativeServer(t)
	p.Append("s1", codectest.Event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}))
	p.Append("s1", myagenttest.PlanApprovalTurn()...)
	b := newServerTest(t, p, nil)
	b.Receive(`{"event":"user.cancel","session_id":"s1"}`)
	var d protocol.InterruptData
	if c := b.LastCommand(protocol.DoInterrupt, &d); c.Session != "s1" {
		t.Errorf("%+v", c)
	}
	b.NextFrame(wire.AgentUserConfirm)
	b.ReceiveNative(b.Native.Append("s1", myagenttest.CompletedTurn(2)...)...)
	b.NextFrame(wire.AgentFinalAnswer)
}

// Invariant 14: the state and commands that a client can cause are bounded.
func TestTheServersEndIsBounded(t *testing.T) {
	p := myagenttest.NewNativeServer(t)
	b := newServerTest(t, p, nil)
	for n := range maxSubscriptions + 5 {
		id := "x" + strings.Repeat("y", n)
		p.Append(id, codectest.Event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}))
		b.Receive(`{"event":"user.cancel","session_id":"` + id + `"}`)
	}
	if s := b.Codec.(*Conn); len(s.subs.bySession) != maxSubscriptions {
		t.Errorf("%d subscriptions", len(s.subs.bySession))
	}
	if m := b.NextFrame(wire.AgentError); myagenttest.MetaOf(m).Str("error_type") != "too_many" {
		t.Errorf("%s", m.Metadata)
	}
	silent := New(codec.ServerOptions{ID: codectest.IDs(), Agent: func(string) string { return "" }, Sign: myagenttest.Sign})
	silent.Open(codectest.Start)
	commands := 0
	for range 1000 {
		commands += len(silent.Foreign(codectest.Start, codec.Frame{Data: []byte(`{"event":"user.create_session"}`)}).Native)
	}
	if commands > maxPendingCommands {
		t.Errorf("%d pending commands", commands)
	}
}

// A client can send several requests before the first answer.
func TestASessionIsAskedForTwiceAtOnce(t *testing.T) {
	p := myagenttest.NewNativeServer(t)
	p.Append("s1", codectest.Event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}))
	p.Append("s1", myagenttest.PlanApprovalTurn()...)
	b := newServerTest(t, p, nil)
	b.TakeEvents()
	var lines [][]byte
	for _, frame := range []string{
		`{"event":"user.reconnect","session_id":"s1","metadata":{"reply_to":"a"}}`,
		`{"event":"user.cancel","session_id":"s1","metadata":{"reply_to":"b"}}`,
		`{"event":"user.cancel_task","session_id":"s1","content":{"task_id":1},"metadata":{"reply_to":"c"}}`,
	} {
		out := b.Codec.Foreign(codectest.Start, codec.Frame{Data: []byte(frame)})
		lines = append(lines, out.Native...)
	}
	for _, line := range lines {
		b.ReceiveNative(p.Handle(line)...)
	}
	asked, replies := 0, ""
	for _, m := range b.Frames {
		switch o := myagenttest.MetaOf(m); {
		case m.Event == wire.AgentUserConfirm:
			asked++
		case o.Has("reply_to"):
			replies += o.Str("reply_to")
		}
	}
	if asked != 1 || len(replies) != 3 {
		t.Errorf("%d confirmations, replies to %q", asked, replies)
	}
}

// A deleted or unreadable session is reported as ended. Other clients' departures are not.
func TestASessionThatIsGoneEnds(t *testing.T) {
	detached := func(client string, reason protocol.Code) []byte {
		e := codectest.Event(protocol.ClientDetached, "", protocol.Client{Client: client, Reason: string(reason)})
		e.Session = "s1"
		return e.AppendJSON(nil)
	}
	b := openedServer(t)
	b.ReceiveNative(detached("another", ""), detached("another", protocol.CodeNoSession))
	if got := b.TakeEvents(); len(got) != 0 {
		t.Errorf("frames %v", got)
	}
	b.ReceiveNative(detached("c1", protocol.CodeNoSession))
	if m := b.NextFrame(wire.AgentSessionEnd); m.Session != "s1" || myagenttest.MetaOf(m).Str("reason") != "deleted" {
		t.Errorf("%+v", m)
	}
	delete(b.Native.Logs, "s1")
	b.Receive(`{"event":"user.message","content":"hi"}`)
	if m := b.NextFrame(wire.SystemError, wire.ErrorValidation); !strings.Contains(wire.Scalar(m.Content), "missing session_id") {
		t.Errorf("%s", m.Content)
	}
	b.Receive(`{"event":"user.message","session_id":"s1","content":"hi"}`)
	if m := b.NextFrame(wire.AgentError); wire.Scalar(m.Content) != "Session not found" {
		t.Errorf("%s", m.Content)
	}

	b = openedServer(t)
	b.ReceiveNative(detached("c1", protocol.CodeStorage))
	if m := b.NextFrame(wire.AgentError); m.Session != "s1" || myagenttest.MetaOf(m).Str("error_type") != string(protocol.CodeStorage) {
		t.Errorf("%+v", m)
	}
}
