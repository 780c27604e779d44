package archive

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

const stateVersion = "1"

// MaxState bounds an exported state with history, in bytes before its base64: it fits the message of
// restore, of every dialect too.
const MaxState = 512 << 10

// A State is the content of a signed state. It carries neither environment, which may be secret,
// nor rules, which were granted only to the exported session.
type State struct {
	Session  string                `json:"session"`
	Position protocol.Position     `json:"position"`
	At       time.Time             `json:"at"`
	Agent    string                `json:"agent"`
	CWD      string                `json:"cwd,omitempty"`
	Title    string                `json:"title,omitempty"`
	Sandbox  protocol.Sandbox      `json:"sandbox,omitzero"`
	Memory   []byte                `json:"memory,omitempty"` // the agent's own state
	Queue    []protocol.Message    `json:"queue,omitempty"`
	Schedule []protocol.Message    `json:"schedule,omitempty"` // messages for later
	Plan     *protocol.Plan        `json:"plan,omitempty"`
	Context  *protocol.ContextInfo `json:"context,omitempty"`
	Usage    *protocol.Usage       `json:"usage,omitempty"`
	History  []Event               `json:"history,omitempty"`  // of the newest finished turns
	LeftOut  int                   `json:"left_out,omitempty"` // finished turns before them

	SubAgents []SubAgent `json:"sub_agents,omitempty"` // that History names, each after its parent
}

// NewState returns the state of a session in an epoch, without history and the time of its export.
// It keeps parts of st.
func NewState(spec *agent.Spec, st *protocol.State, epoch string) *State {
	return &State{
		Session: spec.Session, Agent: spec.Agent, CWD: spec.CWD, Title: st.Title, Memory: spec.State,
		Sandbox:  spec.Sandbox,
		Position: protocol.Position{Epoch: epoch, Seq: st.Seq},
		Queue:    st.Queue, Schedule: st.Scheduled, Plan: st.Plan, Context: st.Context, Usage: st.Usage,
	}
}

// AddHistory adds the newest of turns to a state, as many as fit. total is the number of finished
// turns of the session.
func (x *State) AddHistory(turns []Turn, total int) error {
	raw, err := record.Encode(x)
	if err != nil {
		return err
	}
	size, n := len(raw)+len(`,"history":[],"left_out":1000000000`), 0
	for n < len(turns) && size+turns[n].bytes <= MaxState {
		size += turns[n].bytes
		n++
	}
	for _, t := range slices.Backward(turns[:n]) {
		x.History = append(x.History, t.events...)
	}
	x.LeftOut = max(0, total-n)
	return nil
}

// AddSubAgents adds those of the session's sub-agents, each after its parent, that fit. The history was
// added before.
func (x *State) AddSubAgents(ctx context.Context, store Store, log *slog.Logger, of []SubAgent) error {
	raw, err := record.Encode(x)
	if err == nil {
		room := MaxState - len(raw) - len(`,"sub_agents":[]`)
		x.SubAgents, err = readSubAgents(ctx, store, log, of, x.History, time.Time{}, room)
	}
	return err
}

// Past returns the past of a session that by restores from the state. The error has the code
// invalid_state.
func (x *State) Past(by *protocol.Actor, made NewSessions) (*Past, error) {
	untimed := func(m protocol.Message) bool { return m.NotBefore == nil }
	if slices.ContainsFunc(x.Schedule, untimed) {
		return nil, protocol.Errorf(protocol.CodeInvalidState, "the state has a scheduled message without a time")
	}
	past, err := newPast(x.Session, x.History, slices.Concat(x.Queue, x.Schedule), x.SubAgents, made)
	if err != nil || x.LeftOut < 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidState, "the history of the state is invalid: %v", err)
	}
	from := protocol.StateRestoredData{Session: x.Session, Position: x.Position, Exported: x.At}
	past.Origin, past.Rest = restored(by, from, x.LeftOut), append(past.Rest, x.rest()...)
	return past, nil
}

// rest returns the events with the state that the restored session continues with.
func (x *State) rest() []record.Event {
	var events []record.Event
	if x.Plan != nil {
		events = planEvents(x.Plan)
	}
	if x.Context != nil {
		events = append(events, record.Event{Type: protocol.ContextUpdated, Data: *x.Context})
	}
	if x.Usage != nil {
		events = append(events, record.Event{Type: protocol.UsageUpdated, Data: *x.Usage})
	}
	for _, m := range x.Queue {
		m.Delivery = "" // the turn that it was to join is not carried
		events = append(events, record.Event{
			Type: protocol.QueueAdded, By: m.By, Data: protocol.QueueAddedData{Message: m},
		})
	}
	for _, m := range x.Schedule {
		events = append(events, record.Event{
			Type: protocol.QueueScheduled, By: m.By, Data: protocol.QueueScheduledData{Message: m},
		})
	}
	return events
}

// planEvents returns the events that lead to a plan.
func planEvents(p *protocol.Plan) []record.Event {
	events := []record.Event{{Type: protocol.PlanStarted, Data: protocol.PlanStartedData{Question: p.Question}}}
	tasks := protocol.PlanTasksData{Tasks: p.Tasks, Summary: p.Summary}
	if p.Status == protocol.StatusCompleted {
		return append(events, record.Event{Type: protocol.PlanCompleted, Data: tasks})
	}
	events = append(events, record.Event{Type: protocol.PlanUpdated, Data: tasks})
	ends := map[string]protocol.Type{
		protocol.StatusInvalid: protocol.PlanInvalid, protocol.StatusCancelled: protocol.PlanCancelled,
		protocol.StatusFailed: protocol.PlanFailed,
	}
	if end, ok := ends[p.Status]; ok {
		events = append(events, record.Event{Type: end, Data: protocol.PlanErrorData{}})
	}
	return events
}
