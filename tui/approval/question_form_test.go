package approval

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentctl/internal/dev/golden"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// hostileRequest is a form whose texts look like agentctl's, or hide something.
func hostileRequest() protocol.Approval {
	return protocol.Approval{
		Request: "f2", Kind: protocol.ApproveQuestion, Title: "y answer · n skip\nApproved by ada",
		Questions: []protocol.Question{
			{
				ID: "a", Text: "│ Answer │\n   ▸ 1 (•) Yes", About: "inv\u200bisible \u202ereversed\x1b[2J\nrequired · 1 to 9",
				Choices: []protocol.Choice{
					{ID: "y", Label: "Skip\n   Allow once", About: strings.Repeat("long ", 30)},
					{ID: "n", Label: "Deny"},
				},
				Field: protocol.Field{Closed: true, Required: true},
			},
			{
				ID: "b", Text: strings.Repeat("many words ", 40),
				Field: protocol.Field{Default: []string{"· enter confirm"}, Pattern: "^x$ · n skip"},
			},
		},
	}
}

func openRequest(t *testing.T, a protocol.Approval, width, height int) *testPanel {
	t.Helper()
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "ask me")
	j.RequestApproval(a)
	j.CaughtUp()
	s := open(t, j, width, height)
	s.focus()
	return s
}

func TestGoldenQuestionForm(t *testing.T) {
	for name, a := range map[string]protocol.Approval{"form": tuitest.FormApproval(), "hostile": hostileRequest(), "page": tuitest.PageApproval()} {
		for _, size := range [][2]int{{40, 20}, {80, 24}, {200, 60}} {
			s := openRequest(t, a, size[0], size[1])
			s.panel.SetPage(a.Request, tuitest.PageURL)
			s.view()
			s.waitGrace()
			// The form is scrolled from its start to its end.
			var views []string
			for range 50 {
				if text := s.text(); len(views) == 0 || text != views[len(views)-1] {
					views = append(views, text)
				}
				s.press("down")
			}
			if size[1] < 60 {
				views = []string{views[0], views[len(views)/2], views[len(views)-1]}
			} else {
				views = views[:1]
			}
			got := strings.Join(views, "\n")
			file := filepath.Join("testdata", fmt.Sprintf("question_%s_%dx%d.golden", name, size[0], size[1]))
			if golden.Update() {
				golden.Write(t, file, got)
			}
			if want, err := os.ReadFile(file); err != nil || string(want) != got {
				t.Errorf("%s, %v: got\n%s", file, err, got)
			}
		}
	}
}

func TestAFormIsAnsweredByKeys(t *testing.T) {
	s := openRequest(t, tuitest.FormApproval(), 100, 70)
	s.mustShow(
		"(•) ▏ Berlin", "Answer: ▏ staging", "required · integer · 1 to 9", "not shown or stored",
		"pattern: ^[a-z]+$",
	)
	s.mustHide("Other: ▏")
	s.press("y")
	s.mustNotDecide()
	s.mustShow(`answer "size": it is required`, "▸ Answer:") // the row that lacks it
	s.press("enter")
	s.typeText("12")
	s.press("enter", "y")
	s.mustNotDecide()
	s.mustShow(`answer "size": want 1 to 9`)
	s.press("enter", "backspace", "backspace")
	s.typeText("7")
	s.press("enter", "down", "enter")
	s.typeText("2") // the name of the host
	s.press("enter", "y")
	s.mustNotDecide()
	s.mustShow(`answer "host": it does not match the pattern`)
	s.press("enter", "backspace", "enter", "down", "down", "enter")
	s.typeText(" hunter2")
	s.mustHide("hunter2")
	s.press("ctrl+g")
	s.mustShow("a secret is written here, not in an editor")
	s.press("enter")
	s.mustShow("Answer: ▏ ••••••••")
	s.press("down", "1", "2", "down", "down")
	s.mustShow("[x] ▏ Monday", "[x] ▏ Tuesday")
	if got := s.panel.requests.forms["f1"].text(); strings.Contains(got, "hunter2") || strings.Contains(got, "staging") {
		t.Errorf("kept %q", got)
	}
	s.press("y")
	data := s.mustDecide()
	want := &protocol.ApprovalInput{
		Answers: map[string][]string{"city": {"b"}, "size": {"7"}, "host": {"staging"}, "days": {"mo", "tu"}},
		Secrets: map[string][]string{"password": {" hunter2"}},
	}
	if data.Option != "answer" || !reflect.DeepEqual(data.Input, want) {
		t.Errorf("got answer %+v with input %+v", data, data.Input)
	}
}

// A form is answered only after all of its texts were on the screen.
func TestAFormIsAnsweredOnlyWhenItWasSeen(t *testing.T) {
	a := tuitest.FormApproval()
	for i := range a.Questions {
		a.Questions[i].Required = false
	}
	s := openRequest(t, a, 80, 24)
	s.press("y")
	s.mustNotDecide()
	s.mustShow("not decided: view it to its end first")
	s.press("esc")
	for range 40 {
		s.press("down")
	}
	s.waitGrace()
	s.press("y")
	s.mustDecide()
}
