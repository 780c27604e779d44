package plain

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
)

// sentences are questions whose ids are their texts.
var sentences = []protocol.Question{
	{ID: "Red or blue?", Text: "Red or blue?", Choices: []protocol.Choice{
		{ID: "red", Label: "red", About: "warm"}, {ID: "blue", Label: "blue", About: "cold"},
	}},
	{ID: "Which days?", Text: "Which days?", Many: true, Choices: []protocol.Choice{
		{ID: "mon", Label: "mon"}, {ID: "tue", Label: "tue"},
	}},
}

// asking returns a session that asks questions and takes two decisions.
func asking(questions ...protocol.Question) *tuitest.Journal {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "ask me")
	j.Add(protocol.ApprovalRequested, protocol.Approval{
		Request: "r1", Kind: protocol.ApproveQuestion, Title: "Ask", Questions: questions,
		Options: []protocol.Option{{ID: "a", Kind: protocol.AllowOnce}, {ID: "b", Kind: protocol.Deny}},
	})
	j.CaughtUp()
	return j
}

func TestQuestionsAreAnsweredByNumber(t *testing.T) {
	for _, c := range []struct {
		questions []protocol.Question
		typed     string
		want      map[string][]string
	}{
		{sentences, "/answer 1=2 2=1,2", map[string][]string{"Red or blue?": {"blue"}, "Which days?": {"mon", "tue"}}},
		{sentences, "/answer r1 Red or blue?=red 2=never", map[string][]string{
			"Red or blue?": {"red"}, "Which days?": {"never"},
		}},
		{sentences[:1], "2", map[string][]string{"Red or blue?": {"blue"}}},
		{sentences[:1], "/answer 2", map[string][]string{"Red or blue?": {"blue"}}},
		{sentences[:1], "/answer light blue", map[string][]string{"Red or blue?": {"light blue"}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			tc := startTestClient(t, asking(c.questions...))
			tc.typeLine(c.typed)
			if err := tc.stop(); err != nil {
				t.Error(err)
			}
			want := []tuitest.Command{{Verb: protocol.DoApprove, Data: protocol.ApproveData{
				Request: "r1", Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Answers: c.want},
			}}}
			if got := tc.session.Commands(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got commands %+v, want %+v", c.typed, got, want)
			}
		})
	}
}

func TestOnlyANumberThatIsNoMessageAnswers(t *testing.T) {
	for typed, questions := range map[string][]protocol.Question{
		"2 ": sentences, "1": sentences[1:], "two": sentences[:1], "7": nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			tc := startTestClient(t, asking(questions...))
			tc.typeLine(typed)
			if err := tc.stop(); err != nil {
				t.Error(err)
			}
			if got := tc.session.Commands(); len(got) != 1 || got[0].Verb != protocol.DoSend {
				t.Errorf("%q: got commands %+v, want a message", typed, got)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		tc := startTestClient(t, asking(sentences[0]))
		tc.typeLine("3")
		if err := tc.stop(); err != nil {
			t.Error(err)
		}
		if got := tc.session.Commands(); len(got) != 0 {
			t.Errorf("got commands %+v, want none", got)
		}
		if want := "no choice 3: the choices are 1, 2;"; !strings.Contains(tc.out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, tc.out)
		}
	})
}

func TestARequestNamesTheAgentThatAskedForIt(t *testing.T) {
	for want, by := range map[string]*protocol.Actor{
		"approval r1: command\n":                                nil,
		"approval r1: command, asked by agent of session fix\n": {Name: "agent of session fix"},
	} {
		j := tuitest.NewJournal()
		a := protocol.Approval{Request: "r1", Kind: protocol.ApproveCommand, Command: "ls"}
		a.AskedBy = by
		j.Add(protocol.ApprovalRequested, a)
		r := newRenderer(nil)
		for _, u := range j.Take() {
			r.update(u)
		}
		if got := r.out.String(); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRequestOffersOnlyItsDecisions(t *testing.T) {
	for want, a := range map[string]protocol.Approval{
		"the number of a choice, /answer TEXT or /deny\n": {Questions: sentences[:1]},
		"/answer 1=1 2=1,2 or /deny\n":                    {Questions: sentences},
		"/approve, /deny or /replan REASON\n":             {Kind: protocol.ApprovePlan},
		"/approve or /always\n": {Options: []protocol.Option{
			{ID: "1", Kind: protocol.AllowOnce}, {ID: "2", Kind: protocol.AllowAlways},
		}},
		"decision: /deny\n": {Options: []protocol.Option{{ID: "1", Kind: protocol.Deny}}, Kind: protocol.ApproveTool},
	} {
		j := tuitest.NewJournal()
		a.Request = "r1"
		j.Add(protocol.ApprovalRequested, a)
		r := newRenderer(nil)
		for _, u := range j.Take() {
			r.update(u)
		}
		if got := r.out.String(); !strings.HasSuffix(got, want) || strings.Contains(got, "/stop") {
			t.Errorf("got %q, want the end %q", got, want)
		}
	}
}
