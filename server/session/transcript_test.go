package session

import (
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestTheTranscriptForAnAgentIsTheEndOfTheFinishedTurns(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		for _, text := range []string{"one", "two", "three"} {
			r.send(id, text)
			run := r.agents.run()
			run.emit(
				agent.Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: "hidden"}},
				agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "answer "}},
				agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "to " + text}},
				agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "t", Title: "Run make"}},
				agent.Event{
					Type: protocol.ToolEnded,
					Data: protocol.ToolEndedData{Tool: "t", Status: protocol.ToolCompleted},
				},
			)
			if text == "three" {
				break // the turn stays open
			}
			run.finish(agent.End{}, nil)
			synctest.Wait()
		}
		host := r.agents.opened[0].host
		got, err := host.Transcript(t.Context(), 1<<10)
		want := "User: one\n\nAssistant: answer to one\n\n[tool call: Run make (completed)]\n\n" +
			"User: two\n\nAssistant: answer to two\n\n[tool call: Run make (completed)]"
		if err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
		if got, err = host.Transcript(t.Context(), 40); err != nil || len(got) > 40 ||
			!strings.HasPrefix(got, "[…] ") || !strings.HasSuffix(got, "Run make (completed)]") {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestAnEarlierConversationIsAFinishedTurnOrANoticeOfTheRunningOne(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		first := r.agents.run()
		host := r.agents.opened[0].host
		if err := host.RecordConversation("Continue x", "during the turn"); err != nil {
			t.Fatal(err)
		}
		first.finish(agent.End{}, nil)
		synctest.Wait()
		if err := host.RecordConversation("Continue x", "User: hi\n\nAssistant: hello"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got, err := host.Transcript(t.Context(), 1<<10)
		want := "User: one\n\nUser: Continue x\n\nAssistant: User: hi\n\nAssistant: hello"
		if err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
		snapshot := must[protocol.SnapshotResult](r, r.do(anna, newCommand(protocol.DoSnapshot, id, protocol.Empty{})))
		if s := snapshot.Snapshot.State; s.Turn != nil || s.Turns != 2 {
			t.Errorf("turn %+v, %d turns", s.Turn, s.Turns)
		}
		r.send(id, "next")
		r.agents.run().finish(agent.End{}, nil)
		synctest.Wait()
	})
}
