package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fakeSession is the session of an agent. It records events and decides with decide.
type fakeSession struct {
	mu     sync.Mutex
	events []agent.Event
	asked  []protocol.Approval
	saved  []byte
	groups []agent.ProcessGroup

	onEvent func(agent.Event)                     // called for each event, without the lock
	decide  func(protocol.Approval) agent.Verdict // nil: allow once
	emitErr error                                 // error of every Emit
	decided map[string]agent.Verdict              // decisions by request
}

func (s *fakeSession) Emit(e agent.Event) error {
	s.mu.Lock()
	if s.emitErr != nil {
		defer s.mu.Unlock()
		return s.emitErr
	}
	if e.Save != nil {
		s.saved, e.Save = e.Save, nil
	}
	s.events = append(s.events, e)
	s.mu.Unlock()
	if s.onEvent != nil {
		s.onEvent(e)
	}
	return nil
}

func (s *fakeSession) Ask(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
	s.mu.Lock()
	if v, ok := s.decided[a.Request]; ok {
		s.mu.Unlock()
		return v, nil
	}
	s.asked = append(s.asked, a)
	decide := s.decide
	s.mu.Unlock()
	v := agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce}
	if decide != nil {
		v = decide(a)
	}
	if ctx.Err() != nil {
		v = agent.Verdict{Outcome: protocol.Cancelled}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.decided == nil {
		s.decided = map[string]agent.Verdict{}
	}
	s.decided[a.Request] = v
	return v, nil
}

func (s *fakeSession) Transcript(context.Context, int) (string, error) { return "", nil }

func (s *fakeSession) Save(state []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = append([]byte(nil), state...)
	return nil
}

func (s *fakeSession) SaveBlob(agent.Blob) error                        { return nil }
func (s *fakeSession) Sync(context.Context) error                       { return nil }
func (s *fakeSession) Blob(context.Context, string) (agent.Blob, error) { return agent.Blob{}, nil }

func (s *fakeSession) RecordProcessGroup(g agent.ProcessGroup) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = append(s.groups, g)
	return nil
}

func (s *fakeSession) RecordConversation(_, _ string) error { return nil }

func (s *fakeSession) Logf(string, ...any) {}

// eventLines returns each event as a line: type, task, and the text or status in the data.
func (s *fakeSession) eventLines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, e := range s.events {
		line := string(e.Type)
		if e.Task != "" {
			line += " [" + e.Task + "]"
		}
		var d struct{ Text, Status, Message, Result string }
		_ = json.Unmarshal(protocol.MustEncode(e.Data), &d)
		if word := d.Text + d.Status + d.Message + d.Result; word != "" {
			line += " " + word
		}
		all = append(all, line)
	}
	return all
}

// text returns all text deltas.
func (s *fakeSession) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, e := range s.events {
		if d, ok := e.Data.(protocol.PartDeltaData); ok && e.Type == protocol.TextDelta {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

func parse(t testing.TB, lines ...string) *Script {
	t.Helper()
	s, err := Parse("test", strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// open returns an agent of the script in a new fakeSession.
func open(t testing.TB, s *Script, state []byte) (agent.Agent, *fakeSession) {
	t.Helper()
	st := &fakeSession{}
	a, err := s.Open(agent.Spec{Session: "s", CWD: t.TempDir(), State: state}, st)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, st
}

func newTurn(n int, text string) agent.Turn {
	return agent.Turn{
		ID:      fmt.Sprintf("turn%d", n),
		Message: protocol.Message{MessageID: fmt.Sprintf("m%d", n), Text: text},
	}
}

// runScript runs one turn with the given steps.
func runScript(t testing.TB, lines ...string) (*fakeSession, agent.End, error) {
	t.Helper()
	a, st := open(t, parse(t, append([]string{`{"on":"*"}`}, lines...)...), nil)
	end, err := a.Run(t.Context(), newTurn(1, "hello"), st)
	return st, end, err
}

func TestAScriptIsReadStrictly(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"not JSON", "{\"on\":\"*\"}\n\n// x\nsay hello", "tour:4: not a JSON object"},
		{"unknown step", "{\"on\":\"*\"}\n{\"dance\":1}", `tour:2: unknown step "dance"`},
		{"unknown option", "{\"on\":\"*\"}\n{\"say\":\"x\",\"loud\":true}", `tour:2: say: unknown field "loud"`},
		{"wrong type", "{\"on\":\"*\"}\n{\"say\":5}", "tour:2: say: say: number is not a string"},
		{"before a turn", `{"say":"x"}`, "tour:1: say: a step before the first turn"},
		{"late head", "{\"on\":\"*\"}\n{\"resumes\":true}", "tour:2: resumes: only before the first turn"},
		{"empty", "{}", "tour:1: empty object"},
		{"bad duration", "{\"on\":\"*\"}\n{\"sleep\":\"long\"}", `tour:2: sleep: "long" is not a duration`},
		{"long duration", "{\"on\":\"*\"}\n{\"sleep\":\"2h\"}", "tour:2: sleep: 2h0m0s is not between"},
		{"empty pattern", `{"on":""}`, "tour:1: on: empty"},
		{"turn zero", `{"turn":0}`, "tour:1: turn: must be at least 1"},
		{
			"within a step", "{\"on\":\"*\"}\n{\"ask\":\"command\",\"then\":[{\"sing\":1}]}",
			`tour:2: ask: unknown step "sing"`,
		},
		{"unknown kind", "{\"on\":\"*\"}\n{\"ask\":\"money\"}", "tour:2: ask: unknown approval kind"},
		{"unknown event", "{\"on\":\"*\"}\n{\"emit\":\"x\"}", "tour:2: emit: unknown event"},
		{"ephemeral event", "{\"on\":\"*\"}\n{\"emit\":\"heartbeat\"}", "tour:2: emit: heartbeat is ephemeral"},
		{"wrong data", "{\"on\":\"*\"}\n{\"emit\":\"notice\",\"data\":{\"x\":1}}", "tour:2: emit: data of notice"},
		{"open with an end", "{\"on\":\"*\"}\n{\"tool\":\"x\",\"open\":true,\"exit\":0}", "tour:2: tool: open"},
		{"tasks twice", "{\"on\":\"*\"}\n{\"plan\":\"\",\"tasks\":[{\"id\":\"a\",\"title\":\"A\"},{\"id\":\"a\",\"title\":\"B\"}]}", "duplicate id"},
		{"words and runes", "{\"pace\":{\"words\":1,\"runes\":1}}", "tour:1: words and runes"},
	} {
		_, err := Parse("tour", strings.NewReader(c.script))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.name, err, c.want)
		}
	}
}

func TestTheFirstMatchingSectionRuns(t *testing.T) {
	a, st := open(t, parse(t,
		`{"on":"tests"}`, `{"say":"part"}`,
		`{"turn":3}`, `{"say":"third"}`,
		`{"on":"run * please"}`, `{"say":"glob"}`,
	), nil)
	for i, c := range []struct{ text, want string }{
		{"do the tests pass", "part"},
		{"run it please", "glob"},
		{"run it please", "third"},
		{"run it", "You said: run it"},
		{"please run it", "You said: please run it"},
	} {
		st.events = nil
		if _, err := a.Run(t.Context(), newTurn(i+1, c.text), st); err != nil || st.text() != c.want {
			t.Errorf("%q: %q, %v; want %q", c.text, st.text(), err, c.want)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "bab", true},
		{"a", "b", false},
		{"*", "", true},
		{"*", "x\ny", true},
		{"a*", "ab", true},
		{"a*", "ba", false},
		{"*a", "ba", true},
		{"*a", "ab", false},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "acb", false},
		{"a*a", "a", false},
		{"**", "x", true},
	} {
		if got := matches(c.pattern, c.text); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.pattern, c.text, got)
		}
	}
}

func TestEveryDurableEventCanBeEmitted(t *testing.T) {
	for _, et := range protocol.EventTypes {
		if et.Ephemeral {
			continue
		}
		line := fmt.Sprintf(`{"emit":%q,"data":%s,"task":"k","parent":"p"}`, et.Type, protocol.MustEncode(et.New()))
		if et.Type == protocol.JoinedDeltas || et.Type == protocol.SessionUpdated {
			line = fmt.Sprintf(`{"emit":%q,"task":"k","parent":"p"}`, et.Type)
		}
		st, _, err := runScript(t, line)
		if err != nil || len(st.events) != 1 {
			t.Fatalf("%s: %v, %v", et.Type, st.eventLines(), err)
		}
		e := st.events[0]
		if want := fmt.Sprintf("%T", et.New())[1:]; e.Type != et.Type || fmt.Sprintf("%T", e.Data) != want ||
			e.Task != "k" || e.Parent != "p" {
			t.Errorf("%s: %+v; want data of type %s", et.Type, e, want)
		}
	}
}

func TestATurnEndsWithTheReasonOfTheScript(t *testing.T) {
	_, end, err := runScript(t, `{"end":"refusal","code":"agent_failed","message":"no, {message}","usage":{"input":3}}`, `{"say":"never"}`)
	if err != nil || end.Reason != protocol.ReasonRefusal || end.Code != protocol.CodeAgentFailed ||
		end.Message != "no, hello" || end.Usage.Input != 3 {
		t.Errorf("%+v, %v", end, err)
	}
	_, end, err = runScript(t, `{"say":"four words of text"}`)
	if err != nil || end.Reason != protocol.ReasonCompleted || end.Usage.Input != 2 || end.Usage.Output == 0 {
		t.Errorf("%+v, %+v, %v", end, end.Usage, err)
	}
	_, _, err = runScript(t, `{"fail":"out of luck","code":"agent_auth_required"}`)
	if protocol.CodeOf(err) != protocol.CodeAgentAuth {
		t.Error(err)
	}
	_, _, err = runScript(t, `{"fail":"out of luck"}`)
	if protocol.CodeOf(err) != protocol.CodeAgentFailed {
		t.Error(err)
	}
}

func TestAnAgentOfABadStateDoesNotOpen(t *testing.T) {
	_, err := Tour().Open(agent.Spec{State: []byte("{")}, &fakeSession{})
	if protocol.CodeOf(err) != protocol.CodeInvalidState {
		t.Error(err)
	}
}

func TestAnEmitErrorEndsTheRun(t *testing.T) {
	a, st := open(t, parse(t, `{"on":"*"}`, `{"say":"x"}`), nil)
	st.emitErr = errors.New("the turn is over")
	if _, err := a.Run(t.Context(), newTurn(1, ""), st); !errors.Is(err, st.emitErr) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(tour)
	f.Add("{\"on\":\"*\"}\n{\"ask\":\"command\",\"when\":{\"deny\":[{\"say\":\"x\"}]}}")
	f.Add("{\"on\":\"*\"}\n{\"emit\":\"fold\",\"data\":{\"parts\":[]}}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f", strings.NewReader(text))
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("error without a line: %v", err)
		}
		if (s == nil) == (err == nil) {
			t.Error("want either a script or an error")
		}
	})
}
