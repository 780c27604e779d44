package myagent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// MY-1, MY-5, MY-26, X-24: the first frame of a connection is the greeting. Frames are numbered
// from 1 and named after the connection.
func TestEveryConnectionIsGreetedFirst(t *testing.T) {
	b := newServerTest(t, newNativeServer(t), nil)
	m := b.nextFrame(systemConnected)
	o := parseObject(m.Content)
	var can []string
	if !o.decode("capabilities", &can) || !slices.Contains(can, capTurns) ||
		o.str("server_version") != "agentctl/test" {
		t.Errorf("greeting: %s", m.Content)
	}
	if m.Seq != 1 || m.ID != "conn_1-1" || m.Connection != "conn_1" || metaOf(m).str("connection_id") != "conn_1" ||
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
		b := newServerTest(t, newNativeServer(t), nil)
		b.receive(`{"event":"user.create_session"` + content + `}`)
		m := b.nextFrame(agentSessionCreated)
		if m.Session != "s1" || scalarText(m.Content) != "Session created successfully" ||
			metaOf(m).str("agent_name") != "script" {
			t.Errorf("%s: %+v", content, m)
		}
		var d protocol.CreateData
		b.lastCommand(protocol.DoCreate, &d)
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
		b.receive(`{"event":"user.message","session_id":"s1","content":` + content + `}`)
		var d protocol.SendData
		if b.lastCommand(protocol.DoSend, &d); d.Text != text {
			t.Errorf("%s: sent %q", content, d.Text)
		}
	}
	for _, content := range []string{`""`, `null`, `{}`, `"  "`} {
		b := openedServer(t)
		b.receive(`{"event":"user.message","content":` + content + `}`)
		if m := b.nextFrame(errorValidation); !metaOf(m).has("errors") {
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
		b.receiveNative(b.native.append("s1", planApprovalTurn()...)...)
		step := string(b.nextFrame(agentUserConfirm).Step)
		b.receive(`{"event":"user.response","step_id":"` + step + `","content":` + content + `}`)
		var d protocol.ApproveData
		c := b.lastCommand(protocol.DoApprove, &d)
		if d.Request != "r1" || d.Decision != want || c.Session != "s1" {
			t.Errorf("%s: %s %+v", content, c.Session, d)
		}
	}
	b := openedServer(t)
	b.receiveNative(b.native.append("s1", planApprovalTurn()...)...)
	b.native.answers[protocol.DoApprove] = func(protocol.Command) (any, *protocol.Error) {
		return nil, protocol.Errorf(protocol.CodeNotFound, "no such request")
	}
	b.receive(`{"event":"user.response","step_id":"other","content":{"approved":true}}`)
	var d protocol.ApproveData
	if b.lastCommand(protocol.DoApprove, &d); d.Request != "other" {
		t.Errorf("approve %+v", d)
	}
	for metaOf(b.nextFrame(systemNotice)).str("ok") != "false" { // no agent.error, which ends a turn
	}
	for _, bad := range []string{
		`{"approved":"yes"}`, `{}`, `null`, `{"approved":true,"decision":"deny"}`, `{"decision":"perhaps"}`,
	} {
		b.receive(`{"event":"user.response","step_id":"confirm_r1","content":` + bad + `}`)
		b.nextFrame(errorValidation)
	}
}

// planApprovalTurn returns the events of a turn with a pending plan approval.
func planApprovalTurn() []protocol.Event {
	tasks := []protocol.Task{{ID: "1", Title: "生成PPT"}, {ID: "2", Title: "优化样式"}, {ID: "3", Title: "导出文件"}}
	return []protocol.Event{
		event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "slides"}),
		event(protocol.TurnStarted, "t1", protocol.TurnStartedData{MessageID: "m1"}),
		event(protocol.PlanStarted, "t1", protocol.PlanStartedData{Question: "slides"}),
		event(protocol.PlanUpdated, "t1", protocol.PlanTasksData{Tasks: tasks, Summary: "three slides"}),
		event(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "r1", Kind: protocol.ApprovePlan, Title: "Plan", Tasks: tasks, Asked: start,
			Options: []protocol.Option{{ID: "allow_once", Kind: protocol.AllowOnce, Label: "Allow"}},
		}),
	}
}

// MY-4, MY-12: a plan's confirmation has scope, tasks, count, summary and display text. Edited
// tasks reach the agent.
func TestAPlanIsConfirmed(t *testing.T) {
	b := openedServer(t)
	b.receiveNative(b.native.append("s1", planApprovalTurn()...)...)
	m := b.nextFrame(agentUserConfirm)
	o := metaOf(m)
	if o.str("scope") != "plan" || o.int("task_count") != 3 || o.str("plan_summary") != "three slides" ||
		len(nativeTasks(o["tasks"])) != 3 {
		t.Errorf("metadata: %s", m.Metadata)
	}
	if want := "请确认规划（3 个任务）：生成PPT、优化样式、导出文件"; string(m.Show) != want || scalarText(m.Content) != want {
		t.Errorf("display text %q", m.Show)
	}
	b.receive(`{"event":"user.response","step_id":"` + string(m.Step) +
		`","content":{"confirmed":true,"tasks":[{"id":2,"title":"only this"}]}}`)
	var d protocol.ApproveData
	if b.lastCommand(protocol.DoApprove, &d); d.Input == nil || len(d.Input.Tasks) != 1 || d.Input.Tasks[0].ID != "2" ||
		d.Input.Tasks[0].Title != "only this" {
		t.Errorf("approved with %+v", d.Input)
	}
}

// MY-13, X-14: an unanswered confirmation is denied after 300 s, in turns of this client.
func TestAConfirmationTimesOut(t *testing.T) {
	for _, mine := range []bool{true, false} {
		b := openedServer(t)
		if mine {
			b.receive(`{"event":"user.message","content":"slides"}`)
		}
		b.receiveNative(b.native.append("s1", planApprovalTurn()...)...)
		for range 9 {
			b.wake(30 * time.Second)
		}
		if slices.ContainsFunc(b.native.commands, func(c protocol.Command) bool {
			return c.Command == protocol.DoApprove
		}) {
			t.Fatal("denied too early")
		}
		b.wake(30 * time.Second)
		denied := slices.ContainsFunc(b.native.commands, func(c protocol.Command) bool {
			return c.Command == protocol.DoApprove
		})
		if denied != mine {
			t.Errorf("mine %t, denied %t", mine, denied)
		}
	}
}

// MY-13, MY-27, MY-34: each timeout is an option.
func TestTheServersTimesAreOptions(t *testing.T) {
	b := newServerTestWith(t, newNativeServer(t), nil, map[string]string{
		"heartbeat": "5s", "confirm_timeout": "7s", "state_ttl": "1m",
	})
	b.receive(`{"event":"user.create_session"}`)
	b.receive(`{"event":"user.message","content":"slides"}`)
	b.receiveNative(b.native.append("s1", planApprovalTurn()...)...)
	b.wake(5 * time.Second)
	b.nextFrame(systemHeartbeat)
	decided := func() bool {
		return slices.ContainsFunc(b.native.commands, func(c protocol.Command) bool {
			return c.Command == protocol.DoApprove
		})
	}
	if decided() {
		t.Error("denied too early")
	}
	b.wake(5 * time.Second)
	if b.nextFrame(systemHeartbeat); !decided() {
		t.Error("not denied after 7 s")
	}
	b.receive(`{"event":"user.request_state","session_id":"s1"}`)
	state := metaOf(b.nextFrame(agentStateExported))["signed_state"]
	b.now = b.now.Add(2 * time.Minute)
	b.receive(`{"event":"user.reconnect_with_state","signed_state":` + string(state) + `}`)
	if m := b.nextFrame(systemError); !strings.HasPrefix(scalarText(m.Content), "Invalid state: ") {
		t.Errorf("a state from two minutes ago: %s", m.Content)
	}

	b = newServerTestWith(t, newNativeServer(t), nil, map[string]string{"heartbeat": "0", "confirm_timeout": "0"})
	b.receive(`{"event":"user.create_session"}`)
	b.receive(`{"event":"user.message","content":"slides"}`)
	b.receiveNative(b.native.append("s1", planApprovalTurn()...)...)
	if b.takeEvents(); !b.out.Wake.IsZero() {
		t.Errorf("wake at %s without a timer", b.out.Wake)
	}
}

// MY-15, MY-17: given tasks are solved, a task is cancelled or restarted, and cancel names the
// current turn.
func TestTasksAndTurnsAreSteered(t *testing.T) {
	b := openedServer(t)
	b.receive(`{"event":"user.solve_tasks","content":{"tasks":[{"id":1,"title":"a"},{"id":"x","title":"b","after":[1]}],"question":"q","plan_summary":"s"}}`)
	var run protocol.PlanRunData
	if b.lastCommand(protocol.DoPlanRun, &run); len(run.Tasks) != 2 || run.Tasks[1].After[0] != "1" ||
		run.Question != "q" || run.Summary != "s" {
		t.Errorf("%+v", run)
	}
	b.receiveNative(b.native.append("s1", planApprovalTurn()...)...)
	var task protocol.TaskIDData
	b.receive(`{"event":"user.cancel_task","content":{"task_id":1}}`)
	if b.lastCommand(protocol.DoTaskCancel, &task); task.Task != "1" {
		t.Errorf("%+v", task)
	}
	b.receive(`{"event":"user.restart_task","content":{"task_id":"x"}}`)
	if b.lastCommand(protocol.DoTaskRestart, &task); task.Task != "x" {
		t.Errorf("%+v", task)
	}
	b.receive(`{"event":"user.cancel"}`)
	var stop protocol.InterruptData
	if b.lastCommand(protocol.DoInterrupt, &stop); stop.Turn != "t1" {
		t.Errorf("%+v", stop)
	}
	b.receive(`{"event":"user.cancel_plan"}`) // too late: the plan awaits its confirmation
	for metaOf(b.nextFrame(systemNotice)).str("action") != "cancel_plan" {
	}
	b.receive(`{"event":"user.replan","content":{"question":"shorter"}}`)
	b.receive(`{"event":"user.response","step_id":"confirm_plan_r1","content":{"confirmed":false}}`)
	var d protocol.ApproveData
	if b.lastCommand(protocol.DoApprove, &d); d.Decision != protocol.Deny || !d.Input.Replan || d.Reason != "shorter" {
		t.Errorf("%+v", d)
	}
}

// MY-27, X-10: a heartbeat is sent every 30 s, with both sets of fields.
func TestTheServerSendsHeartbeats(t *testing.T) {
	b := newServerTest(t, newNativeServer(t), nil)
	if want := start.Add(30 * time.Second); !b.out.Wake.Equal(want) {
		t.Fatalf("wake at %s", b.out.Wake)
	}
	b.wake(30 * time.Second)
	m := b.nextFrame(systemHeartbeat)
	if parseObject(m.Content).str("timestamp") == "" || !metaOf(m).has("active_sessions") ||
		metaOf(m).int("uptime") != 30 {
		t.Errorf("%s %s", m.Content, m.Metadata)
	}
}

// MY-36, X-17, X-18: an invalid frame gets an error, and the connection stays open.
func TestBadFramesAreAnswered(t *testing.T) {
	b := newServerTest(t, newNativeServer(t), nil)
	for frame, want := range map[string]string{
		`nonsense`: "Invalid JSON", `[]`: "Invalid JSON", `{}`: "Missing event",
		`{"event":"user.fly"}`:                                        "Unknown event type or missing session_id: user.fly",
		`{"event":"user.message","content":"x"}`:                      "Unknown event type or missing session_id: user.message",
		`{"event":"user.message","session_id":"nope","content":"hi"}`: "Session not found",
		`{"event":"user.reconnect_with_state"}`:                       "Missing signed_state in reconnect request",
		`{"event":"user.reconnect_with_state","signed_state":{}}`:     "Invalid state: ",
		`{"event":"user.reconnect","session_id":"nope"}`:              "Session not found",
	} {
		b.takeEvents()
		b.receive(frame)
		if len(b.frames) != 1 || !strings.HasPrefix(scalarText(b.frames[0].Content), want) {
			t.Errorf("%s: %s", frame, b.raw)
		}
		if b.out.Close != nil {
			t.Errorf("%s: the codec closed the connection", frame)
		}
	}
}

// MY-33, MY-34: a state is signed as in MyAgent and verified: checksum, signature, age, required
// fields.
func TestAStateIsSignedAndVerified(t *testing.T) {
	b := openedServer(t)
	b.receive(`{"event":"user.request_state","session_id":"s1"}`)
	m := b.nextFrame(agentStateExported)
	raw := metaOf(m)["signed_state"]
	if _, err := verifyState(raw, b.now, defaultStateTTL, sign); err != nil {
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
		if _, err := verifyState(bad, b.now, defaultStateTTL, sign); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := verifyState(raw, b.now.Add(8*24*time.Hour), defaultStateTTL, sign); err == nil {
		t.Error("an expired state is accepted")
	}
	if bad, err := signState(carriedState{Session: "s"}, b.now, sign); err != nil {
		t.Error(err)
	} else if _, err := verifyState(bad, b.now, defaultStateTTL, sign); err == nil {
		t.Error("a state without its fields is accepted")
	}
}

// a message during a turn is queued, and a notice reports it. Nothing is rejected or
// cancelled.
func TestAQueuedMessageIsAnnounced(t *testing.T) {
	b := openedServer(t)
	b.receiveNative(b.native.append("s1", planApprovalTurn()...)...)
	b.takeEvents()
	b.receive(`{"event":"user.message","content":"next","metadata":{"client_message_id":"ui-1"}}`)
	var d protocol.SendData
	if b.lastCommand(protocol.DoSend, &d); d.ClientMessageID != "ui-1" {
		t.Errorf("sent %+v", d)
	}
	b.receiveNative(b.native.append("s1", event(protocol.QueueAdded, "", protocol.Message{
		MessageID: "m2", Text: "next", ClientMessageID: "ui-1",
	}))...)
	m := b.nextFrame(systemNotice)
	if o := metaOf(m); scalarText(m.Content) != "Message queued: next" || o.str("message") == "" ||
		o.str("action") != "queue.added" || parseObject(o["data"]).str("client_message_id") != "ui-1" {
		t.Errorf("%s %s", m.Content, m.Metadata)
	}
}

// S8: a session is named by id, name or prefix, and subscribed on first use.
func TestASessionIsFollowedWhenItIsUsed(t *testing.T) {
	p := newNativeServer(t)
	p.append("s1", event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}))
	p.append("s1", planApprovalTurn()...)
	b := newServerTest(t, p, nil)
	b.receive(`{"event":"user.cancel","session_id":"s1"}`)
	var d protocol.InterruptData
	if c := b.lastCommand(protocol.DoInterrupt, &d); c.Session != "s1" {
		t.Errorf("%+v", c)
	}
	b.nextFrame(agentUserConfirm)
	b.receiveNative(b.native.append("s1", completedTurn(2)...)...)
	b.nextFrame(agentFinalAnswer)
}

// Invariant 14: the state and commands that a client can cause are bounded.
func TestTheServersEndIsBounded(t *testing.T) {
	p := newNativeServer(t)
	b := newServerTest(t, p, nil)
	for n := range maxSubscriptions + 5 {
		id := "x" + strings.Repeat("y", n)
		p.append(id, event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}))
		b.receive(`{"event":"user.cancel","session_id":"` + id + `"}`)
	}
	if s := b.codec.(*server); len(s.subscriptions) != maxSubscriptions {
		t.Errorf("%d subscriptions", len(s.subscriptions))
	}
	if m := b.nextFrame(agentError); metaOf(m).str("error_type") != "too_many" {
		t.Errorf("%s", m.Metadata)
	}
	silent := newServer(codec.ServerOptions{ID: sequentialIDs(), Agent: func(string) string { return "" }, Sign: sign})
	silent.Open(start)
	commands := 0
	for range 1000 {
		commands += len(silent.Foreign(start, codec.Frame{Data: []byte(`{"event":"user.create_session"}`)}).Native)
	}
	if commands > maxPendingCommands {
		t.Errorf("%d pending commands", commands)
	}
}

// A client can send several requests before the first answer.
func TestASessionIsAskedForTwiceAtOnce(t *testing.T) {
	p := newNativeServer(t)
	p.append("s1", event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}))
	p.append("s1", planApprovalTurn()...)
	b := newServerTest(t, p, nil)
	b.takeEvents()
	var lines [][]byte
	for _, frame := range []string{
		`{"event":"user.reconnect","session_id":"s1","metadata":{"reply_to":"a"}}`,
		`{"event":"user.cancel","session_id":"s1","metadata":{"reply_to":"b"}}`,
		`{"event":"user.cancel_task","session_id":"s1","content":{"task_id":1},"metadata":{"reply_to":"c"}}`,
	} {
		out := b.codec.Foreign(start, codec.Frame{Data: []byte(frame)})
		lines = append(lines, out.Native...)
	}
	for _, line := range lines {
		b.receiveNative(p.handle(line)...)
	}
	asked, replies := 0, ""
	for _, m := range b.frames {
		switch o := metaOf(m); {
		case m.Event == agentUserConfirm:
			asked++
		case o.has("reply_to"):
			replies += o.str("reply_to")
		}
	}
	if asked != 1 || len(replies) != 3 {
		t.Errorf("%d confirmations, replies to %q", asked, replies)
	}
}

// A deleted or unreadable session is reported as ended. Other clients' departures are not.
func TestASessionThatIsGoneEnds(t *testing.T) {
	detached := func(client string, reason protocol.Code) []byte {
		e := event(protocol.ClientDetached, "", protocol.Client{Client: client, Reason: string(reason)})
		e.Session = "s1"
		return e.AppendJSON(nil)
	}
	b := openedServer(t)
	b.receiveNative(detached("another", ""), detached("another", protocol.CodeNoSession))
	if got := b.takeEvents(); len(got) != 0 {
		t.Errorf("frames %v", got)
	}
	b.receiveNative(detached("c1", protocol.CodeNoSession))
	if m := b.nextFrame(agentSessionEnd); m.Session != "s1" || metaOf(m).str("reason") != "deleted" {
		t.Errorf("%+v", m)
	}
	delete(b.native.logs, "s1")
	b.receive(`{"event":"user.message","content":"hi"}`)
	if m := b.nextFrame(systemError, errorValidation); !strings.Contains(scalarText(m.Content), "missing session_id") {
		t.Errorf("%s", m.Content)
	}
	b.receive(`{"event":"user.message","session_id":"s1","content":"hi"}`)
	if m := b.nextFrame(agentError); scalarText(m.Content) != "Session not found" {
		t.Errorf("%s", m.Content)
	}

	b = openedServer(t)
	b.receiveNative(detached("c1", protocol.CodeStorage))
	if m := b.nextFrame(agentError); m.Session != "s1" || metaOf(m).str("error_type") != string(protocol.CodeStorage) {
		t.Errorf("%+v", m)
	}
}
