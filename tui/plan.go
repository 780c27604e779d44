package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentctl/tui/keymap"

	"agentctl/protocol"
)

// planRows is the most tasks that show at once, where the screen is not tall.
const planRows = 6

// plan is the panel of the plan under way, whose tasks can be cancelled and
// restarted.
type plan struct {
	look   *look
	chosen string            // task
	asking map[string]string // task → what was asked for and not answered
	past   bool              // the state's plan is of a turn before the one under way
}

// follow keeps what is known of the plan's turn, which a state does not tell.
func (p *plan) follow(e *protocol.Event) {
	switch {
	case e.Type == protocol.TurnStarted:
		p.past = true
	case planning(e.Type):
		p.past = false
	}
}

// of is the plan that shows, or nil.
func (p *plan) of(s *protocol.State) *protocol.Plan {
	if s.Plan == nil || p.past || s.Turn == nil || len(s.Plan.Tasks) == 0 {
		return nil
	}
	return s.Plan
}

// at is the index of the chosen task; without one, of the first that is not done.
func (p *plan) at(of *protocol.Plan) int {
	if i := slices.IndexFunc(of.Tasks, func(t protocol.Task) bool { return t.ID == p.chosen }); i >= 0 {
		return i
	}
	return max(0, slices.IndexFunc(of.Tasks, func(t protocol.Task) bool { return t.Status != protocol.StatusCompleted }))
}

func (p *plan) choose(of *protocol.Plan, i int) {
	p.chosen = of.Tasks[min(max(i, 0), len(of.Tasks)-1)].ID
}

// Render is empty when no plan is under way, else a title and a line per task, of at
// most so many. What is known of the tasks beside the state is in the checklist.
func (p *plan) Render(s *protocol.State, c *checklist, width, rows int, focused bool) []string {
	of := p.of(s)
	if of == nil {
		return nil
	}
	done, at := tasksDone(of), p.at(of)
	first := done - 1 // the last that is done, then what is to do
	if focused {
		first = at - rows/2
	}
	first = max(0, min(first, len(of.Tasks)-rows))
	last := min(first+rows, len(of.Tasks))
	title := fmt.Sprintf("plan · %d of %d", done, len(of.Tasks))
	if focused {
		title += p.look.dim.Render(" · " + p.look.keys.Hint(keymap.TaskCancel, "cancel", keymap.TaskRestart, "restart"))
	} else {
		title += " done" + p.look.dim.Render(prefixed(keymap.Separator, p.look.keys.Key(keymap.FocusNext)))
	}
	if first > 0 {
		title += p.look.dim.Render(" · " + strconv.Itoa(first) + " before")
	}
	if n := len(of.Tasks) - last; n > 0 {
		title += p.look.dim.Render(" · " + strconv.Itoa(n) + " after")
	}
	out := []string{p.look.rule(title, width)}
	for i := first; i < last; i++ {
		out = append(out, p.row(&of.Tasks[i], c, width, focused && i == at))
	}
	return out
}

func (p *plan) row(t *protocol.Task, c *checklist, width int, chosen bool) string {
	if c == nil {
		c = &checklist{look: p.look}
	}
	at := &step{Task: *t}
	if i := c.find(t.ID); i >= 0 {
		at = &c.steps[i]
	}
	left, said, right, style := c.stands(at)
	asks := p.asking[t.ID] != ""
	if asks {
		right = p.asking[t.ID] + " …"
	}
	switch {
	case chosen:
		return p.look.chosen.Render(spread(" ▸ "+left+said, right, width))
	case asks:
		style = p.look.warn
	}
	mark, title, _ := strings.Cut(left, " ")
	return spread("   "+style.Render(mark)+" "+title+p.look.dim.Render(said), style.Render(right), width)
}

func tasksDone(p *protocol.Plan) int {
	done := 0
	for i := range p.Tasks {
		if p.Tasks[i].Status == protocol.StatusCompleted {
			done++
		}
	}
	return done
}
