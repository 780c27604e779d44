package tui

import (
	"fmt"
	"slices"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// planRows is the most tasks that show at once.
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

// Render is empty when no plan is under way, else one line per task.
func (p *plan) Render(s *protocol.State, width int, focused bool) []string {
	of := p.of(s)
	if of == nil {
		return nil
	}
	title := fmt.Sprintf("plan · %d of %d", tasksDone(of), len(of.Tasks))
	if focused {
		title += p.look.dim.Render(" · " + p.look.keys.hint(doCancelTask, "cancel", doRestartTask, "restart"))
	} else {
		title += " done" + p.look.dim.Render(prefixed(between, p.look.keys.key(doNextFocus)))
	}
	at := p.at(of)
	lines := make([]string, len(of.Tasks))
	for i := range of.Tasks {
		lines[i] = p.row(&of.Tasks[i], width, focused && i == at)
	}
	if !focused {
		at = max(0, tasksDone(of)-1) + planRows/2
	}
	lines, _ = window(lines, at, planRows)
	return append([]string{p.look.rule(title, width)}, lines...)
}

func (p *plan) row(t *protocol.Task, width int, chosen bool) string {
	mark, style := "·", p.look.dim
	switch t.Status {
	case protocol.StatusRunning:
		mark, style = "▸", p.look.warn
	case protocol.StatusCompleted:
		mark, style = "✓", p.look.good
	case protocol.StatusFailed:
		mark, style = "✗", p.look.bad
	case protocol.StatusCancelled:
		mark = "⊘"
	}
	text := oneLine(transcript.Clean(t.Title))
	right := ""
	if what := p.asking[t.ID]; what != "" {
		right = what + " …"
	}
	if chosen {
		return p.look.chosen.Render(spread(" ▸ "+mark+" "+text, right, width))
	}
	return spread("   "+style.Render(mark)+" "+text, p.look.warn.Render(right), width)
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
