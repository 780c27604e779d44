package acp

import (
	"cmp"
	"fmt"
	"strings"

	"agentctl/protocol"
)

// A planEntry is a task of a plan.
type planEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// A namedPlan is one of several plans of a session: tasks, a text, or a file that holds it.
type namedPlan struct {
	Type    string      `json:"type"`
	ID      string      `json:"planId"`
	Entries []planEntry `json:"entries"`
	Content string      `json:"content"`
	URI     string      `json:"uri"`
}

// updateNamedPlan shows a plan in place of the one shown before: sessions have one. It reports
// false for a plan of a type that is not known.
func (t *turn) updateNamedPlan(p *namedPlan) bool {
	switch p.Type {
	case "items":
	case "markdown":
		for line := range strings.Lines(p.Content) {
			if text := strings.TrimSpace(line); text != "" {
				p.Entries = append(p.Entries, planEntry{Content: text})
			}
		}
	case "file":
		p.Entries = []planEntry{{Content: "plan in " + p.URI}}
	default:
		return false
	}
	t.plan = p.ID
	return t.updatePlan(p.Entries) == nil
}

// removePlan removes the plan shown. Another plan is not shown anyway.
func (t *turn) removePlan(id string) bool {
	if id != t.plan {
		return true
	}
	t.plan = ""
	return t.updatePlan(nil) == nil
}

// planStatuses are the statuses of tasks that the agent has begun.
var planStatuses = map[string]string{"in_progress": protocol.StatusRunning, "completed": protocol.StatusCompleted}

// updatePlan replaces the plan. The agent always sends all of it.
func (t *turn) updatePlan(entries []planEntry) error {
	if t.part.message == "" {
		if err := t.endPart(); err != nil {
			return err
		}
	}
	tasks := make([]protocol.Task, 0, len(entries))
	done := len(entries) > 0
	for i, e := range entries {
		status := cmp.Or(planStatuses[e.Status], protocol.StatusPending)
		done = done && status == protocol.StatusCompleted
		tasks = append(tasks, protocol.Task{ID: fmt.Sprint(i + 1), Title: e.Content, Status: status})
	}
	kind := protocol.PlanUpdated
	if done {
		kind = protocol.PlanCompleted
	}
	return t.emit(kind, protocol.PlanTasksData{Tasks: tasks})
}
