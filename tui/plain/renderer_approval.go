package plain

import (
	"cmp"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// defaultWidth is the width in cells of the lines of a request unless that of the terminal is
// known. A terminal would wrap a longer line to its first column, where agentctl's own lines begin.
const defaultWidth = 80

// Gutters of the lines of a text that has several, and of what is left of a line that is too long.
const (
	lineGutter = "    | "
	wrapGutter = "    ↪ "
)

// Request returns a request in full, as lines of text for a terminal. width is its width in cells,
// or 0 if it is not known.
func Request(a *protocol.Approval, zone *time.Location, width int) string {
	r := newRenderer(zone)
	r.columns = func() int { return width }
	r.writeRequest(a)
	return r.out.String()
}

// writeApproval writes a request in full, and the commands that decide it.
func (r *renderer) writeApproval(a *protocol.Approval) {
	r.writeRequest(a)
	if a.Policy != "" { // decided without the user
		return
	}
	r.writeLines("  waiting for a decision", ": ", []string{r.decisionCommands(a)}, true)
}

// writeRequest writes a request in full. Each line of the agent's text follows a label of
// agentctl's or a gutter.
func (r *renderer) writeRequest(a *protocol.Approval) {
	asked := ui.Prefixed(", asked ", describe.Asker(a))
	r.writeLines("approval", " ", []string{oneLine(a.Request) + ": " + approval.KindName(a.Kind) + asked}, true)
	if risks := approval.Risks(a, r.state.CWD); len(risks) > 0 {
		r.writeLines("  warning", ": ", []string{strings.Join(risks, ", ")}, true)
	}
	for _, section := range approval.PlainSections(a) {
		label := "  " + section.Label + ui.Prefixed(", ", section.Note)
		r.writeLines(label, ": ", section.Lines(), section.Prose)
	}
	for i := range a.Tasks {
		text := oneLine(a.Tasks[i].Title) + ui.Prefixed(": ", oneLine(a.Tasks[i].Description))
		r.writeLines("  "+approval.TaskLabel(a.Tasks, i, nil), ": ", []string{text}, true)
	}
	names := a.AnswerNames()
	for i := range a.Questions {
		r.writeQuestion(names[i], &a.Questions[i])
	}
	kinds := map[protocol.Decision]int{}
	for _, o := range a.Options {
		kinds[o.Kind]++
	}
	for _, o := range a.Options {
		if o.Scope != "" || kinds[o.Kind] > 1 {
			text := oneLine(o.ID) + ": " + oneLine(o.Label) + ui.Prefixed(": ", oneLine(o.Scope))
			r.writeLines("  option", " ", []string{text}, true)
		}
	}
	if a.Expires != nil {
		r.linef("  expires at %s", a.Expires.In(r.zone).Format("15:04:05"))
	}
}

// writeLines writes a label of agentctl's and the lines of a text. No line is wider than the
// terminal.
func (r *renderer) writeLines(label, separator string, lines []string, prose bool) {
	width := r.width()
	first := lineGutter
	if len(lines) == 1 && ansi.StringWidth(label) < width/2 {
		first = label + separator
	} else {
		r.linef("%s, %s:", label, format.Count(len(lines), "line"))
	}
	room := max(1, width-max(ansi.StringWidth(first), ansi.StringWidth(wrapGutter)))
	for _, line := range lines {
		gutter := first
		for _, part := range approval.Wrap(line, room, prose) {
			r.linef("%s%s", gutter, part)
			gutter = wrapGutter
		}
	}
}

// width returns the width of the lines of a request, in cells.
func (r *renderer) width() int {
	if r.columns != nil {
		if n := r.columns(); n > 0 {
			return n
		}
	}
	return defaultWidth
}

// oneLine returns a text of the agent on one line, so that none of it looks like another line.
func oneLine(text string) string { return format.JoinLines(transcript.Reveal(text)) }

// writeQuestion writes a question and its choices with their short names, and with their ids if
// those say more.
func (r *renderer) writeQuestion(name string, q *protocol.Question) {
	text := oneLine(name) + idSuffix(q.ID, name, q.Text) + ": " + oneLine(q.Text)
	r.writeLines("  question", " ", []string{text}, true)
	for _, detail := range q.Details() {
		r.writeLines("    about", ": ", []string{oneLine(detail)}, true)
	}
	if wants := q.Wants(); wants != "" {
		r.linef("    wants: %s", wants)
	}
	if q.Secret {
		r.linef("    a line typed here is shown: agentctl approve --input - reads JSON from a file instead")
	}
	for i, name := range q.AnswerNames() {
		c := &q.Choices[i]
		text := oneLine(name) + idSuffix(c.ID, name, cmp.Or(c.Label, c.ID)) + ": " + oneLine(cmp.Or(c.Label, c.ID))
		r.writeLines("   ", " ", []string{text + ui.Prefixed(": ", oneLine(c.About))}, true)
	}
}

// idSuffix returns an id in parentheses, or "" if it equals the name or the text.
func idSuffix(id, name, text string) string {
	if id == name || id == text {
		return ""
	}
	return " (" + oneLine(id) + ")"
}

// decisionCommands returns the commands that decide a request, by its options. They name the
// request if several are pending.
func (r *renderer) decisionCommands(a *protocol.Approval) string {
	request := ""
	if len(r.state.Approvals) > 1 {
		request = " " + oneLine(a.Request)
	}
	var commands []string
	add := func(kind protocol.Decision, command, input string) {
		if a.Offers(kind) {
			commands = append(commands, command+request+ui.Prefixed(" ", input))
		}
	}
	switch {
	case len(a.Questions) == 0:
		add(protocol.AllowOnce, "/approve", "")
	case request == "" && chooses(a):
		commands = append(commands, "the number of a choice")
		add(protocol.AllowOnce, "/answer", "TEXT")
	default:
		add(protocol.AllowOnce, "/answer", transcript.Reveal(a.AnswerExample()))
	}
	if len(a.Tasks) > 1 {
		add(protocol.AllowOnce, "/keep", "1 2")
	}
	add(protocol.AllowAlways, "/always", "")
	add(protocol.Deny, "/deny", "")
	add(protocol.DenyStop, "/stop", "")
	if a.Kind == protocol.ApprovePlan {
		add(protocol.Deny, "/replan", "REASON")
	}
	add(protocol.Explain, "/explain", "")
	last := len(commands) - 1
	if last <= 0 {
		return strings.Join(commands, "")
	}
	return strings.Join(commands[:last], ", ") + " or " + commands[last]
}

// chooses reports whether a request asks one question whose answer is one of its choices, so that
// the number of the choice alone answers it.
func chooses(a *protocol.Approval) bool {
	return len(a.Questions) == 1 && !a.Questions[0].Many && len(a.Questions[0].Choices) > 0 &&
		a.Offers(protocol.AllowOnce)
}
