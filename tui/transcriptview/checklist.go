package transcriptview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Bounds of a checklist.
const (
	ChecklistRows  = 12 // tasks shown by a collapsed checklist
	maxDetailLines = 10 // lines of a description or a result in an expanded checklist
)

// Checklist is the plan of a turn as one item that changes in place.
//
// It shows the tasks with their status and duration and, when expanded, their results. A collapsed
// checklist omits the tasks while the plan panel lists them.
type Checklist struct {
	styles         *ui.Styles
	title          string // the question of the plan, later its summary
	tasks          []checklistTask
	note           string // the phase, outcome or error of the plan as a whole
	failed         bool
	turnEnded      bool // the turn of the plan ended
	shownElsewhere bool // the plan panel lists the tasks
	started        time.Time
	ended          time.Time
}

// checklistTask is the state of a task, reduced from the events of the plan.
type checklistTask struct {
	protocol.Task
	started, ended time.Time
	reported       time.Duration // duration reported by the agent; 0: none
	attempt        int
	message        string // the latest progress, reason or error
	result         string
}

// IsPlanEvent reports whether events of type t are shown in a checklist.
func IsPlanEvent(t protocol.Type) bool {
	kind, _, _ := strings.Cut(string(t), ".")
	return kind == "plan" || kind == "task" || kind == "aggregate" || t == protocol.PipelineCompleted
}

// apply applies an event of the plan.
func (c *Checklist) apply(it *protocol.Item) {
	if c.started.IsZero() {
		c.started = it.Started
	}
	switch it.Type {
	case protocol.PlanStarted:
		*c = Checklist{
			styles:  c.styles,
			title:   remote.DecodeData[protocol.PlanStartedData](it.Data).Question,
			started: it.Started,
		}
	case protocol.PlanUpdated, protocol.PlanCompleted:
		d := remote.DecodeData[protocol.PlanTasksData](it.Data)
		c.setTasks(d.Tasks, it.Started)
		if d.Summary != "" {
			c.title = d.Summary
		}
	case protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed:
		d := remote.DecodeData[protocol.PlanErrorData](it.Data)
		c.note, c.failed, c.ended = describe.TypeSuffix(it.Type)+ui.Prefixed(": ", d.Message), true, it.Started
		for _, detail := range d.Details {
			c.note += "\n" + detail
		}
	case protocol.AggregateStarted:
		c.note = "putting the results together"
	case protocol.AggregateCompleted, protocol.PipelineCompleted:
		c.note, c.ended = "", it.Started
	default:
		c.applyTask(it)
	}
}

// setTasks replaces the list of tasks. It keeps the times and results of known tasks.
func (c *Checklist) setTasks(tasks []protocol.Task, at time.Time) {
	updated := make([]checklistTask, len(tasks))
	for i, t := range tasks {
		updated[i] = checklistTask{Task: t}
		if k := c.taskIndex(t.ID); k >= 0 {
			status := c.tasks[k].Status
			updated[i] = c.tasks[k]
			if updated[i].Task = t; t.Status == "" {
				updated[i].Status = status
			}
			if updated[i].Status == status {
				continue
			}
		}
		updated[i].setTimes(at)
	}
	c.tasks = updated
}

// applyTask applies an event of one task. It adds an unknown task.
func (c *Checklist) applyTask(it *protocol.Item) {
	d := remote.DecodeData[protocol.TaskData](it.Data)
	i := c.taskIndex(d.Task)
	if i < 0 {
		c.tasks = append(c.tasks, checklistTask{Task: protocol.Task{ID: d.Task, Title: d.Task}})
		i = len(c.tasks) - 1
	}
	t := &c.tasks[i]
	if d.Title != "" {
		t.Title = d.Title
	}
	t.attempt = max(t.attempt, d.Attempt)
	t.message = d.Message
	if d.Result != "" {
		t.result = d.Result
	}
	t.reported = format.Millis(d.DurationMS)
	status := t.Status
	switch it.Type {
	case protocol.TaskStarted:
		status = protocol.StatusRunning
	case protocol.TaskCompleted:
		status = protocol.StatusCompleted
	case protocol.TaskFailed:
		status = protocol.StatusFailed
	case protocol.TaskCancelled:
		status = protocol.StatusCancelled
	case protocol.TaskRestarted:
		status, t.started, t.result = protocol.StatusPending, time.Time{}, ""
	}
	if status != t.Status {
		t.Status = status
		t.setTimes(it.Started)
	}
}

// setTimes records at as the start or the end of the task, by its status.
func (t *checklistTask) setTimes(at time.Time) {
	switch t.Status {
	case protocol.StatusRunning:
		t.started, t.ended = at, time.Time{}
	case protocol.StatusCompleted, protocol.StatusFailed, protocol.StatusCancelled:
		t.ended = at
	}
}

// taskIndex returns the index of a task, or -1.
func (c *Checklist) taskIndex(task string) int {
	return slices.IndexFunc(c.tasks, func(t checklistTask) bool { return t.ID == task })
}

// running reports whether a task is running, so that its duration has to be redrawn.
func (c *Checklist) running() bool {
	return !c.turnEnded &&
		slices.ContainsFunc(c.tasks, func(t checklistTask) bool { return t.Status == protocol.StatusRunning })
}

// titleOnly reports whether a collapsed checklist omits its tasks.
func (c *Checklist) titleOnly() bool { return c.shownElsewhere && !c.turnEnded }

// Estimate implements transcript.Item.
func (c *Checklist) Estimate(_ int, collapsed bool) int {
	if collapsed && c.titleOnly() {
		return 2
	}
	if collapsed {
		return 3 + min(len(c.tasks), ChecklistRows)
	}
	return 3 + 3*len(c.tasks)
}

// Block implements transcript.Item.
func (c *Checklist) Block(width int, collapsed bool) transcript.Block {
	done := 0
	for i := range c.tasks {
		if c.tasks[i].Status == protocol.StatusCompleted {
			done++
		}
	}
	title := " " + c.styles.Dim.Render("•") + " " + c.styles.Bold.Render("plan")
	if c.title != "" {
		title += " " + format.JoinLines(transcript.Clean(c.title))
	}
	right := ""
	if len(c.tasks) > 0 {
		right = fmt.Sprintf("%d of %d done", done, len(c.tasks))
	}
	if !c.ended.IsZero() {
		right += " · " + format.Duration(c.ended.Sub(c.started))
	}
	b := transcript.Block{Header: []string{"", spread(title, c.styles.Dim.Render(right), width)}}
	switch {
	case collapsed && c.titleOnly():
	case collapsed:
		b.Body = c.collapsedRows(width)
	default:
		for i := range c.tasks {
			b.Body = append(b.Body, c.row(&c.tasks[i], width))
			b.Body = append(b.Body, c.details(&c.tasks[i], width)...)
		}
	}
	if c.note != "" {
		style := &c.styles.Dim
		if c.failed {
			style = &c.styles.Error
		}
		for _, line := range ui.Wrap(c.note, width-ui.Indent) {
			b.Footer = append(b.Footer, "   "+style.Render(line))
		}
	}
	return b
}

// collapsedRows returns one row per task, at most ChecklistRows. With more tasks it returns those
// around the first task that is not completed, and the number of tasks before and after.
func (c *Checklist) collapsedRows(width int) []string {
	at := max(0, slices.IndexFunc(c.tasks, func(t checklistTask) bool { return t.Status != protocol.StatusCompleted }))
	from, to := 0, len(c.tasks)
	if to > ChecklistRows {
		from = max(0, min(at-ChecklistRows/3, to-ChecklistRows))
		to = from + ChecklistRows
	}
	var out []string
	if from > 0 {
		out = append(out, "   "+c.styles.Dim.Render("… "+format.Count(from, "task")+" before"))
	}
	for i := from; i < to; i++ {
		out = append(out, c.row(&c.tasks[i], width))
	}
	if n := len(c.tasks) - to; n > 0 {
		out = append(out, "   "+c.styles.Dim.Render("… "+format.Count(n, "more task")))
	}
	return out
}

// row returns a task as one line.
func (c *Checklist) row(t *checklistTask, width int) string {
	left, message, right, style := c.status(t)
	mark, title, _ := strings.Cut(left, " ")
	left = "   " + style.Render(mark) + " " + title + c.styles.Dim.Render(message)
	if right == "" {
		return ui.Fit(left, width)
	}
	return spread(left, style.Render(right), width)
}

// status describes a task: its mark and title, its latest message, its state and duration, and the
// style of the mark and the state.
func (c *Checklist) status(t *checklistTask) (left, message, right string, style lipgloss.Style) {
	mark, style := "·", c.styles.Dim
	switch t.Status {
	case protocol.StatusRunning:
		mark, style, right = "▸", c.styles.Warning, "running"
		if c.turnEnded {
			mark, right = "⊘", "cut off"
		} else if elapsed := c.styles.Since(t.started); elapsed >= time.Second {
			right += " " + format.Duration(elapsed)
		}
	case protocol.StatusCompleted:
		mark, style = "✓", c.styles.Success
	case protocol.StatusFailed:
		mark, style, right = "✗", c.styles.Error, "failed"
	case protocol.StatusCancelled:
		mark, right = "⊘", "cancelled"
	}
	if elapsed := t.duration(); elapsed > 0 {
		right = strings.TrimSpace(right + " " + format.Duration(elapsed))
	}
	if t.attempt > 1 {
		right = fmt.Sprintf("attempt %d · %s", t.attempt, right)
	}
	if t.message != "" {
		message = ": " + format.JoinLines(transcript.Clean(t.message))
	}
	return mark + " " + format.JoinLines(transcript.Clean(t.Title)), message, right, style
}

// duration returns how long a finished task took, or 0 if that is not known.
func (t *checklistTask) duration() time.Duration {
	switch {
	case t.reported > 0:
		return t.reported
	case t.started.IsZero() || t.ended.IsZero():
		return 0
	}
	return max(0, t.ended.Sub(t.started))
}

// details returns the lines of a task's description and result.
func (c *Checklist) details(t *checklistTask, width int) []string {
	var out []string
	add := func(text string) {
		if text == "" {
			return
		}
		lines := ui.Wrap(text, width-ui.Indent-2)
		if n := len(lines); n > maxDetailLines {
			lines = append(lines[:maxDetailLines-1:maxDetailLines-1], "… "+format.Count(n-maxDetailLines+1, "more line"))
		}
		for _, line := range lines {
			out = append(out, "     "+c.styles.Dim.Render(line))
		}
	}
	add(t.Description)
	add(t.result)
	return out
}

// text returns the plan as Markdown, to copy or to search.
func (c *Checklist) text() string {
	var out strings.Builder
	out.WriteString(c.title + "\n")
	for i := range c.tasks {
		t := &c.tasks[i]
		box := " "
		if t.Status == protocol.StatusCompleted {
			box = "x"
		}
		fmt.Fprintf(&out, "- [%s] %s\n", box, t.Title)
		if t.result != "" {
			out.WriteString("  " + t.result + "\n")
		}
	}
	return out.String() + c.note
}

// Task describes t by the state that the checklist has of it, or by t alone if the checklist is nil
// or does not know t. It returns the mark and title, the latest message, the state and duration,
// and the style of the mark and the state.
func (c *Checklist) Task(styles *ui.Styles, t *protocol.Task) (left, details, right string, style lipgloss.Style) {
	if c == nil {
		c = &Checklist{styles: styles}
	}
	task := &checklistTask{Task: *t}
	if i := c.taskIndex(t.ID); i >= 0 {
		task = &c.tasks[i]
	}
	return c.status(task)
}
