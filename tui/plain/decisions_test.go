package plain

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
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

func TestALineWrittenBeforeARequestDecidesNothing(t *testing.T) {
	command := tuitest.CommandApproval()
	question := protocol.Approval{
		Request: "r1", Kind: protocol.ApproveQuestion, Questions: sentences[:1],
		Options: []protocol.Option{{ID: "a", Kind: protocol.AllowOnce}, {ID: "b", Kind: protocol.Deny}},
	}
	for typed, request := range map[string]protocol.Approval{
		"2": question, "/answer 2": question, "/approve": command, "/always": command, "/option once": command,
		"/approve r2": command,
	} {
		synctest.Test(t, func(t *testing.T) {
			j := tuitest.NewJournal()
			j.UserMessage(tuitest.Ada, "m1", "go")
			j.CaughtUp()
			tc := startTestClient(t, j)
			j.Add(protocol.ApprovalRequested, request)
			for _, u := range j.Take() {
				tc.session.Feed <- u
			}
			synctest.Wait()
			tc.typeLine(typed)
			if got := tc.session.Commands(); len(got) != 0 {
				t.Errorf("%q: got commands %+v, want none", typed, got)
			}
			if want := "is new"; !strings.Contains(tc.out.String(), want) {
				t.Errorf("%q: output lacks %q:\n%s", typed, want, tc.out)
			}
			time.Sleep(approval.Grace)
			tc.typeLine(strings.TrimSuffix(typed, " r2"))
			if got := tc.session.Commands(); len(got) != 1 || got[0].Verb != protocol.DoApprove {
				t.Errorf("%q: got commands %+v, want approve", typed, got)
			}
			if err := tc.stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTextDecidesNothing(t *testing.T) {
	for _, typed := range []string{
		"2 things to change first", "1", "y", "yes", "approve", "always", "a number", "1. Allow once", "/ approve",
	} {
		synctest.Test(t, func(t *testing.T) {
			j := tuitest.NewJournal()
			j.UserMessage(tuitest.Ada, "m1", "go")
			j.RequestApproval(tuitest.CommandApproval())
			j.CaughtUp()
			tc := startTestClient(t, j)
			time.Sleep(2 * approval.Grace)
			tc.typeLine(typed)
			if err := tc.stop(); err != nil {
				t.Error(err)
			}
			for _, c := range tc.session.Commands() {
				if c.Verb != protocol.DoSend {
					t.Errorf("%q: got command %+v, want a message", typed, c)
				}
			}
		})
	}
}

// TestHostileRequestsAreWrittenWhole writes requests for terminals of several widths. Each line of
// the agent follows a label or a gutter, none is cut, and none is wider than the terminal.
func TestHostileRequestsAreWrittenWhole(t *testing.T) {
	for _, request := range slices.Concat(tuitest.HostileRequests(), tuitest.RequestCases()) {
		for _, width := range []int{40, 80, 200} {
			_, out, _ := strings.Cut(Request(&request.Approval, time.UTC, width), "approval r1: ")
			var w tuitest.Witness
			for i, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
				label, isOwn := strings.CutPrefix(line, "  ")
				own := ownLine.FindString(label)
				switch {
				case i == 0, isOwn && own != "":
					w.See(strings.TrimPrefix(label, own))
				case strings.HasPrefix(line, lineGutter), strings.HasPrefix(line, wrapGutter):
					w.See(strings.TrimPrefix(strings.TrimPrefix(line, lineGutter), wrapGutter))
				default:
					t.Errorf("%s: line %q has neither a label nor a gutter", request.Name, line)
				}
				if n := ansi.StringWidth(line); n > width && !strings.HasSuffix(own, ":") {
					t.Errorf("%s: line %q is %d cells wide, want %d", request.Name, line, n, width)
				}
			}
			if missing := request.Missing(&w); len(missing) > 0 {
				t.Errorf("%s: the request is written without %q:\n%s", request.Name, missing, out)
			}
		}
	}
}

// ownLine matches the labels of a request.
var ownLine = regexp.MustCompile(`^(?:warning|command|with|tool|input|patch|changes|file|in|title|reason|content)` +
	`(?:, as sent: [a-zA-Z -]+)?(?:: |, \d+ lines?:$)|^option `)
