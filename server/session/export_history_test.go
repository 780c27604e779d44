package session

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/historygen"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
	"agentctl/server/session/output"
	"agentctl/server/session/record"
)

// unkept matches the differences between the transcripts of an exported session and a restored one.
var unkept = regexp.MustCompile(
	`"(seq|first|last)":\d+,?|,?"blob":"[^"]*"|,?"name":"\(not in the exported state\)"| \(not in the exported state\)`)

// past returns the finished turns of events as text, without parts that a state does not carry.
func past(t testingT, events []protocol.Event) []string {
	t.Helper()
	var tr protocol.Transcript
	for i := range events {
		if e := &events[i]; protocol.EventTypeOf(e.Type).Exported {
			if _, err := tr.Apply(e); err != nil {
				t.Fatalf("transcript: %v", err)
			}
		}
	}
	var turns []string
	for _, turn := range tr.Turns {
		if turn.End != nil {
			for _, it := range turn.Items {
				it.Seq = 0
				if it.Resolved != nil {
					it.Resolved.Rule = nil
				}
			}
			turns = append(turns, unkept.ReplaceAllString(string(protocol.MustEncode(turn)), ""))
		}
	}
	return turns
}

// checkRestored exports a session, restores it and checks that the new one has its finished turns,
// in its log, its state and its index.
func checkRestored(r *testHub, id string) string {
	r.t.Helper()
	st := exportOf(r, id)
	made := must[protocol.CreateResult](r, restore(r, st)).Session
	r.waitIdle()
	r.t.Helper()
	events := r.events(made, false)
	newLogChecker(r.t).apply(events)
	want, got := past(r.t, r.events(id, false)), past(r.t, events)
	if n := len(want) - len(got); n > 0 && len(strings.Join(want, "")) > archive.MaxState*3/4 {
		want = want[n:] // the others do not fit
	}
	if !slices.Equal(got, want) {
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				same := 0
				for same < min(len(at(got, i)), len(want[i])) && got[i][same] == want[i][same] {
					same++
				}
				r.t.Fatalf("%d turns of %d; turn %d:\n%.200s\nexported:\n%.200s",
					len(got), len(want), i, at(got, i)[max(0, same-60):], want[i][max(0, same-60):])
			}
		}
		r.t.Fatalf("%d turns, exported %d", len(got), len(want))
	}
	if state := r.state(made); state.Turns != len(want) || len(state.Rules) > 0 ||
		string(encodeState(state)) != string(encodeState(reduce(r.t, made, events))) {
		r.t.Fatalf("state %s after %d turns", encodeState(state), len(want))
	}
	stored := r.store.sessions[made]
	if len(stored.turns) != len(want) {
		r.t.Fatalf("%d turns in the index of %d", len(stored.turns), len(want))
	}
	for _, row := range stored.turns {
		if events[row.First-1].Type != protocol.MessageUser || events[row.Last-1].Type != protocol.TurnEnded ||
			events[row.Last-1].Turn != row.Turn || !events[row.Last-1].Time.Equal(row.Ended) {
			r.t.Fatalf("index entry %+v", row)
		}
	}
	if n := stored.rec.SnapSeq; n > 0 {
		if s := reduce(r.t, made, events[:n]); string(encodeState(s)) != string(stored.rec.Snapshot) {
			r.t.Fatalf("snapshot %s at %d", stored.rec.Snapshot, n)
		}
	}
	if string(protocol.MustEncode(protocol.JoinDeltas(events))) != string(protocol.MustEncode(r.events(made, true))) {
		r.t.Fatalf("the joined events differ")
	}
	return made
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

func TestARestoredSessionHasThePastOfAnyExportedOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(rt *rapid.T) {
			r := newTestHub(rt, Config{})
			defer func() { _ = r.hub.Close(context.Background()) }()
			id := r.create()
			g := &historygen.Generator{T: rt}
			for range rapid.IntRange(1, 4).Draw(rt, "turns") {
				time.Sleep(time.Second)
				message := protocol.SendData{Text: rapid.SampledFrom([]string{"one", "wörld"}).Draw(rt, "message")}
				must[protocol.SendResult](r, r.do(anna, newCommand(protocol.DoSend, id, message)))
				run := r.agents.run()
				for range rapid.IntRange(0, 30).Draw(rt, "events") {
					time.Sleep(time.Millisecond)
					g.State, g.Now = r.state(id), record.Time(time.Now())
					r.generated(rt, run, id, g)
				}
				if rapid.Bool().Draw(rt, "interrupted") {
					r.do(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{}))
				} else {
					run.finish(agent.End{}, nil)
				}
				r.waitIdle()
			}
			time.Sleep(time.Hour)
			made := checkRestored(r, id)
			checkRestored(r, made)
			r.restart()
			checkRestored(r, made)
			if len(r.store.faults) > 0 {
				rt.Fatalf("invalid batches: %v", r.store.faults)
			}
		})
	})
}

// generated plays an event drawn by a generator: output of an agent, a request, or a decision.
func (r *testHub) generated(rt *rapid.T, run *fakeRun, id string, g *historygen.Generator) {
	switch en := g.Next(); {
	case en.Type == protocol.ApprovalRequested:
		run.ask(en.Data.(protocol.Approval))
	case len(g.State.Approvals) > 0 && en.Type == protocol.ApprovalResolved:
		d := protocol.ApproveData{Request: g.State.Approvals[0].Request, Decision: protocol.AllowAlways}
		if rapid.Bool().Draw(rt, "denied") {
			d.Decision, d.Reason = protocol.Deny, "no"
		}
		r.do(bert, newCommand(protocol.DoApprove, id, d))
	case protocol.EventTypeOf(en.Type).AgentMay:
		if d, ok := en.Data.(protocol.ToolStartedData); ok {
			d.Session = "" // of a sub-agent, which has no session here
			en.Data = d
		}
		run.emit(agent.Event{Type: en.Type, Task: en.Task, Parent: en.Parent, Data: en.Data})
	}
	synctest.Wait()
}

// finishedTurn runs a turn in which the agent emits events.
func (r *testHub) finishedTurn(id, text string, events ...agent.Event) {
	r.t.Helper()
	r.send(id, text)
	run := r.agents.run()
	run.emit(events...)
	run.finish(agent.End{}, nil)
	r.waitIdle()
}

func TestTheNewestTurnsThatFitAreExportedAndTheOthersCounted(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		for i := range 12 {
			output := strings.Repeat("x", 100<<10)
			r.finishedTurn(id, fmt.Sprint("turn ", i), agent.Event{
				Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: output},
			})
		}
		st := exportOf(r, id)
		command := newCommand(protocol.DoRestore, "", protocol.RestoreData{State: st})
		if n := len(protocol.MustEncode(command)); n > protocol.MaxMessage || n < protocol.MaxMessage/2 {
			t.Errorf("restore has %d bytes", n)
		}
		made := must[protocol.CreateResult](r, r.do(bert, command)).Session
		want := past(t, r.events(id, false))
		if got := past(t, r.events(made, false)); len(got) != 5 || !slices.Equal(got, want[7:]) {
			t.Errorf("%d turns", len(got))
		}
		notices := []string{}
		for _, e := range r.events(made, false) {
			var d protocol.NoticeData
			if e.Type == protocol.Notice && e.Decode(&d) == nil {
				notices = append(notices, d.Message)
			}
		}
		if !slices.Equal(notices, []string{"7 earlier turns are not in the exported state"}) {
			t.Errorf("notices %q", notices)
		}
	})
}

func TestTheAgentsMemoryAndTheQueueComeBeforeTheHistory(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.finishedTurn(id, "one")
		r.send(id, "two")
		memory := strings.Repeat("m", archive.MaxState*3/4)
		if err := r.agents.run().out.Save([]byte(memory)); err != nil {
			t.Fatal(err)
		}
		r.send(id, "three")
		made := must[protocol.CreateResult](r, restore(r, exportOf(r, id))).Session
		if s := r.state(made); s.Turns != 0 || len(s.Queue) != 0 || s.Turn == nil || s.Turn.Message.Text != "three" {
			t.Errorf("restored %s", encodeState(s))
		}
		if got := string(r.agents.run().agent.spec.State); got != memory {
			t.Errorf("%d bytes of memory", len(got))
		}
		if events := r.events(made, false); !strings.Contains(string(events[2].Data), "1 earlier turn is not") {
			t.Errorf("third event %s %s", events[2].Type, events[2].Data)
		}
	})
}

func TestARestoredDecisionIsShownAndFinalButGrantsNothing(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		run := r.agents.run()
		run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Title: "run", Command: "make"})
		synctest.Wait()
		always := protocol.ApproveData{Request: "q", Decision: protocol.AllowAlways}
		must[protocol.ApproveResult](r, r.do(anna, newCommand(protocol.DoApprove, id, always)))
		run.finish(agent.End{}, nil)
		r.waitIdle()
		asked := r.state(id).Last.Ended
		time.Sleep(24 * time.Hour)
		st := exportOf(r, id)
		if strings.Contains(string(st.State), `"rule"`) {
			t.Errorf("the rule is in %s", st.State)
		}
		made := must[protocol.CreateResult](r, restore(r, st)).Session
		s := r.state(made)
		if len(s.Rules) > 0 || s.Last == nil || !s.Last.Ended.Equal(asked) {
			t.Errorf("restored %s", encodeState(s))
		}
		if sum, _ := r.hub.list.Summary(made); time.Since(sum.Updated) > time.Minute {
			t.Errorf("last activity %v", sum.Updated)
		}
		for _, e := range r.events(made, false) {
			if e.Type == protocol.ApprovalResolved && (e.By == nil || e.By.Name != "anna" || !e.Time.Equal(asked)) {
				t.Errorf("resolved by %v at %v", e.By, e.Time)
			}
		}
		again := refused(r, r.do(bert, newCommand(protocol.DoApprove, made, always)), protocol.CodeConflict)
		if again.Winner == nil || again.Winner.By.Name != "anna" {
			t.Errorf("winner %+v", again.Winner)
		}
	})
}

func TestBlobsAreNotExportedAndTheEventsSaySo(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		small := protocol.Content{Type: "image", Name: "small", MediaType: "image/png"}
		small.Data = json.RawMessage(`"iVBORw0K"`)
		large := protocol.Content{Type: "image", Path: "/a/large.png", MediaType: "image/png"}
		large.Data = json.RawMessage(`"` + strings.Repeat("abcd", 60_000) + `"`)
		r.finishedTurn(id, "one",
			agent.Event{Type: protocol.TextContent, Data: protocol.TextContentData{Content: small}},
			agent.Event{Type: protocol.TextContent, Data: protocol.TextContentData{Content: large}},
			agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "t"}},
			agent.Event{Type: protocol.ToolEnded, Data: protocol.ToolEndedData{
				Tool: "t", Status: protocol.ToolCompleted,
				Output: json.RawMessage(`"` + strings.Repeat("y", protocol.MaxEvent) + `"`),
			}},
			agent.Event{Type: protocol.ErrorRaised, Data: protocol.ErrorData{
				Message: strings.Repeat("z", protocol.MaxEvent),
			}},
		)
		made := must[protocol.CreateResult](r, restore(r, exportOf(r, id))).Session
		var got []string
		for _, e := range r.events(made, false) {
			switch e.Type {
			case protocol.TextContent, protocol.ToolEnded, protocol.ErrorRaised:
				got = append(got, strings.ReplaceAll(string(e.Data), strings.Repeat("z", record.ShortText), "z*"))
			}
		}
		kept := output.Contents([]protocol.Content{{Type: "image", Data: json.RawMessage(`"iVBORw0K"`)}})[0]
		want := []string{
			`{"content":{"type":"image","name":"small","blob":"` + kept.ID +
				`","bytes":6,"media_type":"image/png","data":"iVBORw0K"}}`,
			`{"content":{"type":"image","name":"large.png (not in the exported state)","path":"/a/large.png",` +
				`"bytes":180000,"media_type":"image/png"}}`,
			`{"tool":"t","status":"completed","output":"262146 bytes (not in the exported state)"}`,
			`{"kind":"","message":"z*… (262144 bytes, not in the exported state)"}`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
		if n := len(r.store.sessions[made].blobs); n != 1 {
			t.Errorf("%d blobs", n)
		}
	})
}
