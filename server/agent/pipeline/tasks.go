package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// maxPlan bounds the tasks of a plan as JSON, in bytes: one event and one request hold them all.
const maxPlan = 160 << 10

// checkTasks returns the problems of tasks: missing or repeated ids, unknown dependencies, cycles.
func checkTasks(tasks []protocol.Task, most int) (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if len(tasks) == 0 {
		add("there are no tasks")
	}
	if len(tasks) > most {
		add("there are %d tasks: at most %d are possible", len(tasks), most)
		return problems
	}
	ids := map[string]bool{}
	for i, t := range tasks {
		switch {
		case t.ID == "":
			add("task %d has no id", i+1)
		case len(t.ID) > 64:
			add("task %d: the id is longer than 64 bytes", i+1)
		case ids[t.ID]:
			add("the id %q is used twice", t.ID)
		}
		ids[t.ID] = true
		if t.Title == "" {
			add("task %q has no title and no prompt", t.ID)
		}
	}
	for _, t := range tasks {
		for _, id := range t.After {
			if !ids[id] {
				add("task %q depends on %q, which does not exist", t.ID, shorten(id, 64))
			}
		}
	}
	if n := len(protocol.MustEncode(tasks)); n > maxPlan {
		add("the tasks are too long together: %d bytes, at most %d", n, maxPlan)
	}
	if problems == nil {
		if cycle := findCycle(tasks); cycle != nil {
			add("the tasks depend on each other in a cycle: %s", strings.Join(cycle, ", "))
		}
	}
	return problems
}

// findCycle returns the ids of tasks that can never start: those in cycles, and their dependents.
func findCycle(tasks []protocol.Task) []string {
	left := slices.Clone(tasks)
	done := map[string]bool{}
	for len(left) > 0 {
		n := len(left)
		left = slices.DeleteFunc(left, func(t protocol.Task) bool {
			ready := !slices.ContainsFunc(t.After, func(id string) bool { return !done[id] })
			if ready {
				done[t.ID] = true
			}
			return ready
		})
		if len(left) == n {
			var ids []string
			for _, t := range left {
				ids = append(ids, t.ID)
			}
			return ids
		}
	}
	return nil
}

// resetTasks returns a copy of tasks from a user, all pending, with ids and titles.
func resetTasks(given []protocol.Task) []protocol.Task {
	tasks := slices.Clone(given)
	used := map[string]bool{}
	for _, t := range tasks {
		used[t.ID] = true
	}
	for i := range tasks {
		t := &tasks[i]
		t.Status = protocol.StatusPending
		for n := i + 1; t.ID == ""; n++ {
			if id := strconv.Itoa(n); !used[id] {
				t.ID = id
				used[id] = true
			}
		}
		t.Title = shorten(firstLine(cmp.Or(t.Title, t.Description)), maxTitle)
	}
	return tasks
}

// edit replaces the tasks with edited ones and returns their problems. Dependencies on removed
// tasks are dropped. If no edited task has dependencies, the client may not know of them: tasks
// keep theirs.
func (p *plan) edit(edited []protocol.Task) (problems []string) {
	tasks := resetTasks(edited)
	index := func(tasks []protocol.Task, id string) int {
		return slices.IndexFunc(tasks, func(t protocol.Task) bool { return t.ID == id })
	}
	keeps := !slices.ContainsFunc(tasks, func(t protocol.Task) bool { return len(t.After) > 0 })
	for i := range tasks {
		t := &tasks[i]
		if known := index(p.tasks, t.ID); keeps && known >= 0 {
			t.After = p.tasks[known].After
		}
		t.After = slices.DeleteFunc(slices.Clone(t.After), func(id string) bool {
			return index(p.tasks, id) >= 0 && index(tasks, id) < 0
		})
	}
	if problems = checkTasks(tasks, maxTasks); problems == nil {
		p.tasks = tasks
	}
	return problems
}
