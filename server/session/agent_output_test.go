package session

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

func TestWhateverIsSaidOfAToolStartsIt(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		r.agents.run().emit(
			agent.Event{Type: protocol.ToolInput, Data: protocol.ToolInputData{Tool: "a", Text: "x"}},
			agent.Event{Type: protocol.ToolInput, Data: protocol.ToolInputData{Tool: "b", Input: json.RawMessage(`{}`)}},
			agent.Event{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: "c", Text: "x"}},
			agent.Event{
				Type: protocol.ToolOutput,
				Data: protocol.ToolOutputData{Tool: "d", Content: []protocol.Content{{Type: "text"}}},
			},
			agent.Event{Type: protocol.ToolEnded, Data: protocol.ToolEndedData{Tool: "e", Status: protocol.ToolFailed}},
			agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "f"}},
		)
		r.waitIdle()
		var started []string
		known := map[string]bool{}
		for _, e := range r.events(id, false) {
			var d struct{ Tool string }
			if err := e.Decode(&d); err != nil || d.Tool == "" {
				continue
			}
			if e.Type == protocol.ToolStarted {
				started, known[d.Tool] = append(started, d.Tool), true
			}
			if !known[d.Tool] {
				t.Errorf("%s of %s, which was not started", e.Type, d.Tool)
			}
		}
		if got := strings.Join(started, ""); got != "abcdef" {
			t.Errorf("started %s", got)
		}
	})
}

func TestAToolThatEndedIsNotStartedAgainByLateOutput(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		r.agents.run().emit(
			agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "t"}},
			agent.Event{Type: protocol.ToolEnded, Data: protocol.ToolEndedData{Tool: "t", Status: protocol.ToolCompleted}},
			agent.Event{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: "t", Text: "late"}},
		)
		r.waitIdle()
		n := 0
		for _, e := range r.events(id, false) {
			if e.Type == protocol.ToolStarted {
				n++
			}
		}
		if n != 1 || len(r.state(id).Turn.Tools) != 0 {
			t.Errorf("started %d times", n)
		}
	})
}

func TestAHugeRequestIsAskedWithItsTextInABlob(t *testing.T) {
	bubble(t, Config{ApprovalTimeout: time.Hour}, func(t *testing.T, r *testHub) {
		patch := strings.Repeat("+ line\n", protocol.MaxEvent)
		id := startAsking(r, protocol.Approval{
			Request: strings.Repeat(
				"q",
				1000,
			),
			Kind:  protocol.ApprovePatch,
			Title: "\xff",
			Patch: patch,
			Paths: []string{"a"},
			Input: json.RawMessage(`{"broken`),
		})
		st := r.state(id)
		if len(st.Approvals) != 1 || len(st.Approvals[0].Patch) > record.LongText {
			t.Fatalf("%d requests", len(st.Approvals))
		}
		_, blob, _ := strings.Cut(st.Approvals[0].Patch, "blob ")
		b, err := r.store.Blob(t.Context(), id, strings.TrimSuffix(blob, ")"))
		if err != nil || string(b.Data) != patch {
			t.Errorf("blob %q: %d bytes, %v", blob, len(b.Data), err)
		}
	})
}
