package session

import (
	"slices"

	"agentctl/protocol"
)

// continuePlan restarts a task of a plan whose turn is over: a message runs the plan again, without
// its completed tasks.
func (s *Session) continuePlan(cmd *command, task string) (any, error) {
	p := s.state.Plan
	if p == nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, "the session has no plan")
	}
	i := slices.IndexFunc(p.Tasks, func(t protocol.Task) bool { return t.ID == task })
	if i < 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, "the plan has no task %.80q", task)
	}
	run := protocol.PlanRunData{Question: p.Question, Summary: p.Summary, Tasks: slices.Clone(p.Tasks)}
	for j := range run.Tasks {
		if j == i || run.Tasks[j].Status != protocol.StatusCompleted {
			run.Tasks[j].Status = protocol.StatusPending
		}
	}
	_, err := s.acceptMessage(cmd, protocol.Message{
		Text:  "Restart the task " + p.Tasks[i].Title,
		Parts: []protocol.Part{{Type: partPlan, Data: protocol.MustEncode(run)}},
	}, true)
	return protocol.Empty{}, err
}
