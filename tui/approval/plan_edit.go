package approval

import (
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

// planEdit holds the user's changes to a plan.
type planEdit struct {
	tasks   []protocol.Task
	dropped map[string]bool // IDs of removed tasks
}

// toggle removes task i, or restores it.
func (p *planEdit) toggle(i int) {
	id := p.tasks[i].ID
	p.dropped[id] = !p.dropped[id]
}

// changed reports whether the user changed the plan.
func (p *planEdit) changed() bool {
	return slices.ContainsFunc(p.tasks, func(t protocol.Task) bool { return p.dropped[t.ID] })
}

// remaining returns the plan without the removed tasks. Dependencies on removed tasks are removed too.
func (p *planEdit) remaining() []protocol.Task {
	var out []protocol.Task
	for _, t := range p.tasks {
		if !p.dropped[t.ID] {
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
