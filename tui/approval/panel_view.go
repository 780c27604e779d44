package approval

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// expiresSoon is the remaining time at or below which the countdown is shown as an error.
const expiresSoon = 30 * time.Second

// View returns at most rows lines, and the cursor while a text row is edited. The selected row of
// the form is always visible.
func (p *Panel) View(
	pending []protocol.Approval, now time.Time, width, rows int, focused bool,
) ([]string, *tea.Cursor) {
	p.rows, p.allShown = 0, false
	r, f := p.Current(pending)
	if r == nil || rows < 1 {
		return nil, nil
	}
	title := p.title(pending, r, f, now) + p.styles.Dim.Render(p.hint(r, f, focused, len(pending)))
	form, at := p.formLines(f, width, focused)
	request, hidden := f.RequestLines(f.editedRequest(r), width, rows)
	described := len(request)+hidden > 0 // else the form shows it all
	// The request takes precedence over the options, which have number keys.
	if room := max(rows-1-len(form), rows/2); hidden > 0 || len(request) > room {
		keep := min(len(request), max(0, room-1))
		more := "   … " + ui.Count(hidden+len(request)-keep, "line") + " more"
		if hint := p.styles.Keys.Hint(keymap.ViewRequest, "views all"); hint != "" {
			more += ": " + hint
		}
		request = append(request[:keep:keep], p.styles.Warning.Render(ui.Fit(more, width)))
	}
	total := len(form)
	form, at = ui.Window(form, at, rows-1-len(request))
	p.rows = len(form)
	p.allShown = p.rows == total && (len(request) > 0 || !described)
	if described && p.allShown && 2+len(request)+len(form) <= rows {
		request = append(request, "") // separates line numbers from option numbers
	}
	out := slices.Concat([]string{p.styles.Rule(title, width)}, request, form)
	out = out[:min(len(out), rows)]
	if !f.Typing() {
		return out, nil
	}
	return out, f.cursor(len(out) - len(form) + at)
}

// title returns the position, kind and times of the shown request.
func (p *Panel) title(pending []protocol.Approval, r *protocol.Approval, f *Form, now time.Time) string {
	out := p.styles.Warning.Render("approval")
	if len(pending) > 1 {
		out += fmt.Sprintf(" %d of %d", IndexOf(pending, r.Request)+1, len(pending))
	}
	out += " · " + ui.OneLine(transcript.Clean(r.Kind)) + p.expiry(r, f, now)
	return out + Asked(p.styles, r)
}

// Asked returns when a request was made and, if its turn is an agent's, by which one.
func Asked(s *ui.Styles, r *protocol.Approval) string {
	out := s.Dim.Render(" · asked " + s.Clock(r.Asked))
	if asker := describe.Asker(r); asker != "" {
		out += s.Warning.Render(" " + asker)
	}
	return out
}

// formLines returns the form, or the decision being sent, and the first line of the selected row.
func (p *Panel) formLines(f *Form, width int, focused bool) (lines []string, at int) {
	if f.sending == "" {
		lines, at = f.view(width, focused)
	} else {
		sending := "sending: "
		if p.offline {
			sending = "waits for the connection: "
		}
		lines = []string{p.styles.Warning.Render(ui.Fit("   "+sending+f.sending+" …", width))}
	}
	if f.err != "" {
		lines = append(lines, p.styles.Error.Render(ui.Fit("   "+ui.OneLine(transcript.Clean(f.err)), width)))
	}
	return lines, at
}

// expiry returns the remaining time of a request, or "". For a request that arrived live it uses
// only the duration, because the server's clock may differ.
func (p *Panel) expiry(r *protocol.Approval, f *Form, now time.Time) string {
	if r.Expires == nil {
		return ""
	}
	left := r.Expires.Sub(now)
	if !f.arrived.IsZero() {
		left = r.Expires.Sub(r.Asked) - now.Sub(f.arrived)
	}
	switch {
	case left <= 0:
		return p.styles.Error.Render(" · expires now")
	case left <= expiresSoon:
		return p.styles.Error.Render(fmt.Sprintf(" · expires in %ds", ui.Seconds(left)))
	}
	return p.styles.Warning.Render(" · expires in " + ui.Duration(time.Duration(ui.Seconds(left))*time.Second))
}

// hint returns the key hints of the title.
func (p *Panel) hint(r *protocol.Approval, f *Form, focused bool, pending int) string {
	keys := p.styles.Keys
	switch {
	case f.sending != "":
		return ""
	case !p.guard.Armed():
		return " · a moment …"
	case f.next != nil:
		return " · enter sends · esc discard"
	case f.Typing():
		return " · enter done · esc discard"
	case !focused && keys.Key(keymap.FocusNext) == "":
		return " · a number"
	case !focused:
		return ui.Prefixed(keymap.Separator, keys.Key(keymap.FocusNext)) + ", or a number"
	}
	pairs := []any{keymap.WriteReason, "reason", keymap.ViewRequest, "view"}
	if editable(r) {
		pairs = append(pairs, keymap.EditRequest, "edit")
	}
	if pending > 1 {
		pairs = append(pairs, keymap.NextRequest, "other")
	}
	return ui.Prefixed(" · ", keys.Hint(pairs...))
}
