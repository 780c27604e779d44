package session

import (
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// restore makes a new session from an exported state. The exported session is unchanged.
func (h *Hub) restore(cmd *command, d *protocol.RestoreData) error {
	x, err := h.verify(d.State)
	if err != nil {
		return err
	}
	untimed := func(m protocol.Message) bool { return m.NotBefore == nil }
	if slices.ContainsFunc(x.Schedule, untimed) {
		return protocol.Errorf(protocol.CodeInvalidState, "the state has a scheduled message without a time")
	}
	past, err := checkPast(x.History, slices.Concat(x.Queue, x.Schedule))
	if err != nil || x.LeftOut < 0 {
		return protocol.Errorf(protocol.CodeInvalidState, "the history of the state is invalid: %v", err)
	}
	spec := agent.Spec{Agent: x.Agent, CWD: x.CWD, State: x.Memory, Parent: cmd.agent}
	c := creation{cmd: cmd, name: d.Name}
	c.begin = func(s *Session) error {
		s.record(
			protocol.SessionCreated,
			&cmd.by,
			protocol.SessionCreatedData{
				Name: d.Name, Title: x.Title, Agent: x.Agent, CWD: x.CWD, Parent: cmd.agent,
			},
		)
		s.record(
			protocol.StateRestored,
			&cmd.by,
			protocol.StateRestoredData{Session: x.Session, Position: x.Position, Exported: x.At},
		)
		if x.LeftOut > 0 {
			s.record(protocol.Notice, nil, protocol.NoticeData{
				Level: protocol.LevelInfo, Message: x.leftOutNotice(),
			})
		}
		if err := s.recordPast(past); err != nil {
			return err
		}
		if x.Plan != nil {
			s.recordPlan(x.Plan)
		}
		if x.Context != nil {
			s.record(protocol.ContextUpdated, nil, *x.Context)
		}
		if x.Usage != nil {
			s.record(protocol.UsageUpdated, nil, *x.Usage)
		}
		for _, m := range x.Queue {
			s.record(protocol.QueueAdded, m.By, protocol.QueueAddedData{Message: m})
		}
		for _, m := range x.Schedule {
			s.record(protocol.QueueScheduled, m.By, protocol.QueueScheduledData{Message: m})
		}
		s.startNext()
		s.queueTimeouts(time.Now()) // those whose time has passed since the export
		return nil
	}
	return h.createSession(spec, c)
}

// leftOutNotice tells the turns that the state does not carry.
func (x *exportedState) leftOutNotice() string {
	if x.LeftOut == 1 {
		return "1 earlier turn is not in the exported state"
	}
	return fmt.Sprintf("%d earlier turns are not in the exported state", x.LeftOut)
}

// recordPlan records the events that lead to a plan.
func (s *Session) recordPlan(p *protocol.Plan) {
	s.record(protocol.PlanStarted, nil, protocol.PlanStartedData{Question: p.Question})
	tasks := protocol.PlanTasksData{Tasks: p.Tasks, Summary: p.Summary}
	if p.Status == protocol.StatusCompleted {
		s.record(protocol.PlanCompleted, nil, tasks)
		return
	}
	s.record(protocol.PlanUpdated, nil, tasks)
	ends := map[string]protocol.Type{
		protocol.StatusInvalid: protocol.PlanInvalid, protocol.StatusCancelled: protocol.PlanCancelled,
		protocol.StatusFailed: protocol.PlanFailed,
	}
	if end, ok := ends[p.Status]; ok {
		s.record(end, nil, protocol.PlanErrorData{})
	}
}
