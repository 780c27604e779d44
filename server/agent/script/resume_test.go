package script

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/server/agent"
)

const resumeScript = `{"resumes":true}
{"on":"*"}
{"think":"one two three"}
{"say":"four five"}
{"tool":"run","output":"six seven"}
{"ask":"command","then":[{"say":"allowed {reason}"}],"else":[{"say":"denied"}]}
{"plan":"Q","confirm":true,"parallel":1,"tasks":[{"id":"a","title":"A","steps":[{"say":"in a"},{"ask":"tool"},{"tool":"t"}],"result":"ra"},{"id":"b","title":"B"}]}
{"end":"completed","usage":{"input":1}}`

// runUntilCrash runs a turn and crashes the server after n events. The next agent gets the saved
// state and resumes the turn.
func runUntilCrash(t *testing.T, script *Script, st *fakeSession, state []byte, resumed bool, n int) (done bool) {
	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	crashed := errors.New("crashed")
	out := &crashingHost{fakeSession: st, left: n, crashed: crashed, kill: func() { kill(crashed) }}
	a, err := script.Open(agent.Spec{State: state}, out)
	if err != nil {
		t.Fatal(err)
	}
	turn := newTurn(1, "m")
	turn.Resumed = resumed
	_, err = a.Run(ctx, turn, out)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil && !errors.Is(err, crashed) {
		t.Fatal(err)
	}
	return out.left >= 0
}

// A crashingHost fails after left events: later events and saves are lost.
type crashingHost struct {
	*fakeSession
	left    int
	crashed error
	kill    func()
}

func (m *crashingHost) Emit(e agent.Event) error {
	if m.left--; m.left < 0 {
		m.kill()
		return m.crashed
	}
	return m.fakeSession.Emit(e)
}

func (m *crashingHost) Save(state []byte) error {
	if m.left < 0 {
		return m.crashed
	}
	return m.fakeSession.Save(state)
}

func TestAResumedTurnRepeatsNothingAndLosesNothing(t *testing.T) {
	script := parse(t, strings.Split(resumeScript, "\n")...)
	whole := &fakeSession{}
	runUntilCrash(t, script, whole, nil, false, 1000)
	rapid.Check(t, func(rt *rapid.T) {
		st := &fakeSession{}
		done := runUntilCrash(t, script, st, nil, false, rapid.IntRange(0, len(whole.events)).Draw(rt, "first"))
		for !done {
			done = runUntilCrash(t, script, st, st.saved, true, rapid.IntRange(1, len(whole.events)).Draw(rt, "more"))
		}
		if got, all := withoutTools(st), withoutTools(whole); !slices.Equal(got, all) {
			rt.Fatalf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(all, "\n"))
		}
		if len(st.asked) != len(whole.asked) {
			rt.Errorf("asked %d times, not %d", len(st.asked), len(whole.asked))
		}
	})
}

// withoutTools returns the event lines without tools, whose events a restart may end.
func withoutTools(s *fakeSession) []string {
	return slices.DeleteFunc(s.eventLines(), func(line string) bool { return strings.HasPrefix(line, "tool.") })
}

func TestAToolThatHadStartedIsNotRunAgain(t *testing.T) {
	script := parse(t, strings.Split(resumeScript, "\n")...)
	for n := range 20 {
		st := &fakeSession{}
		if done := runUntilCrash(t, script, st, nil, false, n); !done {
			runUntilCrash(t, script, st, st.saved, true, 1000)
		}
		runs := map[string][]protocol.Type{}
		for _, e := range st.events {
			switch d := e.Data.(type) {
			case protocol.ToolStartedData:
				runs[d.Tool] = append(runs[d.Tool], e.Type)
			case protocol.ToolEndedData:
				runs[d.Tool] = append(runs[d.Tool], e.Type)
			}
		}
		for id, types := range runs {
			once := []protocol.Type{protocol.ToolStarted, protocol.ToolEnded}
			// The session ends an interrupted tool.
			if !reflect.DeepEqual(types, once) && !reflect.DeepEqual(types, once[:1]) {
				t.Errorf("cut after %d: %s: %v", n, id, types)
			}
		}
	}
}

// The server may stop after the state of the end is stored and before the end is.
func TestAResumedTurnThatHadEndedOnlyEnds(t *testing.T) {
	for _, last := range []string{`{"say":"two"}`, `{"fail":"broken"}`, `{"end":"refusal","message":"no"}`} {
		script := parse(t, `{"resumes":true}`, `{"on":"*"}`, `{"say":"one"}`, `{"spawn":["true"]}`, last)
		a, st := open(t, script, nil)
		want, failed := a.Run(t.Context(), newTurn(1, "m"), st)
		resumed := newTurn(1, "m")
		resumed.Resumed = true
		a, st = open(t, script, st.saved)
		got, err := a.Run(t.Context(), resumed, st)
		if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(failed) || len(st.events) > 0 {
			t.Errorf("%s: %d more events, %+v, %v, want %+v, %v", last, len(st.events), got, err, want, failed)
		}
	}
}

func TestATurnOfAScriptThatDoesNotResumeKeepsNoProgress(t *testing.T) {
	a, st := open(t, parse(t, `{"on":"*"}`, `{"say":"x"}`), nil)
	if a.Capabilities().Resumes {
		t.Error("resumes")
	}
	saves := 0
	st.onEvent = func(agent.Event) {
		if st.saved != nil {
			saves++
		}
	}
	if _, err := a.Run(t.Context(), newTurn(1, ""), st); err != nil || saves != 0 || st.saved == nil {
		t.Errorf("%d saves during the turn, %q after it, %v", saves, st.saved, err)
	}
}
