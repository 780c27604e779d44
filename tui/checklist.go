package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

const (
	stepRows  = 12 // of a folded checklist
	stepLines = 10 // of what came of a task, in an unfolded one
)

// checklist is a turn's plan as one item that changes in place: its tasks, how
// they stand, how long they took and, unfolded, what came of them. While the panel
// of the plan lists the tasks a folded one does not.
type checklist struct {
	look    *look
	about   string // the question, or the summary
	steps   []step
	word    string // how it stands, once the tasks do not say it
	failed  bool
	over    bool // its turn ended
	listed  bool // the panel shows the tasks now: nobody reads them twice
	started time.Time
	ended   time.Time
}

// step is a task as the events tell it.
type step struct {
	protocol.Task
	started, ended time.Time
	took           time.Duration // as the agent measured it
	attempt        int
	said           string // last: progress, a reason, an error
	result         string
}

// planning tells the events that a checklist shows.
func planning(t protocol.Type) bool {
	kind, _, _ := strings.Cut(string(t), ".")
	return kind == "plan" || kind == "task" || kind == "aggregate" || t == protocol.PipelineCompleted
}

// take brings it up to an event of the plan.
func (c *checklist) take(it *protocol.Item) {
	if c.started.IsZero() {
		c.started = it.Started
	}
	switch it.Type {
	case protocol.PlanStarted:
		*c = checklist{look: c.look, about: decode[protocol.PlanStartedData](it.Data).Question, started: it.Started}
	case protocol.PlanUpdated, protocol.PlanCompleted:
		d := decode[protocol.PlanTasksData](it.Data)
		c.tasks(d.Tasks, it.Started)
		if d.Summary != "" {
			c.about = d.Summary
		}
	case protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed:
		d := decode[protocol.PlanErrorData](it.Data)
		c.word, c.failed, c.ended = last(it.Type)+because(d.Message), true, it.Started
		for _, detail := range d.Details {
			c.word += "\n" + detail
		}
	case protocol.AggregateStarted:
		c.word = "putting the results together"
	case protocol.AggregateCompleted, protocol.PipelineCompleted:
		c.word, c.ended = "", it.Started
	default:
		c.task(it)
	}
}

// tasks is all tasks as they are now.
func (c *checklist) tasks(now []protocol.Task, at time.Time) {
	steps := make([]step, len(now))
	for i, t := range now {
		steps[i] = step{Task: t}
		if k := c.find(t.ID); k >= 0 {
			status := c.steps[k].Status
			steps[i] = c.steps[k]
			if steps[i].Task = t; t.Status == "" {
				steps[i].Status = status
			}
			if steps[i].Status == status {
				continue
			}
		}
		steps[i].moved(at)
	}
	c.steps = steps
}

// task is an event of one task.
func (c *checklist) task(it *protocol.Item) {
	d := decode[protocol.TaskData](it.Data)
	i := c.find(d.Task)
	if i < 0 {
		c.steps = append(c.steps, step{Task: protocol.Task{ID: d.Task, Title: d.Task}})
		i = len(c.steps) - 1
	}
	s := &c.steps[i]
	if d.Title != "" {
		s.Title = d.Title
	}
	s.attempt = max(s.attempt, d.Attempt)
	s.said = d.Message
	if d.Result != "" {
		s.result = d.Result
	}
	s.took = ms(d.DurationMS)
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
		s.moved(it.Started)
	}
}

// moved notes when a task came to how it stands now.
func (s *step) moved(at time.Time) {
	switch s.Status {
	case protocol.StatusRunning:
		s.started, s.ended = at, time.Time{}
	case protocol.StatusCompleted, protocol.StatusFailed, protocol.StatusCancelled:
		s.ended = at
	}
}

func (c *checklist) find(task string) int {
	return slices.IndexFunc(c.steps, func(s step) bool { return s.ID == task })
}

// runs tells that a task is under way, so that there is a clock to move.
func (c *checklist) runs() bool {
	return !c.over && slices.ContainsFunc(c.steps, func(s step) bool { return s.Status == protocol.StatusRunning })
}

// short tells that the tasks show elsewhere.
func (c *checklist) short() bool { return c.listed && !c.over }

func (c *checklist) Estimate(_ int, folded bool) int {
	if folded && c.short() {
		return 2
	}
	if folded {
		return 3 + min(len(c.steps), stepRows)
	}
	return 3 + 3*len(c.steps)
}

func (c *checklist) Block(width int, folded bool) transcript.Block {
	done := 0
	for i := range c.steps {
		if c.steps[i].Status == protocol.StatusCompleted {
			done++
		}
	}
	title := " " + c.look.dim.Render("•") + " " + c.look.bold.Render("plan")
	if c.about != "" {
		title += " " + oneLine(transcript.Clean(c.about))
	}
	right := ""
	if len(c.steps) > 0 {
		right = fmt.Sprintf("%d of %d done", done, len(c.steps))
	}
	if !c.ended.IsZero() {
		right += " · " + took(c.ended.Sub(c.started))
	}
	b := transcript.Block{Header: []string{"", spread(title, c.look.dim.Render(right), width)}}
	switch {
	case folded && c.short():
	case folded:
		b.Body = c.folded(width)
	default:
		for i := range c.steps {
			b.Body = append(b.Body, c.row(&c.steps[i], width))
			b.Body = append(b.Body, c.came(&c.steps[i], width)...)
		}
	}
	if c.word != "" {
		style := &c.look.dim
		if c.failed {
			style = &c.look.bad
		}
		for _, line := range wrap(c.word, width-indent) {
			b.Footer = append(b.Footer, "   "+style.Render(line))
		}
	}
	return b
}

// folded is a row for each task; of many, those around the first that is not done.
func (c *checklist) folded(width int) []string {
	at := max(0, slices.IndexFunc(c.steps, func(s step) bool { return s.Status != protocol.StatusCompleted }))
	from, to := 0, len(c.steps)
	if to > stepRows {
		from = max(0, min(at-stepRows/3, to-stepRows))
		to = from + stepRows
	}
	var out []string
	if from > 0 {
		out = append(out, "   "+c.look.dim.Render("… "+count(from, "task")+" before"))
	}
	for i := from; i < to; i++ {
		out = append(out, c.row(&c.steps[i], width))
	}
	if n := len(c.steps) - to; n > 0 {
		out = append(out, "   "+c.look.dim.Render("… "+count(n, "more task")))
	}
	return out
}

// row is a task on a line.
func (c *checklist) row(s *step, width int) string {
	left, said, right, style := c.stands(s)
	mark, title, _ := strings.Cut(left, " ")
	left = "   " + style.Render(mark) + " " + title + c.look.dim.Render(said)
	if right == "" {
		return fit(left, width)
	}
	return spread(left, style.Render(right), width)
}

// stands is how a task stands, in words: a mark and what it is, what was said last,
// and for how long.
func (c *checklist) stands(s *step) (left, said, right string, style lipgloss.Style) {
	mark, style := "·", c.look.dim
	switch s.Status {
	case protocol.StatusRunning:
		mark, style, right = "▸", c.look.warn, "running"
		if c.over {
			mark, right = "⊘", "cut off"
		} else if ran := c.look.since(s.started); ran >= time.Second {
			right += " " + took(ran)
		}
	case protocol.StatusCompleted:
		mark, style = "✓", c.look.good
	case protocol.StatusFailed:
		mark, style, right = "✗", c.look.bad, "failed"
	case protocol.StatusCancelled:
		mark, right = "⊘", "cancelled"
	}
	if ran := s.ran(); ran > 0 {
		right = strings.TrimSpace(right + " " + took(ran))
	}
	if s.attempt > 1 {
		right = fmt.Sprintf("attempt %d · %s", s.attempt, right)
	}
	if s.said != "" {
		said = ": " + oneLine(transcript.Clean(s.said))
	}
	return mark + " " + oneLine(transcript.Clean(s.Title)), said, right, style
}

// ran is how long a task took that is over.
func (s *step) ran() time.Duration {
	switch {
	case s.took > 0:
		return s.took
	case s.started.IsZero() || s.ended.IsZero():
		return 0
	}
	return max(0, s.ended.Sub(s.started))
}

// came is what a task is about and what came of it.
func (c *checklist) came(s *step, width int) []string {
	var out []string
	add := func(text string) {
		if text == "" {
			return
		}
		lines := wrap(text, width-indent-2)
		if n := len(lines); n > stepLines {
			lines = append(lines[:stepLines-1:stepLines-1], "… "+count(n-stepLines+1, "more line"))
		}
		for _, line := range lines {
			out = append(out, "     "+c.look.dim.Render(line))
		}
	}
	add(s.Description)
	add(s.result)
	return out
}

// words is the plan as text, to be copied.
func (c *checklist) words() string {
	var out strings.Builder
	out.WriteString(c.about + "\n")
	for i := range c.steps {
		s := &c.steps[i]
		box := " "
		if s.Status == protocol.StatusCompleted {
			box = "x"
		}
		fmt.Fprintf(&out, "- [%s] %s\n", box, s.Title)
		if s.result != "" {
			out.WriteString("  " + s.result + "\n")
		}
	}
	return out.String() + c.word
}
