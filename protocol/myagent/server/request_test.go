package server

import (
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// MY-10, MY-15, MY-17, MY-28: a frame with a missing field is refused with the field's name, and
// nothing is executed.
func TestAMissingFieldIsNamed(t *testing.T) {
	for frame, want := range map[string]string{
		`{"event":"user.response","session_id":"s1","content":{"approved":true}}`: "step_id",
		`{"event":"user.solve_tasks","session_id":"s1","content":{}}`:             "tasks",
		`{"event":"user.solve_tasks","session_id":"s1","content":{"tasks":[]}}`:   "tasks",
		`{"event":"user.cancel_task","session_id":"s1","content":{}}`:             "task_id",
		`{"event":"user.restart_task","session_id":"s1"}`:                         "task_id",
	} {
		b := openedServer(t)
		before := len(b.Native.Commands)
		b.Receive(frame)
		if m := b.NextFrame(wire.ErrorValidation, wire.AgentError); !strings.Contains(string(m.Metadata), want) &&
			!strings.Contains(wire.Scalar(m.Content), want) {
			t.Errorf("%s: %s %s", frame, m.Content, m.Metadata)
		}
		if len(b.Native.Commands) != before {
			t.Errorf("%s: executed %+v", frame, b.Native.Commands[before:])
		}
	}
}

// A command approval is confirmed as a tool with the command as argument, for clients that show
// tools.
func TestACommandIsConfirmedAsATool(t *testing.T) {
	b := openedServer(t)
	b.ReceiveNative(b.Native.Append("s1", codectest.Event(protocol.MessageUser, "t1", protocol.Message{
		MessageID: "m1", Text: "clean",
	}),
		codectest.Event(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "r1", Kind: protocol.ApproveCommand, Title: "Remove it", Command: "rm -rf x",
		}))...)
	m := b.NextFrame(wire.AgentUserConfirm)
	meta := myagenttest.MetaOf(m)
	if meta.Str("tool_name") != "command" || string(meta["tool_args"]) != `{"command":"rm -rf x"}` ||
		meta.Str("tool_description") != "Remove it" {
		t.Errorf("confirmation %s", m.Metadata)
	}
}

// MY-24: the end of a turn without a message gets a default text.
func TestATurnsEndHasADefaultText(t *testing.T) {
	for reason, want := range map[protocol.Reason]string{
		protocol.ReasonTimeout:     wire.AgentTimeout + " Execution timed out",
		protocol.ReasonInterrupted: wire.AgentInterrupted + " Execution interrupted",
		protocol.ReasonRefusal:     wire.AgentError + " The turn ended: refusal",
	} {
		b := openedServer(t)
		b.ReceiveNative(b.Native.Append("s1",
			codectest.Event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "x"}))...)
		b.TakeEvents()
		b.ReceiveNative(b.Native.Append("s1",
			codectest.Event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: reason}))...)
		event, text, _ := strings.Cut(want, " ")
		if m := b.NextFrame(event); wire.Scalar(m.Content) != text {
			t.Errorf("%s: %s", reason, m.Content)
		}
	}
}

// MY-7: a client names its last received frame in any of the forms.
func TestLastReceivedFrameInEveryForm(t *testing.T) {
	for frame, want := range map[string]struct {
		connection string
		seq        uint64
		found      bool
	}{
		`{"content":{"last_event_id":"c1-7","last_seq":3}}`:        {"c1", 7, true},
		`{"last_event_id":"c1-7","last_seq":3}`:                    {"c1", 7, true},
		`{"content":{"last_seq":3,"connection_id":"c2"}}`:          {"c2", 3, true},
		`{"connection_id":"c3","content":{"last_seq":3}}`:          {"c3", 3, true},
		`{"connection_id":"c3","last_seq":4}`:                      {"c3", 4, true},
		`{"content":{"last_seq":0}}`:                               {"", 0, true},
		`{"content":{"last_event_id":"nonsense"},"last_seq":null}`: {"", 0, false},
		`{}`: {"", 0, false},
	} {
		m, ok := wire.DecodeMessage([]byte(`{"event":"user.reconnect",` + strings.TrimPrefix(frame, `{`)))
		if frame == `{}` {
			m, ok = wire.DecodeMessage([]byte(`{"event":"user.reconnect"}`))
		}
		if connection, seq, found := m.LastReceived(); !ok || connection != want.connection || seq != want.seq ||
			found != want.found {
			t.Errorf("%s: %q %d %v", frame, connection, seq, found)
		}
	}
}
