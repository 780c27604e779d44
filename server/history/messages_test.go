package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestMessagesAreThePairsOfFinishedTurns(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := runTurns(r, 1000, 2000, 3000)
		all, err := r.reader.Messages(context.Background(), id, "")
		if err != nil || len(all) != 6 {
			t.Fatalf("%d messages, %v", len(all), err)
		}
		for i, m := range all {
			role, size := "user", len("turn 0")
			if i%2 == 1 {
				role, size = "assistant", (i+1)/2*1000
			}
			if n := len(m.Items); n != 2*(i%2) ||
				i%2 == 1 && (m.Items[1].ID != fmt.Sprint("tool", i/2) || m.Reason != protocol.ReasonCompleted) {
				t.Errorf("message %d: %d items, ended %s", i, n, m.Reason)
			}
			if m.Role != role || len(m.Text) != size {
				t.Errorf("message %d: %s with %d bytes", i, m.Role, len(m.Text))
			}
			after, err := r.reader.Messages(context.Background(), id, m.MessageID)
			if err != nil ||
				!slices.EqualFunc(after, all[i+1:], func(a, b Message) bool { return a.MessageID == b.MessageID }) {
				t.Errorf("after message %d: %d messages, %v", i, len(after), err)
			}
		}
	})
}

func TestAnAnswerIsWhatTheAgentSaidInTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := r.create()
		r.send(id, "go")
		asked := time.Now()
		time.Sleep(time.Minute)
		run := r.agents.run()
		run.emit(
			agent.Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: "hm"}},
			agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "one "}},
			agent.Event{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: "t", Text: "out"}},
			agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "q", Text: "two"}},
		)
		run.finish(agent.End{Reason: protocol.ReasonMaxTokens}, nil)
		synctest.Wait()
		list, err := r.reader.Messages(t.Context(), id, "")
		if err != nil || len(list) != 2 {
			t.Fatalf("%d messages, %v", len(list), err)
		}
		if m := list[0]; m.Text != "go" || m.By == nil || m.By.Name != "anna" ||
			!m.Time.Equal(asked.Truncate(time.Millisecond)) {
			t.Errorf("user message %+v", m)
		}
		if m := list[1]; m.Text != "one \ntwo" || len(m.Items) != 4 || m.Reason != protocol.ReasonMaxTokens ||
			m.Time.Sub(list[0].Time) != time.Minute ||
			m.By != nil {
			t.Errorf("agent message %+v", m)
		}
		if _, err := r.reader.Messages(t.Context(), "unknown", ""); protocol.CodeOf(err) != protocol.CodeNoSession {
			t.Errorf("messages of an unknown session: %v", err)
		}
	})
}

func TestAHugeTurnKeepsItsMessageAndTheEndOfItsAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		id := r.create()
		r.send(id, "say much")
		run := r.agents.run()
		piece := strings.Repeat("x", protocol.MaxText)
		for range maxTurnsBytes/protocol.MaxText + 10 {
			run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: piece}})
		}
		run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "the end"}})
		run.finish(agent.End{}, nil)
		synctest.Wait()
		list, err := r.reader.Messages(t.Context(), id, "")
		if err != nil || len(list) != 2 || list[0].Text != "say much" || !strings.HasSuffix(list[1].Text, "the end") {
			t.Fatalf("%d messages, %v", len(list), err)
		}
		if after, err := r.reader.Messages(t.Context(), id, list[0].MessageID); err != nil || len(after) != 1 {
			t.Errorf("after the user message: %d messages, %v", len(after), err)
		}
	})
}

func TestASessionWithoutAFinishedTurnHasNoMessages(t *testing.T) {
	bubble(t, func(t *testing.T, r *testReader) {
		create := protocol.CreateData{Name: "box"}
		id := must[protocol.CreateResult](r, r.do(newCommand(protocol.DoCreate, "", create))).Session
		r.send(id, "one")
		list, err := r.reader.Messages(t.Context(), "box", "")
		if err != nil || list == nil || len(list) != 0 {
			t.Errorf("%#v, %v", list, err)
		}
		r.agents.run().finish(agent.End{}, nil)
	})
}
