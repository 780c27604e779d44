package transcriptview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/turns"
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
	itemAnchor
	styles         *ui.Styles
	plan           *turns.Plan
	turnEnded      bool // the turn of the plan ended
	shownElsewhere bool // the plan panel lists the tasks
}

// note returns the phase or the error of the plan as a whole, or "".
func (c *Checklist) note() string {
	p := c.plan
	switch p.Phase {
	case "":
		return ""
	case protocol.AggregateStarted:
		return "putting the results together"
	}
	lines := append([]string{describe.TypeSuffix(p.Phase) + ui.Prefixed(": ", p.Error.Message)}, p.Error.Details...)
	return strings.Join(lines, "\n")
}

// running reports whether a task is running, so that its duration has to be redrawn.
func (c *Checklist) running() bool {
	return !c.turnEnded &&
		slices.ContainsFunc(c.plan.Tasks, func(t turns.Task) bool { return t.Status == protocol.StatusRunning })
}

// titleOnly reports whether a collapsed checklist omits its tasks.
func (c *Checklist) titleOnly() bool { return c.shownElsewhere && !c.turnEnded }

// Estimate implements transcript.Item.
func (c *Checklist) Estimate(_ int, collapsed bool) int {
	if collapsed && c.titleOnly() {
		return 2
	}
	if collapsed {
		return 3 + min(len(c.plan.Tasks), ChecklistRows)
	}
	return 3 + 3*len(c.plan.Tasks)
}

// Block implements transcript.Item.
func (c *Checklist) Block(width int, collapsed bool) transcript.Block {
	done := 0
	for i := range c.plan.Tasks {
		if c.plan.Tasks[i].Status == protocol.StatusCompleted {
			done++
		}
	}
	title := " " + c.styles.Dim.Render("•") + " " + c.styles.Bold.Render("plan")
	if c.plan.Title != "" {
		title += " " + transcript.CleanLine(c.plan.Title)
	}
	right := ""
	if len(c.plan.Tasks) > 0 {
		right = fmt.Sprintf("%d of %d done", done, len(c.plan.Tasks))
	}
	if !c.plan.Ended.IsZero() {
		right += " · " + describe.Took(c.plan.Took())
	}
	b := transcript.Block{Header: []string{"", ui.Spread(title, c.styles.Dim.Render(right), width)}}
	switch {
	case collapsed && c.titleOnly():
	case collapsed:
		b.Body = c.collapsedRows(width)
	default:
		for i := range c.plan.Tasks {
			b.Body = append(b.Body, c.row(&c.plan.Tasks[i], width))
			b.Body = append(b.Body, c.details(&c.plan.Tasks[i], width)...)
		}
	}
	if note := c.note(); note != "" {
		style := &c.styles.Dim
		if c.plan.Failed {
			style = &c.styles.Error
		}
		for _, line := range ui.Wrap(note, width-ui.Indent) {
			b.Footer = append(b.Footer, "   "+style.Render(line))
		}
	}
	return b
}

// collapsedRows returns one row per task, at most ChecklistRows. With more tasks it returns those
// around the first task that is not completed, and the number of tasks before and after.
func (c *Checklist) collapsedRows(width int) []string {
	at := max(0, slices.IndexFunc(c.plan.Tasks, func(t turns.Task) bool { return t.Status != protocol.StatusCompleted }))
	from, to := 0, len(c.plan.Tasks)
	if to > ChecklistRows {
		from = max(0, min(at-ChecklistRows/3, to-ChecklistRows))
		to = from + ChecklistRows
	}
	var out []string
	if from > 0 {
		out = append(out, "   "+c.styles.Dim.Render("… "+format.Count(from, "task")+" before"))
	}
	for i := from; i < to; i++ {
		out = append(out, c.row(&c.plan.Tasks[i], width))
	}
	if n := len(c.plan.Tasks) - to; n > 0 {
		out = append(out, "   "+c.styles.Dim.Render("… "+format.Count(n, "more task")))
	}
	return out
}

// row returns a task as one line.
func (c *Checklist) row(t *turns.Task, width int) string {
	left, message, right, style := taskStatus(c.styles, t, c.turnEnded)
	mark, title, _ := strings.Cut(left, " ")
	left = "   " + style.Render(mark) + " " + title + MessageStyle(c.styles, t.Status).Render(message)
	if right == "" {
		return ui.Fit(left, width)
	}
	return ui.Spread(left, style.Render(right), width)
}

// taskStatus describes a task: its mark and title, its latest message, its state and duration, and the
// style of the mark and the state.
func taskStatus(s *ui.Styles, t *turns.Task, turnEnded bool) (left, message, right string, style ui.Style) {
	mark, style := "·", s.Dim
	switch t.Status {
	case protocol.StatusRunning:
		mark, style, right = "▸", s.Accent, "running"
		if turnEnded {
			mark, style, right = "⊘", s.Warning, "cut off"
		} else if t.Waiting() {
			mark, style, right = "◌", s.Warning, "waiting for you"
		} else if work, _ := t.WorkedUntil(s.Now()); work >= time.Second {
			right += " " + format.Duration(work.Truncate(time.Second))
		}
	case protocol.StatusCompleted:
		mark, style = "✓", s.Success
	case protocol.StatusFailed:
		mark, style, right = "✗", s.Error, "failed"
	case protocol.StatusCancelled:
		mark, right = "⊘", "cancelled"
	}
	if elapsed := t.Worked(); elapsed > 0 {
		right = strings.TrimSpace(right + " " + format.Duration(elapsed))
	}
	if t.Attempt > 1 {
		right = fmt.Sprintf("attempt %d · %s", t.Attempt, right)
	}
	if t.Message != "" {
		message = ": " + transcript.CleanLine(t.Message)
	}
	return mark + " " + transcript.CleanLine(t.Title), message, right, style
}

// MessageStyle returns the style of the latest message of a task in a status: of a failed one it is the cause.
func MessageStyle(s *ui.Styles, status string) *ui.Style {
	if status == protocol.StatusFailed {
		return &s.Error
	}
	return &s.Dim
}

// details returns the lines of a task's description and result.
func (c *Checklist) details(t *turns.Task, width int) []string {
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
	add(t.Result)
	return out
}

// text returns the plan as Markdown, to copy or to search.
func (c *Checklist) text() string {
	var out strings.Builder
	out.WriteString(c.plan.Title + "\n")
	for i := range c.plan.Tasks {
		t := &c.plan.Tasks[i]
		box := " "
		if t.Status == protocol.StatusCompleted {
			box = "x"
		}
		fmt.Fprintf(&out, "- [%s] %s\n", box, t.Title)
		if t.Result != "" {
			out.WriteString("  " + t.Result + "\n")
		}
	}
	return out.String() + c.note()
}

// Task describes t by its state in a plan, or by t alone if the plan is nil or does not have t. It
// returns the mark and title, the latest message, the state and duration, and the style of the mark
// and the state.
func Task(s *ui.Styles, p *turns.Plan, t *protocol.Task) (left, details, right string, style ui.Style) {
	task := &turns.Task{Task: *t}
	if p != nil {
		task = cmp.Or(p.Task(t.ID), task)
	}
	return taskStatus(s, task, false)
}
