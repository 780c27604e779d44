package myagent

import (
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
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
		before := len(b.native.commands)
		b.receive(frame)
		if m := b.nextFrame(errorValidation, agentError); !strings.Contains(string(m.Metadata), want) &&
			!strings.Contains(scalarText(m.Content), want) {
			t.Errorf("%s: %s %s", frame, m.Content, m.Metadata)
		}
		if len(b.native.commands) != before {
			t.Errorf("%s: executed %+v", frame, b.native.commands[before:])
		}
	}
}

// A command approval is confirmed as a tool with the command as argument, for clients that show
// tools.
func TestACommandIsConfirmedAsATool(t *testing.T) {
	b := openedServer(t)
	b.receiveNative(b.native.append("s1", event(protocol.MessageUser, "t1", protocol.Message{
		MessageID: "m1", Text: "clean",
	}),
		event(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "r1", Kind: protocol.ApproveCommand, Title: "Remove it", Command: "rm -rf x",
		}))...)
	m := b.nextFrame(agentUserConfirm)
	meta := metaOf(m)
	if meta.str("tool_name") != "command" || string(meta["tool_args"]) != `{"command":"rm -rf x"}` ||
		meta.str("tool_description") != "Remove it" {
		t.Errorf("confirmation %s", m.Metadata)
	}
}

// MY-24: the end of a turn without a message gets a default text.
func TestATurnsEndHasADefaultText(t *testing.T) {
	for reason, want := range map[protocol.Reason]string{
		protocol.ReasonTimeout:     agentTimeout + " Execution timed out",
		protocol.ReasonInterrupted: agentInterrupted + " Execution interrupted",
		protocol.ReasonRefusal:     agentError + " The turn ended: refusal",
	} {
		b := openedServer(t)
		b.receiveNative(b.native.append("s1",
			event(protocol.MessageUser, "t1", protocol.Message{MessageID: "m1", Text: "x"}))...)
		b.takeEvents()
		b.receiveNative(b.native.append("s1",
			event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: reason}))...)
		event, text, _ := strings.Cut(want, " ")
		if m := b.nextFrame(event); scalarText(m.Content) != text {
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
		m, ok := decodeMessage([]byte(`{"event":"user.reconnect",` + strings.TrimPrefix(frame, `{`)))
		if frame == `{}` {
			m, ok = decodeMessage([]byte(`{"event":"user.reconnect"}`))
		}
		if connection, seq, found := m.lastReceived(); !ok || connection != want.connection || seq != want.seq ||
			found != want.found {
			t.Errorf("%s: %q %d %v", frame, connection, seq, found)
		}
	}
}

// An unmatched error is recorded in the session; reasoning without a part id gets one; Open
// schedules a wake.
func TestUnmatchedFramesOfARealServer(t *testing.T) {
	s := attachedClient(t)
	s.call(protocol.DoSend, "work", protocol.SendData{Text: "weather?"}, nil)
	s.receive(serverFrame(4, agentThinking, "8202", `,"content":"hm"`))
	if it := s.lastItem(); it.Kind != protocol.ItemReasoning || it.ID == "" || it.Text.String() != "hm" {
		t.Errorf("reasoning: %+v", it)
	}
	before := len(s.transcript.Current().Items)
	s.receive(serverFrame(5, systemError, "8202", `,"content":"Session not found"`))
	if len(s.transcript.Turns[0].Items) == before && s.state.Turn != nil {
		t.Error("an unmatched error is not recorded")
	}
	if out := newClient(codec.ClientOptions{
		Name: "ada", ID: sequentialIDs(), Resume: new(codec.ClientState),
	}).Open(start); !out.Wake.Equal(start.Add(greetingTimeout)) {
		t.Errorf("wake at %s", out.Wake)
	}
}
