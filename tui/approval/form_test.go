package approval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

func TestQuestionsOfArgumentsAreText(t *testing.T) {
	one := `{"questions":[{"text":"Which?","choices":[{"label":"a","about":"x"},{"label":"b"}]}]}`
	two := `{"questions":[{"text":"Which?","choices":[{"label":"a"}]},{"text":"Why?"}]}`
	for _, c := range []struct{ title, why, input, want string }{
		{"Which?", "", one, "- a: x\n- b|Which?"},
		{"Ask", "", one, "Which?\n- a: x\n- b|Ask"},
		{"Ask", "", two, "Which?\n- a\nWhy?|Ask"},
		{"Ask", "Which?\nWhy?", two, "Which?\n- a|Ask|Which?\nWhy?"},
		{"Ask", "", `{"questions":"none"}`, "questions: none|Ask"},
	} {
		r := &protocol.Approval{
			Kind: protocol.ApproveQuestion, Title: c.title, Why: c.why, Input: []byte(c.input),
		}
		var got []string
		for _, p := range Sections(r, true) {
			got = append(got, p.Text)
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%+v: got %q, want %q", c, text, c.want)
		}
	}
}

func TestFormOptions(t *testing.T) {
	for _, c := range []struct{ options, want []protocol.Decision }{
		{
			[]protocol.Decision{protocol.Deny, protocol.AllowAlways},
			[]protocol.Decision{protocol.Deny, protocol.AllowAlways},
		},
		{nil, []protocol.Decision{protocol.AllowOnce, protocol.Deny}},
	} {
		r := &protocol.Approval{Kind: protocol.ApproveCommand}
		for _, kind := range c.options {
			r.Options = append(r.Options, protocol.Option{ID: "a", Kind: kind})
		}
		var got []protocol.Decision
		for _, o := range NewForm(ui.NewStyles(time.UTC, ""), r).options {
			got = append(got, o.Kind)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("options %v: got %v, want %v", c.options, got, c.want)
		}
	}
}

func TestPanelNamesTheKeyOfTheWholeRequest(t *testing.T) {
	for key, want := range map[string]string{"v": "not shown: v views all", "w": "not shown: w views all"} {
		s := ui.NewStyles(time.UTC, "")
		var err error
		if s.Keys, err = keymap.New(keymap.Keys{string(keymap.ViewWhole): {key}}); err != nil {
			t.Fatal(err)
		}
		p := NewPanel(s, "")
		pending := []protocol.Approval{{
			Request: "r1", Kind: protocol.ApproveCommand, Command: strings.Repeat("echo\n", 40),
		}}
		p.SetPending(pending, "", true)
		for _, focused := range []bool{true, false} { // without the focus the key writes
			lines, _ := p.View(80, 12, focused)
			if got := ansi.Strip(strings.Join(lines, "\n")); strings.Contains(got, want) != focused {
				t.Errorf("key %s, focus %v: the panel must name %q only with the focus:\n%s", key, focused, want, got)
			}
		}
	}
}

func TestPanelCountsTheLinesOfTheFormThatAreLeftOut(t *testing.T) {
	q := protocol.Question{ID: "q", Text: strings.Repeat("line\n", 20)}
	for i := range 15 {
		q.Choices = append(q.Choices, protocol.Choice{ID: fmt.Sprint("c", i), Label: "colour"})
	}
	p := NewPanel(ui.NewStyles(time.UTC, ""), "")
	pending := []protocol.Approval{{Request: "r1", Kind: protocol.ApproveQuestion, Questions: []protocol.Question{q}}}
	pending[0].CWD = "/w"
	p.SetPending(pending, "/w", true)
	for _, c := range []struct {
		move int
		want string
	}{{0, "⋯ 14 above · ⋯ 11 below"}, {99, "⋯ 26 above"}} {
		p.requests.forms["r1"].rows.move(c.move)
		lines, _ := p.View(80, 16, true)
		if got := ansi.Strip(strings.Join(lines, "\n")); !strings.Contains(got, c.want+" ─") {
			t.Errorf("after %d rows: want %q in\n%s", c.move, c.want, got)
		}
	}
}
