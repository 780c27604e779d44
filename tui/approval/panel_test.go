package approval

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

func TestPanelNamesTheAgentThatAsked(t *testing.T) {
	for want, by := range map[string]*protocol.Actor{
		"approval · command · asked 09:00 ─":                         nil,
		"approval · command · asked 09:00 by agent of session fix ─": {Name: "agent of \x1b[8msession fix"},
	} {
		now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		r := protocol.Approval{Request: "r", Kind: protocol.ApproveCommand, Command: "ls", Asked: now}
		r.AskedBy = by
		p := NewPanel(ui.NewStyles(time.UTC, ""), "")
		p.SetPending([]protocol.Approval{r}, "", true)
		lines, _ := p.View(100, 20, true)
		if got := ansi.Strip(lines[0]); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOptionsAreSideBySideWithoutTheFocus(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	const names = "1 Allow once  2 Deny  3 Deny and stop"
	for label, beside := range map[string]bool{"": true, "Yes, and delete the rest": false} {
		r := protocol.Approval{Request: "r", Kind: protocol.ApproveCommand, Command: "ls", Asked: now}
		r.Options = []protocol.Option{
			{ID: "once", Kind: protocol.AllowOnce, Label: label},
			{ID: "no", Kind: protocol.Deny},
			{ID: "stop", Kind: protocol.DenyStop},
		}
		all := []protocol.Approval{r}
		p := NewPanel(ui.NewStyles(time.UTC, ""), "")
		p.SetPending(all, "", true)
		lines, _ := p.View(100, 20, false)
		text := ansi.Strip(strings.Join(lines, "\n"))
		if got := strings.Contains(text, names); got != beside {
			t.Errorf("label %q: got\n%s", label, text)
		}
		if !beside {
			if !strings.Contains(text, label) {
				t.Errorf("the label of the agent is missing in\n%s", text)
			}
			continue
		}
		y := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(ansi.Strip(line), names) })
		before, _, _ := strings.Cut(ansi.Strip(lines[y]), "2 Deny")
		p.styles.Keys.SetClickable(true)
		lines, _ = p.View(100, 20, false)
		var screen ui.Clickable
		screen.Draw(strings.Join(lines, "\n"))
		if result := p.Point(ui.RowMsg{List: Rows, Row: screen.At(ansi.StringWidth(before), y).Row}); result.Decide != nil {
			t.Error("a click decides")
		}
		if _, f := p.requests.current(); f.rows.selected != 1 {
			t.Errorf("a click on the second option selects row %d", f.rows.selected)
		}
	}
}

func TestTheReasonStaysWhileTheRequestIsExplained(t *testing.T) {
	for kind, want := range map[protocol.Decision]string{protocol.Explain: "because", protocol.Deny: ""} {
		r := protocol.Approval{Request: "r1", Kind: protocol.ApproveCommand, Command: "id"}
		for _, k := range []protocol.Decision{protocol.AllowOnce, protocol.Deny, protocol.Explain} {
			r.Options = append(r.Options, protocol.Option{ID: string(k), Kind: k})
		}
		p := NewPanel(ui.NewStyles(time.UTC, ""), "")
		p.SetPending([]protocol.Approval{r}, "", true)
		f := p.requests.forms["r1"]
		f.reason.text = "because"
		f.send(f.options.ofKind(kind))
		p.Decided("r1", "")
		p.SetPending(nil, "", true)
		if got := p.TakeUnsent().Text; got != want {
			t.Errorf("after %s: got the text %q, want %q", kind, got, want)
		}
	}
}

// reviseRequest is a request that takes a reason for a new plan.
func reviseRequest() []protocol.Approval {
	return []protocol.Approval{{
		Request: "r1", Kind: protocol.ApprovePlan, Title: "Plan",
		Options: []protocol.Option{
			{ID: "once", Kind: protocol.AllowOnce},
			{ID: "revise", Kind: protocol.Deny, Label: "Revise with reason"},
		},
	}}
}

// A key that was meant for the editor and comes after its end decides nothing.
func TestTheKeyAfterTheEditorOfAReasonDecidesNothing(t *testing.T) {
	for _, fails := range []bool{false, true} {
		now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		styles := ui.NewStyles(time.UTC, "")
		styles.Now = func() time.Time { return now }
		all, p := reviseRequest(), NewPanel(styles, "")
		p.SetPending(all, "", true)
		f := p.requests.forms["r1"]
		if !f.askReason(&f.options[len(f.options)-1]) {
			t.Fatal("the decision needs no reason")
		}
		p.Paste("typed")
		wait := func() {
			p.View(80, 24, true)
			now = now.Add(Grace)
			p.Due()
		}
		wait()
		press := func(msg tea.KeyPressMsg) Result {
			p.Touch()
			return p.Press(msg)
		}
		edit := press(tea.KeyPressMsg{Code: 'g', Mod: tea.ModCtrl}).Edit
		if edit == nil || edit.Text != "typed" {
			t.Fatalf("ctrl+g opens %+v", edit)
		}
		now = now.Add(time.Hour) // in the editor
		p.Due()
		edit.Returned()
		want := "typed"
		if !fails {
			edit.Done("edited\nline\n")
			want = "edited line"
		}
		if r := press(tea.KeyPressMsg{Code: tea.KeyEnter}); r.Decide != nil || r.Status != tooSoon || !p.Typing() {
			t.Fatalf("fails %v: the first key after the editor has the result %+v", fails, r)
		}
		wait()
		press(tea.KeyPressMsg{Code: tea.KeyEnter})
		now = now.Add(typingPause)
		if r, _ := p.Due(); r.Decide == nil || r.Decide.Reason != want {
			t.Errorf("fails %v: got the decision %+v, want the reason %q", fails, r.Decide, want)
		}
	}
}

// The names of the options are the brightest text of a card, with and without the focus.
func TestTheOptionsAreBright(t *testing.T) {
	styles := ui.NewStyles(time.UTC, ui.ThemeDark)
	for _, focused := range []bool{false, true} {
		for _, width := range []int{100, 40} { // in 40 cells the scope of an option does not fit
			p := NewPanel(styles, "")
			p.SetPending([]protocol.Approval{tuitest.CommandApproval()}, "", true)
			lines, _ := p.View(width, 20, focused)
			text := strings.Join(lines, "\n")
			for _, want := range []string{"1|Allow once", "2|Always allow", "3|Deny"} {
				cap, name, _ := strings.Cut(want, "|")
				drawn := styles.Selected.Render(cap) + " " + strings.TrimSuffix(styles.Bold.Render(name), "\x1b[m")
				if !strings.Contains(text, drawn) {
					t.Errorf("focused %v, %d columns: no %q in\n%q", focused, width, drawn, text)
				}
			}
		}
	}
}
