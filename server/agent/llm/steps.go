package llm

import (
	"slices"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// emitSteps shows the steps of the model's work as the plan of the session.
func (t *turnRun) emitSteps(steps []protocol.Task) error {
	if steps == nil {
		return nil
	}
	typ := protocol.PlanCompleted
	if slices.ContainsFunc(steps, func(s protocol.Task) bool { return s.Status != protocol.StatusCompleted }) {
		typ = protocol.PlanUpdated
	}
	e := agent.Event{Type: typ, Data: protocol.PlanTasksData{Tasks: steps}}
	return t.agent.record(t.out, e, func(s *state) { s.Steps = steps })
}
