package approval

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// newDecider returns a decider, a request with a long command, and its form, laid out.
func newDecider() (*decider, *protocol.Approval, *Form) {
	s := ui.NewStyles(time.UTC, "")
	r := &protocol.Approval{Request: "r1", Kind: protocol.ApproveCommand, Command: strings.Repeat("echo\n", 40)}
	for _, kind := range []protocol.Decision{protocol.AllowOnce, protocol.AllowAlways, protocol.Deny} {
		r.Options = append(r.Options, protocol.Option{ID: string(kind), Kind: kind})
	}
	f := NewForm(s, r)
	f.card.update(s, r, f.options, 80)
	return &decider{styles: s}, r, f
}

// Whatever decides waits for the guard. What allows also waits until each line was on the screen.
func TestADecisionWaitsForTheGuardAndForEachLine(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	choose := func(option int) func(*decider, *protocol.Approval, *Form) Result {
		return func(d *decider, r *protocol.Approval, f *Form) Result {
			f.rows.selectRow(formRow{rowOption, 0, option})
			return d.press(r, f, "enter", keymap.Choose)
		}
	}
	key := func(action keymap.Action) func(*decider, *protocol.Approval, *Form) Result {
		return func(d *decider, r *protocol.Approval, f *Form) Result { return d.press(r, f, "", action) }
	}
	for name, c := range map[string]struct {
		press  func(*decider, *protocol.Approval, *Form) Result
		kind   protocol.Decision
		allows bool
	}{
		"allow": {key(keymap.Allow), protocol.AllowOnce, true},
		"deny":  {key(keymap.DenyRequest), protocol.Deny, false},
		"always": {func(d *decider, r *protocol.Approval, f *Form) Result {
			f.awaits.always = f.options.ofKind(protocol.AllowAlways)
			return d.press(r, f, "", keymap.Allow)
		}, protocol.AllowAlways, true},
		"row that allows": {choose(0), protocol.AllowOnce, true},
		"row that denies": {choose(2), protocol.Deny, false},
		"click": {func(d *decider, r *protocol.Approval, f *Form) Result {
			f.rows.selectRow(formRow{rowOption, 0, 0})
			return d.point(r, f, ui.RowMsg{List: Rows})
		}, protocol.AllowOnce, true},
	} {
		refusals := map[string]string{"grace": tooSoon, "pause": tooQuick, "confirmation": replaced}
		for _, missing := range []string{"grace", "pause", "confirmation", "line", ""} {
			d, r, f := newDecider()
			d.drawn = 1
			d.guard.Change(now)
			d.guard.Drawn(now)
			if missing != "grace" {
				d.guard.Arm(now.Add(Grace))
			}
			d.guard.replaced = missing == "confirmation"
			d.guard.Touch(now.Add(Grace))
			if missing == "pause" {
				d.guard.Touch(now.Add(Grace + typingPause - 1))
			}
			seen := len(f.card.lines)
			if missing == "line" {
				seen--
			}
			f.card.markSeen(0, seen)
			got := c.press(d, r, f)
			if held, ended := d.guard.held.end(now.Add(Grace + typingPause)); ended && name != "click" {
				got = held
			}
			switch {
			case missing == "line" && c.allows:
				if got.Decide != nil || !got.unseen || f.sending != "" {
					t.Errorf("%s without a line: got %+v", name, got)
				}
			case missing == "" || missing == "line":
				if d := got.Decide; d == nil || d.Request != "r1" || d.Option != string(c.kind) || f.sending == "" {
					t.Errorf("%s: got %+v, want the decision %s", name, got, c.kind)
				}
				if again := c.press(d, r, f); again.Decide != nil {
					t.Errorf("%s: decides again while the decision is sent", name)
				}
			default:
				if got.Decide != nil || got.Status != refusals[missing] || f.sending != "" {
					t.Errorf("%s without %s: got %+v", name, missing, got)
				}
			}
		}
	}
}

// An edit shows another request, of which each line counts again.
func TestAnEditIsAllowedOnlyAfterItWasOnTheScreen(t *testing.T) {
	d, r, f := newDecider()
	r.Editable = true
	d.guard = Guard{armed: true}
	f.card.markSeen(0, len(f.card.lines))
	if !f.card.complete(formRow{}) {
		t.Fatal("the request was on the screen")
	}
	f.setEdited(r.Command, "id")
	f.card.update(f.styles, f.edit.apply(r), f.options, 80)
	if got := d.press(r, f, "", keymap.Allow); got.Decide != nil || !got.unseen {
		t.Errorf("got %+v, want the view of the edit", got)
	}
	f.card.markSeen(0, len(f.card.lines))
	d.press(r, f, "", keymap.Allow)
	held, _ := d.guard.held.end(time.Now())
	got := held.Decide
	if got == nil || got.Input == nil || got.Input.Command != "id" {
		t.Errorf("got %+v, want the edited command allowed", got)
	}
}
