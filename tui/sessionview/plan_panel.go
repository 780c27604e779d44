package sessionview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// planRows is the most tasks that are shown at once on a low screen.
const planRows = 6

// planPanel shows the tasks of the running plan, which can be cancelled and restarted.
type planPanel struct {
	styles   *ui.Styles
	replica  *replica
	commands *commander

	selected string            // task
	pending  map[string]string // task → the action that has no answer yet
	stale    bool              // the state's plan belongs to an earlier turn
}

// apply notes whether the plan belongs to the running turn, which the state does not tell.
func (p *planPanel) apply(e *protocol.Event) {
	switch {
	case e.Type == protocol.TurnStarted:
		p.stale = true
	case transcriptview.IsPlanEvent(e.Type):
		p.stale = false
	}
}

// plan returns the running plan, or nil.
func (p *planPanel) plan() *protocol.Plan {
	s := p.replica.state
	if s.Plan == nil || p.stale || s.Turn == nil || len(s.Plan.Tasks) == 0 {
		return nil
	}
	return s.Plan
}

// selectedIndex returns the index of the selected task; without a selection of the first task that is not done.
func (p *planPanel) selectedIndex(plan *protocol.Plan) int {
	if i := slices.IndexFunc(plan.Tasks, func(t protocol.Task) bool { return t.ID == p.selected }); i >= 0 {
		return i
	}
	unfinished := func(t protocol.Task) bool { return t.Status != protocol.StatusCompleted }
	return max(0, slices.IndexFunc(plan.Tasks, unfinished))
}

// selectAt selects the task nearest to an index.
func (p *planPanel) selectAt(plan *protocol.Plan, i int) {
	p.selected = plan.Tasks[min(max(i, 0), len(plan.Tasks)-1)].ID
}

// press handles a key while the panel has the focus. leave gives the focus back.
func (p *planPanel) press(key string) (cmd tea.Cmd, leave bool) {
	plan := p.plan()
	action := p.styles.Keys.InList(keymap.Plan, key)
	if action == keymap.Back || plan == nil {
		return nil, true
	}
	at := p.selectedIndex(plan)
	switch action {
	case keymap.Up:
		p.selectAt(plan, at-1)
	case keymap.Down:
		p.selectAt(plan, at+1)
	case keymap.TaskCancel:
		return p.control(plan, at, protocol.DoTaskCancel, "cancelling"), false
	case keymap.TaskRestart:
		return p.control(plan, at, protocol.DoTaskRestart, "restarting"), false
	}
	return nil, false
}

// control cancels or restarts a task. A task takes one such command at a time.
func (p *planPanel) control(plan *protocol.Plan, at int, verb protocol.Verb, action string) tea.Cmd {
	p.selectAt(plan, at) // the task stays selected
	id := plan.Tasks[at].ID
	if p.pending[id] != "" {
		return nil
	}
	p.pending[id] = action
	return p.commands.do(verb, protocol.TaskIDData{Task: id}, nil, func(err error) tea.Cmd {
		delete(p.pending, id)
		return p.commands.report(err)
	})
}

// view returns a title and at most rows tasks; it is empty when no plan is running. The checklist of the
// turn knows more about the tasks than the state.
func (p *planPanel) view(c *transcriptview.Checklist, width, rows int, focused bool) []string {
	plan := p.plan()
	if plan == nil {
		return nil
	}
	done, at := tasksDone(plan), p.selectedIndex(plan)
	first := done - 1 // the last task that is done, then those to do
	if focused {
		first = at - rows/2
	}
	first = max(0, min(first, len(plan.Tasks)-rows))
	last := min(first+rows, len(plan.Tasks))
	title := fmt.Sprintf("plan · %d of %d", done, len(plan.Tasks))
	if focused {
		hint := p.styles.Keys.Hint(keymap.TaskCancel, "cancel", keymap.TaskRestart, "restart")
		title += p.styles.Dim.Render(" · " + hint)
	} else {
		title += " done" + p.styles.Dim.Render(ui.Prefixed(keymap.Separator, p.styles.Keys.Key(keymap.FocusNext)))
	}
	if first > 0 {
		title += p.styles.Dim.Render(" · " + strconv.Itoa(first) + " before")
	}
	if n := len(plan.Tasks) - last; n > 0 {
		title += p.styles.Dim.Render(" · " + strconv.Itoa(n) + " after")
	}
	out := []string{p.styles.Rule(title, width)}
	for i := first; i < last; i++ {
		out = append(out, p.taskLine(&plan.Tasks[i], c, width, focused && i == at))
	}
	return out
}

func (p *planPanel) taskLine(t *protocol.Task, c *transcriptview.Checklist, width int, selected bool) string {
	left, details, right, style := c.Task(p.styles, t)
	pending := p.pending[t.ID] != ""
	if pending {
		right = p.pending[t.ID] + " …"
	}
	switch {
	case selected:
		return p.styles.Selected.Render(ui.Spread(" ▸ "+left+details, right, width))
	case pending:
		style = p.styles.Warning
	}
	mark, title, _ := strings.Cut(left, " ")
	return ui.Spread("   "+style.Render(mark)+" "+title+p.styles.Dim.Render(details), style.Render(right), width)
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
