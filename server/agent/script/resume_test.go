package script

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/server/session"
)

const story = `{"resumes":true}
{"on":"*"}
{"think":"one two three"}
{"say":"four five"}
{"tool":"run","output":"six seven"}
{"ask":"command","then":[{"say":"allowed {reason}"}],"else":[{"say":"denied"}]}
{"plan":"Q","confirm":true,"parallel":1,"tasks":[{"id":"a","title":"A","steps":[{"say":"in a"},{"ask":"tool"},{"tool":"t"}],"result":"ra"},{"id":"b","title":"B"}]}
{"end":"completed","usage":{"input":1}}`

// cut runs a turn and kills the agent after n events; the next agent gets what was kept and goes on.
func cut(t *testing.T, script *Script, st *stage, state []byte, resumed bool, n int) (done bool) {
	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	died := errors.New("died")
	out := &mortal{stage: st, left: n, died: died, kill: func() { kill(died) }}
	a, err := script.Open(session.Spec{State: state}, out)
	if err != nil {
		t.Fatal(err)
	}
	run := turn(1, "m")
	run.Resumed = resumed
	_, err = a.Run(ctx, run, out)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil && !errors.Is(err, died) {
		t.Fatal(err)
	}
	return out.left >= 0
}

// A mortal server dies when its events are used up: nothing that the agent says or saves then is kept.
type mortal struct {
	*stage
	left int
	died error
	kill func()
}

func (m *mortal) Emit(e session.Event) error {
	if m.left--; m.left < 0 {
		m.kill()
		return m.died
	}
	return m.stage.Emit(e)
}

func (m *mortal) Save(state []byte) error {
	if m.left < 0 {
		return m.died
	}
	return m.stage.Save(state)
}

func TestAResumedTurnRepeatsNothingAndLosesNothing(t *testing.T) {
	script := parse(t, strings.Split(story, "\n")...)
	whole := &stage{}
	cut(t, script, whole, nil, false, 1000)
	rapid.Check(t, func(rt *rapid.T) {
		st := &stage{}
		done := cut(t, script, st, nil, false, rapid.IntRange(0, len(whole.events)).Draw(rt, "first"))
		for !done {
			done = cut(t, script, st, st.saved, true, rapid.IntRange(1, len(whole.events)).Draw(rt, "more"))
		}
		if got, all := known(st), known(whole); !slices.Equal(got, all) {
			rt.Fatalf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(all, "\n"))
		}
		if len(st.asked) != len(whole.asked) {
			rt.Errorf("asked %d times, not %d", len(st.asked), len(whole.asked))
		}
	})
}

// known is what was told but for tools, whose work a restart may cut.
func known(s *stage) []string {
	return slices.DeleteFunc(s.told(), func(line string) bool { return strings.HasPrefix(line, "tool.") })
}

func TestAToolThatHadStartedIsNotRunAgain(t *testing.T) {
	script := parse(t, strings.Split(story, "\n")...)
	for n := range 20 {
		st := &stage{}
		if done := cut(t, script, st, nil, false, n); !done {
			cut(t, script, st, st.saved, true, 1000)
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
			if !reflect.DeepEqual(types, once) && !reflect.DeepEqual(types, once[:1]) { // the session ends what was cut
				t.Errorf("cut after %d: %s: %v", n, id, types)
			}
		}
	}
}

func TestATurnOfAScriptThatDoesNotResumeKeepsNoProgress(t *testing.T) {
	a, st := open(t, parse(t, `{"on":"*"}`, `{"say":"x"}`), nil)
	if a.Capabilities().Resumes {
		t.Error("resumes")
	}
	saves := 0
	st.heard = func(session.Event) {
		if st.saved != nil {
			saves++
		}
	}
	if _, err := a.Run(t.Context(), turn(1, ""), st); err != nil || saves != 0 || st.saved == nil {
		t.Errorf("%d saves in the turn, %q after it, %v", saves, st.saved, err)
	}
}
