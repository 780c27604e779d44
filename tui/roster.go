package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// roster is the list of sessions: who waits for a person comes first.
type roster struct {
	look   *look
	known  map[string]protocol.Summary
	order  []string // what the filter lets through
	filter string
	chosen string // session
}

func newRoster(l *look) roster {
	return roster{look: l, known: map[string]protocol.Summary{}}
}

// take keeps what changed.
func (r *roster) take(changes []protocol.Summary) {
	for _, s := range changes {
		if s.Deleted {
			delete(r.known, s.Session)
		} else {
			r.known[s.Session] = s
		}
	}
	r.arrange()
}

func (r *roster) arrange() {
	r.order = r.order[:0]
	for id, s := range r.known {
		if r.filter == "" || strings.Contains(strings.ToLower(s.Name+" "+s.Title+" "+s.Agent+" "+s.Session), strings.ToLower(r.filter)) {
			r.order = append(r.order, id)
		}
	}
	slices.SortFunc(r.order, func(a, b string) int { return before(r.known[a], r.known[b]) })
}

// before orders by who needs somebody most: those that ask, the longest waiting
// first, then those at work, idle and closed, the latest first.
func before(a, b protocol.Summary) int {
	rank := func(s protocol.Summary) int {
		return slices.Index([]protocol.Status{protocol.Waiting, protocol.Running, protocol.Idle, protocol.Closed}, s.Status)
	}
	if d := cmp.Compare(rank(a), rank(b)); d != 0 {
		return d
	}
	if a.Asked != nil && b.Asked != nil && !a.Asked.Equal(*b.Asked) {
		return a.Asked.Compare(*b.Asked)
	}
	if d := b.Updated.Compare(a.Updated); d != 0 {
		return d
	}
	return cmp.Compare(a.Session, b.Session)
}

// at is the place of the chosen session, or the first; -1 when none is there.
func (r *roster) at() int {
	if len(r.order) == 0 {
		return -1
	}
	return max(0, slices.Index(r.order, r.chosen))
}

func (r *roster) choose(i int) {
	if len(r.order) > 0 {
		r.chosen = r.order[min(max(i, 0), len(r.order)-1)]
	}
}

func (r *roster) narrow(filter string) {
	r.filter = filter
	r.arrange()
}

// waiting counts the sessions that ask, but for one.
func (r *roster) waiting(but string) int {
	n := 0
	for id, s := range r.known {
		if id != but && s.Status == protocol.Waiting {
			n++
		}
	}
	return n
}

// Render is height lines.
func (r *roster) Render(width, height int) []string {
	title := r.look.bold.Render("sessions") + " · " + fmt.Sprint(len(r.known))
	if n := r.waiting(""); n > 0 {
		title += " · " + r.look.warn.Render(fmt.Sprint(n)+" waiting for you")
	}
	if r.filter != "" {
		title += " · " + r.look.user.Render("only “"+r.filter+"”")
	}
	out := []string{r.look.rule(title, width)}
	rows := max(0, height-1)
	at := r.at()
	first := max(0, min(at-rows/2, len(r.order)-rows))
	for i := first; i < min(len(r.order), first+rows); i++ {
		out = append(out, r.row(r.known[r.order[i]], width, i == at))
	}
	if len(r.order) == 0 && rows > 0 {
		none := " no session yet: agentctl new"
		if r.filter != "" {
			none = " none of that name · esc shows all"
		}
		out = append(out, r.look.dim.Render(fit(none, width)))
	}
	for len(out) < height {
		out = append(out, "")
	}
	return out
}

func (r *roster) row(s protocol.Summary, width int, chosen bool) string {
	narrow := width < 60
	mark, style, at := "·", r.look.dim, s.Updated
	var parts []string
	add := func(word string) {
		if word != "" && !narrow {
			parts = append(parts, word)
		}
	}
	if s.Queue > 0 {
		add(fmt.Sprintf("+%d", s.Queue))
		if s.Held {
			add("held")
		}
	}
	switch s.Status {
	case protocol.Waiting:
		mark, style = "?", r.look.warn
		add(count(s.Approvals, "approval") + " since")
		if s.Asked != nil {
			at = *s.Asked
		}
	case protocol.Running:
		mark, style = "▸", r.look.good
		add("running")
	case protocol.Closed:
		add("closed")
	case protocol.Idle:
		if s.Reason != "" && s.Reason != protocol.ReasonCompleted {
			mark, style = "✗", r.look.bad
			add(oneLine(transcript.Clean(string(s.Reason))))
		}
	}
	right := strings.Join(append(parts, r.look.clock(at)), " ")
	name := oneLine(transcript.Clean(cmp.Or(s.Name, s.Title, short(s.Session))))
	about := oneLine(transcript.Clean(cmp.Or(s.Doing, s.Title)))
	agent := oneLine(transcript.Clean(s.Agent))
	if narrow {
		agent = ""
	} else {
		agent = pad(agent, width/8) + " "
	}
	name = pad(name, max(width/4, 14))
	if chosen {
		return r.look.chosen.Render(spread("▸"+mark+" "+name+" "+agent+about, right, width))
	}
	return spread(" "+style.Render(mark)+" "+r.look.bold.Render(name)+" "+r.look.dim.Render(agent)+about, style.Render(right), width)
}

// pad is text in exactly width cells.
func pad(s string, width int) string {
	s = fit(s, width)
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}
