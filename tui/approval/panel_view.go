package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// expiresSoon is the remaining time at or below which the countdown is shown as an error.
const expiresSoon = 30 * time.Second

// View returns at most rows lines, and the cursor while a text row is edited. It records which
// lines of the request were shown. The selected row of the form is always visible.
func (p *Panel) View(
	pending []protocol.Approval, now time.Time, width, rows int, focused bool,
) ([]string, *tea.Cursor) {
	p.rows, p.lines = 0, p.lines[:0]
	r, f := p.Current(pending)
	if r == nil || rows < 1 {
		return nil, nil
	}
	s, c := p.styles, &f.card
	c.update(s, f.editedRequest(r), f.options, width)
	form, at := p.formLines(f, max(0, width-frameWidth), focused)
	room := max(0, rows-edgeRows)
	if c.inForm+len(form) > room {
		form, at = withoutGaps(form, at)
	}
	request := c.excerpt(max(room-len(form), min(room/2+1, room)))
	all := form
	selected := at
	form, at = ui.Window(form, at, room-len(request))
	p.rows = len(form)
	f.markShown(all, form)
	out := []string{frameRule(s, p.title(pending, r, f, now), p.ends("╭", "╮"), width, focused)}
	for _, line := range p.requestLines(c, request, focused && !f.Typing()) {
		out = append(out, p.frameLine(line, width, focused))
	}
	c.markExcerptSeen(request)
	if len(request) > 0 && len(form) > 0 {
		out = append(out, frameRule(s, notShown(selected-at, len(all)-len(form)), p.ends("├", "┤"), width, focused))
	}
	cursorRow := len(out) + at
	p.lines = append(p.lines, make([]formLine, len(out))...)
	for _, line := range form {
		out = append(out, p.frameLine(line.text, width, focused))
		p.lines = append(p.lines, line)
	}
	hint := s.Dim.Render(ui.FitHints(p.hint(r, f, focused, len(pending)), width-frameWidth-2))
	out = append(out, frameRule(s, hint, p.ends("╰", "╯"), width, focused))
	out = out[:min(len(out), rows)]
	p.lines = p.lines[:min(len(p.lines), len(out))]
	if !f.Typing() || cursorRow >= len(out) {
		return out, nil
	}
	return out, f.cursor(cursorRow)
}

// SetOpen sets whether the frame has no sides: there are borders beside the panel.
func (p *Panel) SetOpen(open bool) { p.open = open }

// Open reports whether the frame has no sides.
func (p *Panel) Open() bool { return p.open }

// ends returns the ends of an edge of the frame.
func (p *Panel) ends(left, right string) [2]string {
	if p.open {
		return [2]string{"", "─"}
	}
	return [2]string{left, right}
}

// frameLine draws a line of the panel, between the sides of the frame if it has some.
func (p *Panel) frameLine(line string, width int, focused bool) string {
	if p.open {
		return "  " + ui.Pad(line, max(0, width-frameWidth)) + "  "
	}
	return frameLine(p.styles, line, width, focused)
}

// notShown returns how many lines of a form are left out above and in total, or returns "".
func notShown(above, total int) string {
	var out []string
	if above > 0 {
		out = append(out, fmt.Sprintf("⋯ %d above", above))
	}
	if below := total - above; below > 0 {
		out = append(out, fmt.Sprintf("⋯ %d below", below))
	}
	return strings.Join(out, keymap.Separator)
}

// edgeRows is the number of rows of a panel beside the request and the form.
const edgeRows = 3

// requestLines draws the lines of an excerpt. keyActs: the key that views all of it acts.
func (p *Panel) requestLines(c *card, excerpt []excerptLine, keyActs bool) []string {
	out := make([]string, len(excerpt))
	label := "changes"
	for i, l := range excerpt {
		switch {
		case l.index >= 0:
			out[i] = c.lines[l.index].render(p.styles)
		case l.hidden > 0:
			out[i] = p.styles.Warning.Render(p.moreText(c, l.hidden, keyActs))
		default:
			line := cardLine{label: label, gutter: lineGutter, text: l.change.Text, styled: true}
			out[i], label = line.render(p.styles), ""
		}
	}
	return out
}

// moreText returns how many lines of a request are left out. It names the key that shows them if the
// key acts.
func (p *Panel) moreText(c *card, hidden int, keyActs bool) string {
	text := ui.Pad("⋯", labelWidth) + format.Count(hidden, "line") + " not shown"
	if !keyActs {
		return text
	}
	what := "views all"
	if c.changes.Changes != nil {
		what = "reviews all"
	}
	return text + ui.Prefixed(": ", p.styles.Keys.Hint(keymap.ViewRequest, what))
}

// markShown records the rows of a form of which all lines are shown.
func (f *Form) markShown(lines, shown []formLine) {
	missing := map[formRow]int{}
	for _, line := range lines {
		missing[line.row]++
	}
	for _, line := range shown {
		if missing[line.row]--; missing[line.row] == 0 {
			f.card.markRowSeen(line.row)
		}
	}
}

// title returns the position, kind, length and times of the shown request.
func (p *Panel) title(pending []protocol.Approval, r *protocol.Approval, f *Form, now time.Time) string {
	out := p.styles.Warning.Render("approval")
	if p.name != "" {
		out += " · " + p.name
	}
	if len(pending) > 1 {
		out += fmt.Sprintf(" %d of %d", IndexOf(pending, r.Request)+1, len(pending))
	}
	out += " · " + KindName(r.Kind)
	switch c := &f.card; {
	case c.changes.Changes != nil && len(c.changes.Files()) > 1:
		out += ", " + c.changes.Summary()
	case c.runLines > 1:
		out += ", " + format.Count(c.runLines, "line")
	}
	return out + p.expiry(r, f, now) + p.asked(r)
}

// asked returns when a request was made and, if its turn is an agent's, by which one.
func (p *Panel) asked(r *protocol.Approval) string {
	out := p.styles.Dim.Render(" · asked " + p.styles.Clock(r.Asked))
	if asker := describe.Asker(r); asker != "" {
		out += p.styles.Warning.Render(" " + asker)
	}
	return out
}

// KindName returns the name of a kind of request.
func KindName(kind string) string {
	switch kind {
	case protocol.ApproveCommand, protocol.ApprovePatch, protocol.ApproveTool, protocol.ApprovePlan,
		protocol.ApproveQuestion:
		return kind
	}
	return "request"
}

// formLines returns the form, the question whether to allow always, or the decision being sent, and
// the first line of the selected row.
func (p *Panel) formLines(f *Form, width int, focused bool) (lines []formLine, at int) {
	switch {
	case f.sending != "":
		sending := "sending: "
		if p.offline {
			sending = "waits for the connection: "
		}
		lines = []formLine{{text: p.styles.Warning.Render(ui.Fit("   "+sending+f.sending+" …", width))}}
	case f.awaits.always != nil:
		lines = f.alwaysLines(width)
	default:
		lines, at = f.view(width, focused)
	}
	if f.err != "" {
		text := ui.Fit("   "+format.JoinLines(transcript.Clean(f.err)), width)
		lines = append(lines, formLine{text: p.styles.Error.Render(text)})
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
		return p.styles.Error.Render(fmt.Sprintf(" · expires in %ds", format.SecondsLeft(left)))
	}
	return p.styles.Warning.Render(" · expires in " + format.Duration(time.Duration(format.SecondsLeft(left))*time.Second))
}

// hint returns the keys that work now.
func (p *Panel) hint(r *protocol.Approval, f *Form, focused bool, pending int) string {
	keys := p.styles.Keys
	switch {
	case f.sending != "":
		return ""
	case f.awaits.reason != nil:
		return "enter sends · esc discard"
	case f.edit.field != nil:
		return "enter done · alt+enter new line · esc discard"
	case f.Typing():
		return "enter done · esc discard"
	case !focused:
		return strings.TrimPrefix(ui.Prefixed(keymap.Separator, keys.Hint(keymap.FocusNext, "decides"))+
			" · alt+1…9 chooses", keymap.Separator)
	case !p.guard.Armed():
		return "a moment …"
	case f.awaits.always != nil:
		return keys.Hint(keymap.Allow, "allow always", keymap.Back, "back")
	}
	var pairs []any
	view := "view"
	if f.card.changes.Changes != nil {
		view = "review"
	}
	if !f.card.complete(formRow{}) {
		pairs = append(pairs, keymap.ViewRequest, view+" the rest")
	} else if r.Offers(protocol.AllowOnce) {
		pairs = append(pairs, keymap.Allow, strings.ToLower(f.nameOf(protocol.AllowOnce)))
	}
	if r.Offers(protocol.Deny) {
		pairs = append(pairs, keymap.DenyRequest, strings.ToLower(f.nameOf(protocol.Deny)))
	}
	hint := []string{keys.Hint(pairs...), "1…9 choose", keys.Hint(keymap.Choose, "confirm")}
	pairs = []any{keymap.WriteReason, "reason"}
	if f.card.complete(formRow{}) {
		pairs = append(pairs, keymap.ViewRequest, view)
	}
	if editable(r) {
		pairs = append(pairs, keymap.EditRequest, "edit")
	}
	if pending > 1 {
		pairs = append(pairs, keymap.NextRequest, "other")
	}
	hint = append(hint, keys.Hint(pairs...), keys.Hint(keymap.Back, "back"))
	return strings.Join(slices.DeleteFunc(hint, func(s string) bool { return s == "" }), keymap.Separator)
}
