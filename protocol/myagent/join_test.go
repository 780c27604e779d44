package myagent

import (
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// pipelined delivers frames in one batch, before the server answers any.
func pipelined(b *serverTest, frames ...string) {
	b.t.Helper()
	var lines [][]byte
	for _, f := range frames {
		out := b.codec.Foreign(b.now, codec.Frame{Data: []byte(f)})
		for _, refused := range out.Foreign {
			b.t.Fatalf("%s: answered at once: %s", f, refused.Data)
		}
		lines = append(lines, out.Native...)
	}
	for _, line := range lines {
		b.receiveNative(b.native.handle(line)...)
	}
}

// changes lists the commands that change a session.
func changes(p *nativeServer) (all []string) {
	for _, c := range p.commands {
		if c.Command != protocol.DoHello && c.Command != protocol.DoSubscribe {
			all = append(all, string(c.Command)+" "+c.Session)
		}
	}
	return all
}

// Before agent.session_created, a frame without session_id means the session being created.
func TestFramesWaitForTheSessionBeingCreated(t *testing.T) {
	b := newServerTest(t, newNativeServer(t), nil)
	b.takeEvents()
	pipelined(b,
		`{"event":"user.create_session","content":"a"}`, `{"event":"user.message","content":"one"}`,
		`{"event":"user.cancel_task","content":{"task_id":1}}`,
		`{"event":"user.ack","seq":1}`, `{"event":"user.request_state"}`,
		`{"event":"user.create_session","content":"b"}`, `{"event":"user.message","content":"two"}`,
	)
	if got, want := changes(b.native), []string{
		"create ", "send s1", "task.cancel s1", "export s1", "create ", "send s2",
	}; !slices.Equal(got, want) {
		t.Errorf("commands %v, want %v", got, want)
	}
	if got := b.takeEvents(); !slices.Equal(got, []string{
		agentSessionCreated, systemNotice, agentStateExported, agentSessionCreated,
	}) {
		t.Errorf("frames %v", got)
	}
	b.receive(`{"event":"user.cancel"}`)
	if c := b.lastCommand(protocol.DoInterrupt, nil); c.Session != "s2" {
		t.Errorf("current session %q", c.Session)
	}
}

// The same applies during a reconnect, with or without a state, and after a frame that names a new
// session.
func TestFramesWaitForTheSessionBeingJoined(t *testing.T) {
	was := openedServer(t)
	was.receive(`{"event":"user.request_state"}`)
	state := metaOf(was.nextFrame(agentStateExported))["signed_state"]
	for first, session := range map[string]string{
		`{"event":"user.reconnect","session_id":"other"}`:                            "other",
		`{"event":"user.cancel","session_id":"other"}`:                               "other",
		`{"event":"user.reconnect_with_state","signed_state":` + string(state) + `}`: "s2",
	} {
		b := openedServer(t)
		b.native.append("other", event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}))
		pipelined(b, first, `{"event":"user.message","content":"hi"}`)
		if c := b.lastCommand(protocol.DoSend, nil); c.Session != session {
			t.Errorf("%s: sent to %q", first, c.Session)
		}
	}
}

// A frame for a session that could not be created does not reach another session.
func TestFramesForAFailedSessionAreRefused(t *testing.T) {
	b := openedServer(t)
	b.native.answers[protocol.DoCreate] = func(protocol.Command) (any, *protocol.Error) {
		return nil, protocol.Errorf(protocol.CodeTooMany, "too many sessions")
	}
	b.takeEvents()
	pipelined(b, `{"event":"user.create_session"}`, `{"event":"user.message","step_id":"mine","content":"hi"}`)
	if slices.ContainsFunc(b.native.commands, func(c protocol.Command) bool { return c.Command == protocol.DoSend }) {
		t.Error("sent to another session")
	}
	b.nextFrame(agentError)
	if m := b.nextFrame(agentError); m.Step != "mine" || metaOf(m).str("in_reply_to") != userMessage ||
		!strings.Contains(scalarText(m.Content), "too many") {
		t.Errorf("%+v %s", m, m.Content)
	}
	b.receive(`{"event":"user.message","content":"hi"}`)
	if c := b.lastCommand(protocol.DoSend, nil); c.Session != "s1" {
		t.Errorf("current session %q", c.Session)
	}
}

// Invariant 14: frames that wait for a session are bounded.
func TestWhatWaitsForASessionIsBounded(t *testing.T) {
	silent := newServer(codec.ServerOptions{ID: sequentialIDs(), Agent: func(string) string { return "" }, Sign: sign})
	silent.Open(start)
	silent.Foreign(start, codec.Frame{Data: []byte(`{"event":"user.create_session"}`)})
	refused := 0
	for range 1000 {
		refused += len(silent.Foreign(start, codec.Frame{
			Data: []byte(`{"event":"user.message","content":"hi"}`),
		}).Foreign)
	}
	if silent.deferred >= maxPendingCommands || refused != 1000-silent.deferred {
		t.Errorf("%d deferred, %d refused", silent.deferred, refused)
	}
}

// An approval that a rule allows at once is a notice, not a confirmation: no answer could matter.
func TestWhatARuleAllowsIsNotAsked(t *testing.T) {
	b := openedServer(t)
	want := func(request string) protocol.Event {
		return event(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: request, Kind: protocol.ApproveCommand, Title: "List", Command: "ls", Asked: start,
			Options: []protocol.Option{{ID: "always", Kind: protocol.AllowAlways}},
		})
	}
	rule := &protocol.Rule{ID: "rule1", Kind: protocol.ApproveCommand, Subject: `{"command":"ls"}`}
	b.receiveNative(b.native.append("s1",
		event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "x"}),
		event(protocol.TurnStarted, "t1", protocol.TurnStartedData{MessageID: "m1"}),
		want("r1"),
		event(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{
			Request: "r1", Outcome: protocol.Allowed, Rule: rule,
		}),
	)...)
	b.nextFrame(agentUserConfirm)
	b.takeEvents()
	b.receiveNative(b.native.append("s1", want("r2"),
		event(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{
			Request: "r2", Outcome: protocol.Allowed, ByRule: "rule1",
		}))...)
	if got := b.takeEvents(); !slices.Equal(got, []string{systemNotice, systemNotice}) {
		t.Errorf("frames %v", got)
	}
}
