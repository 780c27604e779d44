package approval

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

// planEdit holds the user's changes to a plan.
type planEdit struct {
	tasks   []protocol.Task
	dropped map[string]bool   // IDs of removed tasks
	titles  map[string]string // new titles by task ID
}

// title returns the current title of task i.
func (p *planEdit) title(i int) string {
	return cmp.Or(p.titles[p.tasks[i].ID], p.tasks[i].Title)
}

// setTitle sets the title of task i. An empty text, or the title of the plan, removes the change.
func (p *planEdit) setTitle(i int, text string) {
	if t := &p.tasks[i]; text != "" && text != t.Title {
		p.titles[t.ID] = text
	} else {
		delete(p.titles, t.ID)
	}
}

// toggle removes task i, or restores it.
func (p *planEdit) toggle(i int) {
	id := p.tasks[i].ID
	p.dropped[id] = !p.dropped[id]
}

// changed reports whether the user changed the plan.
func (p *planEdit) changed() bool {
	return len(p.titles) > 0 || slices.ContainsFunc(p.tasks, func(t protocol.Task) bool { return p.dropped[t.ID] })
}

// remaining returns the plan without the removed tasks, with new titles. Dependencies on removed
// tasks are removed too.
func (p *planEdit) remaining() []protocol.Task {
	var out []protocol.Task
	for _, t := range p.tasks {
		if !p.dropped[t.ID] {
			t.Title = cmp.Or(p.titles[t.ID], t.Title)
			t.After = slices.DeleteFunc(slices.Clone(t.After), func(id string) bool { return p.dropped[id] })
			out = append(out, t)
		}
	}
	return out
}

// TaskLabel names a task of a plan by its number, with those of the tasks that it comes after,
// without removed ones: "task 3 after 1, 2".
func TaskLabel(tasks []protocol.Task, i int, dropped map[string]bool) string {
	var after []string
	for j := range tasks {
		if id := tasks[j].ID; slices.Contains(tasks[i].After, id) && !dropped[id] {
			after = append(after, strconv.Itoa(j+1))
		}
	}
	return "task " + strconv.Itoa(i+1) + ui.Prefixed(" after ", strings.Join(after, ", "))
}

// KeepTasks returns the tasks at the given indexes as a plan, without their dependencies on other
// tasks.
func KeepTasks(tasks []protocol.Task, keep []int) []protocol.Task {
	p := planEdit{tasks: tasks, dropped: map[string]bool{}}
	for i := range tasks {
		p.dropped[tasks[i].ID] = !slices.Contains(keep, i)
	}
	return p.remaining()
}
