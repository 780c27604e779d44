package transcriptview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

const (
	ChecklistRows  = 12 // of a folded checklist
	maxDetailLines = 10 // of what came of a task, in an unfolded one
)

// Checklist is a turn's plan as one item that changes in place: its tasks, how
// they stand, how long they took and, unfolded, what came of them. While the panel
// of the plan lists the tasks a folded one does not.
type Checklist struct {
	styles         *ui.Styles
	title          string // the question, or the summary
	tasks          []checklistTask
	note           string // how it stands, once the tasks do not say it
	failed         bool
	turnEnded      bool // its turn ended
	shownElsewhere bool // the panel shows the tasks now: nobody reads them twice
	started        time.Time
	ended          time.Time
}

// checklistTask is a task as the events tell it.
type checklistTask struct {
	protocol.Task
	started, ended time.Time
	reported       time.Duration // as the agent measured it
	attempt        int
	message        string // last: progress, a reason, an error
	result         string
}

// IsPlanEvent tells the events that a checklist shows.
func IsPlanEvent(t protocol.Type) bool {
	kind, _, _ := strings.Cut(string(t), ".")
	return kind == "plan" || kind == "task" || kind == "aggregate" || t == protocol.PipelineCompleted
}

// apply brings it up to an event of the plan.
func (c *Checklist) apply(it *protocol.Item) {
	if c.started.IsZero() {
		c.started = it.Started
	}
	switch it.Type {
	case protocol.PlanStarted:
		*c = Checklist{styles: c.styles, title: remote.DecodeData[protocol.PlanStartedData](it.Data).Question, started: it.Started}
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

// setTasks is all tasks as they are now.
func (c *Checklist) setTasks(now []protocol.Task, at time.Time) {
	steps := make([]checklistTask, len(now))
	for i, t := range now {
		steps[i] = checklistTask{Task: t}
		if k := c.taskIndex(t.ID); k >= 0 {
			status := c.tasks[k].Status
			steps[i] = c.tasks[k]
			if steps[i].Task = t; t.Status == "" {
				steps[i].Status = status
			}
			if steps[i].Status == status {
				continue
			}
		}
		steps[i].setTimes(at)
	}
	c.tasks = steps
}

// applyTask is an event of one task.
func (c *Checklist) applyTask(it *protocol.Item) {
	d := remote.DecodeData[protocol.TaskData](it.Data)
	i := c.taskIndex(d.Task)
	if i < 0 {
		c.tasks = append(c.tasks, checklistTask{Task: protocol.Task{ID: d.Task, Title: d.Task}})
		i = len(c.tasks) - 1
	}
	s := &c.tasks[i]
	if d.Title != "" {
		s.Title = d.Title
	}
	s.attempt = max(s.attempt, d.Attempt)
	s.message = d.Message
	if d.Result != "" {
		s.result = d.Result
	}
	s.reported = ui.Millis(d.DurationMS)
	status := s.Status
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
		status, s.started, s.result = protocol.StatusPending, time.Time{}, ""
	}
	if status != s.Status {
		s.Status = status
		s.setTimes(it.Started)
	}
}

// setTimes notes when a task came to how it stands now.
func (s *checklistTask) setTimes(at time.Time) {
	switch s.Status {
	case protocol.StatusRunning:
		s.started, s.ended = at, time.Time{}
	case protocol.StatusCompleted, protocol.StatusFailed, protocol.StatusCancelled:
		s.ended = at
	}
}

func (c *Checklist) taskIndex(task string) int {
	return slices.IndexFunc(c.tasks, func(s checklistTask) bool { return s.ID == task })
}

// running tells that a task is under way, so that there is a clock to move.
func (c *Checklist) running() bool {
	return !c.turnEnded && slices.ContainsFunc(c.tasks, func(s checklistTask) bool { return s.Status == protocol.StatusRunning })
}

// titleOnly tells that the tasks show elsewhere.
func (c *Checklist) titleOnly() bool { return c.shownElsewhere && !c.turnEnded }

func (c *Checklist) Estimate(_ int, folded bool) int {
	if folded && c.titleOnly() {
		return 2
	}
	if folded {
		return 3 + min(len(c.tasks), ChecklistRows)
	}
	return 3 + 3*len(c.tasks)
}

func (c *Checklist) Block(width int, folded bool) transcript.Block {
	done := 0
	for i := range c.tasks {
		if c.tasks[i].Status == protocol.StatusCompleted {
			done++
		}
	}
	title := " " + c.styles.Dim.Render("•") + " " + c.styles.Bold.Render("plan")
	if c.title != "" {
		title += " " + ui.OneLine(transcript.Clean(c.title))
	}
	right := ""
	if len(c.tasks) > 0 {
		right = fmt.Sprintf("%d of %d done", done, len(c.tasks))
	}
	if !c.ended.IsZero() {
		right += " · " + ui.Duration(c.ended.Sub(c.started))
	}
	b := transcript.Block{Header: []string{"", ui.Spread(title, c.styles.Dim.Render(right), width)}}
	switch {
	case folded && c.titleOnly():
	case folded:
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

// collapsedRows is a row for each task; of many, those around the first that is not done.
func (c *Checklist) collapsedRows(width int) []string {
	at := max(0, slices.IndexFunc(c.tasks, func(s checklistTask) bool { return s.Status != protocol.StatusCompleted }))
	from, to := 0, len(c.tasks)
	if to > ChecklistRows {
		from = max(0, min(at-ChecklistRows/3, to-ChecklistRows))
		to = from + ChecklistRows
	}
	var out []string
	if from > 0 {
		out = append(out, "   "+c.styles.Dim.Render("… "+ui.Count(from, "task")+" before"))
	}
	for i := from; i < to; i++ {
		out = append(out, c.row(&c.tasks[i], width))
	}
	if n := len(c.tasks) - to; n > 0 {
		out = append(out, "   "+c.styles.Dim.Render("… "+ui.Count(n, "more task")))
	}
	return out
}

// row is a task on a line.
func (c *Checklist) row(s *checklistTask, width int) string {
	left, said, right, style := c.status(s)
	mark, title, _ := strings.Cut(left, " ")
	left = "   " + style.Render(mark) + " " + title + c.styles.Dim.Render(said)
	if right == "" {
		return ui.Fit(left, width)
	}
	return ui.Spread(left, style.Render(right), width)
}

// status is how a task stands, in words: a mark and what it is, what was said last,
// and for how long.
func (c *Checklist) status(s *checklistTask) (left, said, right string, style lipgloss.Style) {
	mark, style := "·", c.styles.Dim
	switch s.Status {
	case protocol.StatusRunning:
		mark, style, right = "▸", c.styles.Warning, "running"
		if c.turnEnded {
			mark, right = "⊘", "cut off"
		} else if ran := c.styles.Since(s.started); ran >= time.Second {
			right += " " + ui.Duration(ran)
		}
	case protocol.StatusCompleted:
		mark, style = "✓", c.styles.Success
	case protocol.StatusFailed:
		mark, style, right = "✗", c.styles.Error, "failed"
	case protocol.StatusCancelled:
		mark, right = "⊘", "cancelled"
	}
	if ran := s.duration(); ran > 0 {
		right = strings.TrimSpace(right + " " + ui.Duration(ran))
	}
	if s.attempt > 1 {
		right = fmt.Sprintf("attempt %d · %s", s.attempt, right)
	}
	if s.message != "" {
		said = ": " + ui.OneLine(transcript.Clean(s.message))
	}
	return mark + " " + ui.OneLine(transcript.Clean(s.Title)), said, right, style
}

// duration is how long a task took that is over.
func (s *checklistTask) duration() time.Duration {
	switch {
	case s.reported > 0:
		return s.reported
	case s.started.IsZero() || s.ended.IsZero():
		return 0
	}
	return max(0, s.ended.Sub(s.started))
}

// details is what a task is about and what came of it.
func (c *Checklist) details(s *checklistTask, width int) []string {
	var out []string
	add := func(text string) {
		if text == "" {
			return
		}
		lines := ui.Wrap(text, width-ui.Indent-2)
		if n := len(lines); n > maxDetailLines {
			lines = append(lines[:maxDetailLines-1:maxDetailLines-1], "… "+ui.Count(n-maxDetailLines+1, "more line"))
		}
		for _, line := range lines {
			out = append(out, "     "+c.styles.Dim.Render(line))
		}
	}
	add(s.Description)
	add(s.result)
	return out
}

// text is the plan as text, to be copied.
func (c *Checklist) text() string {
	var out strings.Builder
	out.WriteString(c.title + "\n")
	for i := range c.tasks {
		s := &c.tasks[i]
		box := " "
		if s.Status == protocol.StatusCompleted {
			box = "x"
		}
		fmt.Fprintf(&out, "- [%s] %s\n", box, s.Title)
		if s.result != "" {
			out.WriteString("  " + s.result + "\n")
		}
	}
	return out.String() + c.note
}

// Task returns a task in words: its mark and title, what was said last, its state and time, and the style of
// mark and state. The checklist knows more than the task; a nil one knows nothing.
func (c *Checklist) Task(s *ui.Styles, t *protocol.Task) (left, details, right string, style lipgloss.Style) {
	if c == nil {
		c = &Checklist{styles: s}
	}
	at := &checklistTask{Task: *t}
	if i := c.taskIndex(t.ID); i >= 0 {
		at = &c.tasks[i]
	}
	return c.status(at)
}
