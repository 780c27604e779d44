package session

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
)

// logOf returns the events of a session as an exported log has them.
func logOf(r *testHub, session string) []json.RawMessage {
	var out []json.RawMessage
	for _, e := range r.events(session, true) {
		if e.Turn != "" || e.Type == protocol.Notice {
			out = append(out, protocol.MustEncode(e))
		}
	}
	return out
}

// importMark follows the names of imported actors.
const importMark = " (imported)"

func importLog(r *testHub, d protocol.ImportData) *testCall {
	return r.do(bert, newCommand(protocol.DoImport, "", d))
}

func TestAnImportedSessionHasTheTurnsAndMarksTheirAuthors(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.finishedTurn(id, "find the blueberry",
			agent.Event{Type: protocol.TextContent, Data: protocol.TextContentData{
				Content: protocol.Content{Type: "text", Text: "it is in the garden"},
			}})
		d := protocol.ImportData{Events: logOf(r, id), LeftOut: 3}
		d.Name, d.Title = "again", "fruit"
		made := must[protocol.CreateResult](r, importLog(r, d))
		state := r.state("again")
		if state.Turns != 1 || state.Turn != nil || state.Title != "fruit" || made.Session == id {
			t.Errorf("imported %s", encodeState(state))
		}
		events := r.events(made.Session, true)
		newLogChecker(t).apply(events)
		var notice protocol.NoticeData
		for _, e := range events {
			switch {
			case e.Type == protocol.Notice && notice.Message == "":
				must0(t, e.Decode(&notice))
				if e.By == nil || e.By.Name != bert.By.Name {
					t.Errorf("the notice is by %+v", e.By)
				}
			case e.Turn != "" && e.By != nil && (e.By.Name != anna.By.Name+importMark || e.By.Subject != ""):
				t.Errorf("%s is by %+v", e.Type, e.By)
			}
		}
		for _, want := range []string{"imported 1 turn of the log of session " + id, "3 earlier turns"} {
			if !strings.Contains(notice.Message, want) {
				t.Errorf("notice %q lacks %q", notice.Message, want)
			}
		}
		d = protocol.ImportData{Events: logOf(r, made.Session)} // marked once
		again := must[protocol.CreateResult](r, importLog(r, d))
		for _, e := range r.events(again.Session, true) {
			if e.By != nil && strings.Count(e.By.Name, importMark) > 1 {
				t.Errorf("%s is by %+v", e.Type, e.By)
			}
		}
	})
}

func must0(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheAgentOfAnImportedSessionGetsThePastOnce fails the first turn: the agent gets the past with
// the next message again, and no more after a turn that completed.
func TestTheAgentOfAnImportedSessionGetsThePastOnce(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.finishedTurn(id, "find the blueberry")
		made := must[protocol.CreateResult](r, importLog(r, protocol.ImportData{Events: logOf(r, id)})).Session
		for i, c := range []struct {
			text string
			past bool
			err  error
		}{
			{"/compact", false, nil},
			{"first", true, errors.New("no login")},
			{"second", true, nil},
			{"third", false, nil},
		} {
			r.send(made, c.text)
			run := r.agents.run()
			got := run.turn.Message.Text
			if past := strings.Contains(got, "find the blueberry"); past != c.past || !strings.HasSuffix(got, c.text) {
				t.Errorf("message %d is %q, want the past: %v", i, got, c.past)
			}
			run.finish(agent.End{}, c.err)
			r.waitIdle()
			if i == 1 {
				r.restart()
			}
		}
		for _, e := range r.events(made, true) {
			if e.Type == protocol.MessageUser && strings.Contains(string(e.Data), "This session continues an imported conversation") {
				t.Error("the log has the past twice")
			}
		}
	})
}

// The package archive tests what an invalid past is.
func TestAnInvalidPastMakesNoSession(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.finishedTurn(id, "one")
		log := logOf(r, id)
		refused(r, importLog(r, protocol.ImportData{Events: log[:len(log)-1]}), protocol.CodeInvalidMessage)
		var x archive.State
		must0(t, json.Unmarshal(exportOf(r, id).State, &x))
		x.History = x.History[1:]
		refused(r, restore(r, r.hub.cfg.Sign(protocol.MustEncode(x))), protocol.CodeInvalidState)
		if n := len(r.hub.Sessions().List(true)); n != 1 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestAnImportSentTwiceMakesOneSession(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.finishedTurn(id, "one")
		c := keyed(newCommand(protocol.DoImport, "", protocol.ImportData{Events: logOf(r, id)}), "k1")
		first := must[protocol.CreateResult](r, r.do(bert, c))
		r.restart()
		if again := must[protocol.CreateResult](r, r.do(bert, c)); again.Session != first.Session {
			t.Errorf("made %s and %s", first.Session, again.Session)
		}
	})
}
