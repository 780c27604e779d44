package panel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/turns"
	"agentctl/tui/ui"
)

// Plan shows the tasks of the running plan. The user can cancel and restart them.
type Plan struct {
	Base
	turns *turns.Turns

	focused  bool
	selected string            // task ID
	pending  map[string]string // task ID → action without an answer yet
}

// NewPlan returns a panel without the focus.
func NewPlan(b Base, t *turns.Turns) *Plan {
	return &Plan{Base: b, turns: t, pending: map[string]string{}}
}

// SetFocus sets whether the panel has the focus.
func (p *Plan) SetFocus(focused bool) { p.focused = focused }

// Running returns the plan of the running turn, or nil.
func (p *Plan) Running() *protocol.Plan {
	s := p.Replica.State
	if s.Plan == nil || p.turns.PlanStale() || s.Turn == nil || len(s.Plan.Tasks) == 0 {
		return nil
	}
	return s.Plan
}

// selectedIndex returns the index of the selected task, else of the first unfinished one.
func (p *Plan) selectedIndex(plan *protocol.Plan) int {
	if i := slices.IndexFunc(plan.Tasks, func(t protocol.Task) bool { return t.ID == p.selected }); i >= 0 {
		return i
	}
	unfinished := func(t protocol.Task) bool { return t.Status != protocol.StatusCompleted }
	return max(0, slices.IndexFunc(plan.Tasks, unfinished))
}

// PlanRows is the list of the rows of the panel; see [ui.RowMsg].
const PlanRows = "plan"

// Point handles the mouse on a task.
func (p *Plan) Point(msg ui.RowMsg) {
	if plan := p.Running(); plan != nil {
		p.selectAt(plan, msg.Target(p.selectedIndex(plan)))
	}
}

// selectAt selects the task at index i, clamped to the plan.
func (p *Plan) selectAt(plan *protocol.Plan, i int) {
	p.selected = plan.Tasks[min(max(i, 0), len(plan.Tasks)-1)].ID
}

// Press handles a key while the panel has the focus.
func (p *Plan) Press(key string) Result {
	plan := p.Running()
	action := p.Styles.Keys.InList(keymap.Plan, key)
	if action == keymap.Back || plan == nil {
		return Result{Leave: true}
	}
	at := p.selectedIndex(plan)
	switch action {
	case keymap.Up:
		p.selectAt(plan, at-1)
	case keymap.Down:
		p.selectAt(plan, at+1)
	case keymap.Remove:
		return Result{Push: p.askToCancel(plan, at)}
	case keymap.TaskRestart:
		return Result{Cmd: p.control(plan.Tasks[at].ID, protocol.DoTaskRestart, "restarting")}
	}
	return Result{}
}

// askToCancel returns the question before the task at an index is cancelled.
func (p *Plan) askToCancel(plan *protocol.Plan, at int) ui.Overlay {
	p.selectAt(plan, at)
	task := plan.Tasks[at]
	title := "cancel the task “" + transcript.CleanLine(task.Title) + "”?"
	return ui.NewQuestion(p.Styles, title, ui.Choice{Label: "Cancel the task", Run: func() tea.Cmd {
		return p.control(task.ID, protocol.DoTaskCancel, "cancelling")
	}})
}

// control cancels or restarts a task and selects it. It does nothing if the task is gone, or while
// another such command for it has no answer.
func (p *Plan) control(task string, verb protocol.Verb, action string) tea.Cmd {
	plan := p.Running()
	isTask := func(t protocol.Task) bool { return t.ID == task }
	if plan == nil || !slices.ContainsFunc(plan.Tasks, isTask) || p.pending[task] != "" {
		return nil
	}
	p.selected, p.pending[task] = task, action
	return p.Commands.Send(verb, protocol.TaskIDData{Task: task}, nil, func(err error) tea.Cmd {
		delete(p.pending, task)
		return p.Commands.Report(err)
	})
}

// View returns a title and the tasks, in at most rows rows. It returns nil without a running plan.
func (p *Plan) View(width, rows int) []string {
	plan := p.Running()
	if plan == nil {
		return nil
	}
	rows = max(0, rows-1) // the title
	done, at := tasksDone(plan), p.selectedIndex(plan)
	first := done - 1 // the last finished task comes first
	switch {
	case p.focused:
		first = at - rows/2
	case rows < 2:
		first = done
	}
	first = max(0, min(first, len(plan.Tasks)-rows))
	last := min(first+rows, len(plan.Tasks))
	title := fmt.Sprintf("plan · %d of %d", done, len(plan.Tasks))
	if p.focused {
		hint := p.Styles.Keys.Hint(keymap.Remove, "cancel", keymap.TaskRestart, "restart")
		title += p.Styles.Dim.Render(" · " + hint)
	} else {
		title += " done"
		if !p.Replica.Recorded {
			title += p.Styles.Dim.Render(ui.Prefixed(keymap.Separator, p.Styles.Keys.Key(keymap.FocusNext)))
		}
	}
	if first > 0 {
		title += p.Styles.Dim.Render(" · " + strconv.Itoa(first) + " before")
	}
	if n := len(plan.Tasks) - last; n > 0 {
		title += p.Styles.Dim.Render(" · " + strconv.Itoa(n) + " after")
	}
	out := []string{p.Styles.Rule(title, width)}
	for i := first; i < last; i++ {
		line := p.taskLine(&plan.Tasks[i], width, p.focused && i == at)
		out = append(out, p.Styles.Keys.MarkRow(PlanRows, i, line))
	}
	return out
}

// taskLine returns the line of a task.
func (p *Plan) taskLine(t *protocol.Task, width int, selected bool) string {
	left, details, right, style := transcriptview.Task(p.Styles, p.turns.Plan(), t)
	pending := p.pending[t.ID] != ""
	if pending {
		right = p.pending[t.ID] + " …"
	}
	switch {
	case selected:
		return p.Styles.Selected.Render(ui.Spread(" ▸ "+left+details, right, width))
	case pending:
		style = p.Styles.Warning
	}
	mark, title, _ := strings.Cut(left, " ")
	return ui.Spread("   "+style.Render(mark)+" "+title+transcriptview.MessageStyle(p.Styles, t.Status).Render(details), style.Render(right), width)
}

// tasksDone returns the number of completed tasks.
func tasksDone(p *protocol.Plan) int {
	done := 0
	for i := range p.Tasks {
		if p.Tasks[i].Status == protocol.StatusCompleted {
			done++
		}
	}
	return done
}

// Section returns the tasks of the running plan for the side column.
func (p *Plan) Section(width int) (title, note string, lines []string) {
	plan := p.Running()
	if plan == nil {
		return "", "", nil
	}
	for i := range plan.Tasks {
		left, _, right, style := transcriptview.Task(p.Styles, p.turns.Plan(), &plan.Tasks[i])
		mark, text, _ := strings.Cut(left, " ")
		lines = append(lines, ui.Spread(" "+style.Render(mark)+" "+text, style.Render(right), width))
	}
	return "plan", strconv.Itoa(tasksDone(plan)) + "/" + strconv.Itoa(len(plan.Tasks)), lines
}
