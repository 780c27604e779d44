package server

import (
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// pipelined delivers frames in one batch, before the server answers any.
func pipelined(b *myagenttest.Server, frames ...string) {
	b.T.Helper()
	var lines [][]byte
	for _, f := range frames {
		out := b.Codec.Foreign(b.Now, codec.Frame{Data: []byte(f)})
		for _, refused := range out.Foreign {
			b.T.Fatalf("%s: answered immediately: %s", f, refused.Data)
		}
		lines = append(lines, out.Native...)
	}
	for _, line := range lines {
		b.ReceiveNative(b.Native.Handle(line)...)
	}
}

// changes lists the commands that change a session.
func changes(p *myagenttest.NativeServer) (all []string) {
	for _, c := range p.Commands {
		if c.Command != protocol.DoHello && c.Command != protocol.DoSubscribe {
			all = append(all, string(c.Command)+" "+c.Session)
		}
	}
	return all
}

// Before agent.session_created, a frame without session_id means the session being created.
func TestFramesWaitForTheSessionBeingCreated(t *testing.T) {
	b := newServerTest(t, myagenttest.NewNativeServer(t), nil)
	b.TakeEvents()
	pipelined(b,
		`{"event":"user.create_session","content":"a"}`, `{"event":"user.message","content":"one"}`,
		`{"event":"user.cancel_task","content":{"task_id":1}}`,
		`{"event":"user.ack","seq":1}`, `{"event":"user.request_state"}`,
		`{"event":"user.create_session","content":"b"}`, `{"event":"user.message","content":"two"}`,
	)
	if got, want := changes(b.Native), []string{
		"create ", "send s1", "task.cancel s1", "export s1", "create ", "send s2",
	}; !slices.Equal(got, want) {
		t.Errorf("commands %v, want %v", got, want)
	}
	if got := b.TakeEvents(); !slices.Equal(got, []string{
		wire.AgentSessionCreated, wire.SystemNotice, wire.AgentStateExported, wire.AgentSessionCreated,
	}) {
		t.Errorf("frames %v", got)
	}
	b.Receive(`{"event":"user.cancel"}`)
	if c := b.LastCommand(protocol.DoInterrupt, nil); c.Session != "s2" {
		t.Errorf("current session %q", c.Session)
	}
}

// The same applies during a reconnect, with or without a state, and after a frame that names a new
// session.
func TestFramesWaitForTheSessionBeingJoined(t *testing.T) {
	was := openedServer(t)
	was.Receive(`{"event":"user.request_state"}`)
	state := myagenttest.MetaOf(was.NextFrame(wire.AgentStateExported))["signed_state"]
	for first, session := range map[string]string{
		`{"event":"user.reconnect","session_id":"other"}`:                            "other",
		`{"event":"user.cancel","session_id":"other"}`:                               "other",
		`{"event":"user.reconnect_with_state","signed_state":` + string(state) + `}`: "s2",
	} {
		b := openedServer(t)
		b.Native.Append("other", codectest.Event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}))
		pipelined(b, first, `{"event":"user.message","content":"hi"}`)
		if c := b.LastCommand(protocol.DoSend, nil); c.Session != session {
			t.Errorf("%s: sent to %q", first, c.Session)
		}
	}
}

// A frame for a session that could not be created does not reach another session.
func TestFramesForAFailedSessionAreRefused(t *testing.T) {
	b := openedServer(t)
	b.Native.Answers[protocol.DoCreate] = func(protocol.Command) (any, *protocol.Error) {
		return nil, protocol.Errorf(protocol.CodeTooMany, "too many sessions")
	}
	b.TakeEvents()
	pipelined(b, `{"event":"user.create_session"}`, `{"event":"user.message","step_id":"mine","content":"hi"}`)
	if slices.ContainsFunc(b.Native.Commands, func(c protocol.Command) bool { return c.Command == protocol.DoSend }) {
		t.Error("sent to another session")
	}
	b.NextFrame(wire.AgentError)
	if m := b.NextFrame(wire.AgentError); m.Step != "mine" || myagenttest.MetaOf(m).Str("in_reply_to") != wire.UserMessage ||
		!strings.Contains(wire.Scalar(m.Content), "too many") {
		t.Errorf("%+v %s", m, m.Content)
	}
	b.Receive(`{"event":"user.message","content":"hi"}`)
	if c := b.LastCommand(protocol.DoSend, nil); c.Session != "s1" {
		t.Errorf("current session %q", c.Session)
	}
}

// Invariant 14: frames that wait for a session are bounded.
func TestWhatWaitsForASessionIsBounded(t *testing.T) {
	silent := New(codec.ServerOptions{ID: codectest.IDs(), Agent: func(string) string { return "" }, Sign: myagenttest.Sign})
	silent.Open(codectest.Start)
	silent.Foreign(codectest.Start, codec.Frame{Data: []byte(`{"event":"user.create_session"}`)})
	refused := 0
	for range 1000 {
		refused += len(silent.Foreign(codectest.Start, codec.Frame{
			Data: []byte(`{"event":"user.message","content":"hi"}`),
		}).Foreign)
	}
	if silent.attacher.deferred >= maxPendingCommands || refused != 1000-silent.attacher.deferred {
		t.Errorf("%d deferred, %d refused", silent.attacher.deferred, refused)
	}
}

// An approval that a rule allows immediately is a notice, not a confirmation: no answer could
// matter.
func TestWhatARuleAllowsIsNotAsked(t *testing.T) {
	b := openedServer(t)
	want := func(request string) protocol.Event {
		return codectest.Event(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: request, Kind: protocol.ApproveCommand, Title: "List", Command: "ls", Asked: codectest.Start,
			Options: []protocol.Option{{ID: "always", Kind: protocol.AllowAlways}},
		})
	}
	rule := &protocol.Rule{ID: "rule1", Kind: protocol.ApproveCommand, Subject: `{"command":"ls"}`}
	b.ReceiveNative(b.Native.Append("s1",
		codectest.Event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "x"}),
		codectest.Event(protocol.TurnStarted, "t1", protocol.TurnStartedData{MessageID: "m1"}),
		want("r1"),
		codectest.Event(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{
			Request: "r1", Outcome: protocol.Allowed, Rule: rule,
		}),
	)...)
	b.NextFrame(wire.AgentUserConfirm)
	b.TakeEvents()
	b.ReceiveNative(b.Native.Append("s1", want("r2"),
		codectest.Event(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{
			Request: "r2", Outcome: protocol.Allowed, ByRule: "rule1",
		}))...)
	if got := b.TakeEvents(); !slices.Equal(got, []string{wire.SystemNotice, wire.SystemNotice}) {
		t.Errorf("frames %v", got)
	}
}
