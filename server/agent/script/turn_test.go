package script

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// wantEvents compares the event lines of a session.
func wantEvents(t *testing.T, st *fakeSession, lines ...string) {
	t.Helper()
	if got := st.eventLines(); !slices.Equal(got, lines) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

func TestTextStreamsInWordsOrRunesAtItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		st, _, _ := runScript(t, `{"say":"one two  three","delay":"10ms"}`,
			`{"think":"äöü","runes":2,"delay":"1s","agent":"planner"}`)
		wantEvents(t, st, "text.start", "text.delta one ", "text.delta two  ", "text.delta three", "text.end",
			"reasoning.start", "reasoning.delta äö", "reasoning.delta ü", "reasoning.end")
		if took := time.Since(began); took != 2030*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if d := st.events[5].Data.(protocol.PartStartData); d != (protocol.PartStartData{
			Part:  "p2",
			Agent: "planner",
		}) {
			t.Errorf("%+v", d)
		}
	})
}

func TestJoinedChunksAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		r := rate{Words: rapid.IntRange(0, 3).Draw(t, "words")}
		if r.Words == 0 {
			r.Runes = rapid.IntRange(1, 5).Draw(t, "runes")
		}
		var got strings.Builder
		for chunk := range r.stream(text, 1) {
			got.WriteString(chunk)
		}
		if got.String() != text {
			t.Fatalf("%q", got.String())
		}
	})
}

func TestAToolShowsInputOutputAndHowItEnded(t *testing.T) {
	st, _, err := runScript(t,
		`{"tool":"shell","id":"a-{n}","kind":"execute","title":"run {message}","input":{"x":1},"stream":true,"words":9,"output":"o1 o2","exit":3}`,
		`{"tool":"edit","open":true}`, `{"tool":"edit","id":"turn1.t1","content":[{"type":"diff","path":"f","new":"n"}],"replace":true,"result":{"ok":true}}`)
	wantEvents(t, st, "tool.started", `tool.input {"x":1}`, "tool.input", "tool.output o1 o2", "tool.ended failed",
		"tool.started", "tool.started", "tool.output", "tool.ended completed")
	first := st.events[0].Data.(protocol.ToolStartedData)
	if first.Tool != "a-1" || first.Title != "run hello" || first.Input != nil {
		t.Errorf("%+v", first)
	}
	if d := st.events[4].Data.(protocol.ToolEndedData); *d.ExitCode != 3 || err != nil {
		t.Errorf("%+v, %v", d, err)
	}
	if a, b := st.events[5].Data.(protocol.ToolStartedData).Tool,
		st.events[6].Data.(protocol.ToolStartedData).Tool; a != b {
		t.Errorf("%s, %s", a, b)
	}
}

func TestADecisionChoosesTheBranch(t *testing.T) {
	script := parse(t, `{"on":"*"}`, `{"ask":"question","title":"{message}?","questions":[{"id":"q","text":"why"}],"explain":"because of {message}",`+
		`"when":{"mine":[{"say":"option"}],"allow_always":[{"say":"always"}],"expired":[{"say":"late"}]},`+
		`"then":[{"say":"yes {answers} {by}"}],"else":[{"say":"no {decision} {reason}"}]}`, `{"say":"!"}`)
	for _, c := range []struct {
		verdict agent.Verdict
		want    string
	}{
		{agent.Verdict{
			Outcome: protocol.Allowed, Decision: protocol.AllowOnce, By: &protocol.Actor{Name: "ann"},
			Input: &protocol.ApprovalInput{Answers: map[string][]string{"q": {"a", "b"}}},
		}, "yes a, b ann!"},
		{agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce, Option: "mine"}, "option!"},
		{agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowAlways}, "always!"},
		{agent.Verdict{Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "too dear"}, "no deny too dear!"},
		{agent.Verdict{Outcome: protocol.Expired}, "late!"},
	} {
		a, st := open(t, script, nil)
		st.decide = func(req protocol.Approval) agent.Verdict {
			why, err := a.(agent.Explainer).Explain(t.Context(), req)
			if why != "because of hello" || err != nil || req.Title != "hello?" || req.Questions == nil ||
				req.Request != "turn1.a1" {
				t.Errorf("%+v: %q, %v", req, why, err)
			}
			return c.verdict
		}
		if _, err := a.Run(t.Context(), newTurn(1, "hello"), st); err != nil || st.text() != c.want {
			t.Errorf("%q, %v; want %q", st.text(), err, c.want)
		}
		if _, err := a.(agent.Explainer).Explain(t.Context(),
			st.asked[0]); protocol.CodeOf(err) != protocol.CodeUnsupported {
			t.Errorf("explained after the decision: %v", err)
		}
	}
}

func TestEveryKindOfApprovalIsAsked(t *testing.T) {
	for _, kind := range []string{"command", "patch", "tool", "plan", "question"} {
		st, _, err := runScript(t, `{"ask":"`+kind+`","title":"T","command":"c","cwd":"/","why":"w","patch":"p","paths":["f"],"tool":"x",`+
			`"name":"n","input":{"a":1},"options":[{"id":"o","kind":"deny","label":"No"}],"tasks":[{"id":"1","title":"t"}]}`)
		if err != nil {
			t.Fatal(err)
		}
		got := st.asked[0]
		if got.Kind != kind || got.Why != "w" || got.Patch != "p" || got.Options[0].ID != "o" || len(got.Tasks) != 1 {
			t.Errorf("%+v", got)
		}
	}
}

func TestDenyStopEndsTheTurn(t *testing.T) {
	a, st := open(t, parse(t, `{"on":"*"}`, `{"ask":"command"}`, `{"say":"never"}`), nil)
	st.decide = func(protocol.Approval) agent.Verdict {
		return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.DenyStop}
	}
	end, err := a.Run(t.Context(), newTurn(1, ""), st)
	if err != nil || end.Reason != protocol.ReasonDenied || len(st.events) != 0 {
		t.Errorf("%+v, %v, %v", end, err, st.eventLines())
	}
}

func TestAnInterruptStopsInMidText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, st := open(t, parse(t, `{"on":"*"}`, `{"say":"word ","times":1000,"delay":"1s"}`), nil)
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		began := time.Now()
		end, err := a.Run(ctx, newTurn(1, ""), st)
		if err != nil || end.Reason != protocol.ReasonInterrupted || time.Since(began) != 3500*time.Millisecond {
			t.Errorf("%+v, %v after %v", end, err, time.Since(began))
		}
		wantEvents(t, st, "text.start", "text.delta word ", "text.delta word ", "text.delta word ")
		if st.saved == nil {
			t.Error("nothing was saved")
		}
	})
}

func TestABurstNumbersItsDeltasOverItsParts(t *testing.T) {
	st, _, _ := runScript(t, `{"burst":5,"size":4,"parts":2,"kind":"reasoning"}`)
	wantEvents(t, st, "reasoning.start", "reasoning.start", "reasoning.delta 0 ..", "reasoning.delta 1 ..",
		"reasoning.delta 2 ..",
		"reasoning.delta 3 ..", "reasoning.delta 4 ..", "reasoning.end", "reasoning.end")
	if a, b := st.events[2].Data.(protocol.PartDeltaData).Part,
		st.events[3].Data.(protocol.PartDeltaData).Part; a == b {
		t.Error("both deltas in one part")
	}
}

func TestRetriesRecoveriesAndNoticesAreEmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		st, _, _ := runScript(t, `{"retry":"overloaded","times":2,"limit":3,"delay":"1s"}`,
			`{"recover":"reconnect","delay":"2s"}`,
			`{"recover":"reconnect","failure":"gone"}`, `{"notice":"look: {message}","level":"warning"}`)
		wantEvents(t, st, "retry.scheduled", "retry.scheduled", "recovery.started", "recovery.succeeded",
			"recovery.started", "recovery.failed", "notice look: hello")
		if r := st.events[1].Data.(protocol.RetryData); r != (protocol.RetryData{
			Attempt: 2, Limit: 3, DelayMS: 1000,
			Cause: "overloaded",
		}) {
			t.Errorf("%+v", r)
		}
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestBytesAreStreamedUnchanged(t *testing.T) {
	st, _, _ := runScript(t, `{"bytes":"aP/+"}`)
	wantEvents(t, st, "text.start", "text.delta h\uFFFD\uFFFD", "text.end")
	if d := st.events[1].Data.(protocol.PartDeltaData); d.Text != "h\xff\xfe" {
		t.Errorf("%q", d.Text)
	}
}

func TestAWaitEndsWithItsGateOrFile(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := parse(t, `{"on":"*"}`, `{"wait":"gate-{n}"}`, `{"wait":"file:go"}`)
		st := &fakeSession{}
		a, err := s.Open(agent.Spec{CWD: dir}, st)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = a.Run(t.Context(), newTurn(1, ""), st)
		}()
		waits := func(when string) {
			synctest.Wait()
			select {
			case <-done:
				t.Errorf("did not wait %s", when)
			default:
			}
		}
		waits("for the gate")
		s.OpenGate("gate-1")
		s.OpenGate("gate-1")
		waits("for the file")
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		<-done
	})
}

func TestTheContextUsageFollowsFromTheText(t *testing.T) {
	a, st := open(t, parse(t, `{"window":100}`, `{"on":"set"}`, `{"context":{"tokens":80,"max_tokens":90}}`,
		`{"usage":{"input":5}}`,
		`{"on":"*"}`, `{"say":"12345678"}`), nil)
	if _, err := a.Run(t.Context(), newTurn(1, "1234"), st); err != nil {
		t.Fatal(err)
	}
	info, _, _ := a.(agent.Measurer).Context(t.Context())
	if info != (protocol.ContextInfo{Tokens: 3, MaxTokens: 100, Percent: 3, TranscriptLength: 2, Strategy: "none"}) {
		t.Errorf("%+v", info)
	}
	if last := st.events[len(st.events)-1]; last.Type != protocol.ContextUpdated || last.Data != info {
		t.Errorf("%+v", last)
	}
	if _, err := a.Run(t.Context(), newTurn(2, "set"), st); err != nil {
		t.Fatal(err)
	}
	did, err := a.(agent.Compactor).Compact(t.Context())
	if err != nil || did != (protocol.ContextCompactedData{Before: 80, After: 20, Percent: 75, Strategy: "summary"}) {
		t.Errorf("%+v, %v", did, err)
	}
	if info, _, _ := a.(agent.Measurer).Context(t.Context()); info.Tokens != 20 {
		t.Errorf("%+v", info)
	}
}

func TestSettingsAreSetEmittedAndExported(t *testing.T) {
	s := parse(t, `{"agent":"A","version":"2","settings":[{"id":"mode","value":"ask","choices":[{"id":"ask","label":"Ask"},{"id":"full","label":"Full"}]}]}`,
		`{"on":"*"}`, `{"say":"{mode}"}`)
	a, st := open(t, s, nil)
	if _, err := a.Run(t.Context(), newTurn(1, ""), st); err != nil || st.text() != "ask" ||
		st.events[0].Type != protocol.AgentOptions {
		t.Errorf("%v, %v", st.eventLines(), err)
	}
	c := a.(agent.Configurer)
	if err := c.Configure(t.Context(), "mode", "none"); protocol.CodeOf(err) != protocol.CodeInvalidMessage {
		t.Error(err)
	}
	if err := c.Configure(t.Context(), "tempo", "1"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Error(err)
	}
	if err := c.Configure(t.Context(), "mode", "full"); err != nil {
		t.Fatal(err)
	}
	if o := st.events[len(st.events)-1].Data.(protocol.Options); o.Name != "A" || o.Settings[0].Value != "full" {
		t.Errorf("%+v", o)
	}
	state, err := a.(agent.Exporter).Export(t.Context())
	if err != nil || !reflect.DeepEqual(state, st.saved) {
		t.Errorf("%s, %s, %v", state, st.saved, err)
	}
	b, again := open(t, s, state)
	if _, err := b.Run(t.Context(), newTurn(2, ""), again); err != nil || again.text() != "full" {
		t.Errorf("%q, %v", again.text(), err)
	}
}

func TestTheTourIsShortAndComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, st := open(t, Tour(), nil)
		began := time.Now()
		for i, text := range TourMessages() {
			end, err := a.Run(t.Context(), newTurn(i+1, text), st)
			if err != nil || end.Reason != protocol.ReasonCompleted {
				t.Fatalf("%+v, %v", end, err)
			}
		}
		if took := time.Since(began); took > 12*time.Second {
			t.Errorf("took %v", took)
		}
		seen := map[protocol.Type]bool{}
		for _, e := range st.events {
			seen[e.Type] = true
		}
		for _, typ := range []protocol.Type{
			protocol.ReasoningDelta, protocol.TextDelta, protocol.ToolOutput, protocol.ToolEnded,
			protocol.PlanCompleted,
			protocol.TaskCompleted, protocol.PipelineCompleted, protocol.ContextUpdated, protocol.AgentOptions,
		} {
			if !seen[typ] {
				t.Errorf("no %s", typ)
			}
		}
		if len(st.asked) != 1 || st.asked[0].Kind != protocol.ApproveCommand {
			t.Errorf("asked %+v", st.asked)
		}
	})
}
