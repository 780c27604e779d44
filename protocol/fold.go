package protocol

import (
	"fmt"
	"slices"
)

// Apply folds one durable event into the state. The event must continue the log: its first seq is s.Seq+1. Ephemeral events
// and types it does not know change nothing but the seq. After an error the state is as before.
func (s *State) Apply(e *Event) error {
	if !e.Durable() {
		return nil
	}
	if e.First() != s.Seq+1 || e.Seq < e.First() {
		return fmt.Errorf("event %d..%d of %s does not follow %d", e.First(), e.Seq, e.Session, s.Seq)
	}
	if fold := folds[e.Type]; fold != nil {
		if err := fold(s, e); err != nil {
			return err
		}
	}
	s.Seq = e.Seq
	return nil
}

// folds holds how each type changes the state; what is missing changes nothing.
var folds = map[Type]func(*State, *Event) error{
	SessionCreated: with(func(s *State, e *Event, d *SessionCreatedData) {
		s.Session, s.Name, s.Title, s.Agent, s.CWD, s.Created = e.Session, d.Name, d.Title, d.Agent, d.CWD, e.Time
	}),
	SessionUpdated: with((*State).updated),
	SessionClosed:  with(func(s *State, _ *Event, _ *SessionClosedData) { s.Closed = true }),

	MessageUser: with(func(s *State, e *Event, d *MessageUserData) {
		s.Turn = &TurnState{Turn: e.Turn, Message: d.Message, Started: e.Time, First: e.Seq}
		if s.Turn.Message.By == nil {
			s.Turn.Message.By = e.By
		}
	}),
	TurnEnded: with((*State).turnEnded),

	TextStart:      with(startPart(KindText)),
	TextEnd:        with(endPart(KindText)),
	ReasoningStart: with(startPart(KindReasoning)),
	ReasoningEnd:   with(endPart(KindReasoning)),
	ToolStarted:    with((*State).toolStarted),
	ToolEnded: with(func(s *State, _ *Event, d *ToolEndedData) {
		if s.Turn != nil {
			s.Turn.Tools = slices.DeleteFunc(s.Turn.Tools, func(t OpenTool) bool { return t.Tool == d.Tool })
		}
	}),

	ApprovalRequested: with(func(s *State, e *Event, d *Approval) {
		d.Turn, d.Task = e.Turn, e.Task
		s.Approvals = append(s.Approvals, *d)
	}),
	ApprovalExplained: with(func(s *State, _ *Event, d *ApprovalExplainedData) {
		if a := s.PendingApproval(d.Request); a != nil {
			a.Explained = append(a.Explained, d.Text)
		}
	}),
	ApprovalResolved: with(func(s *State, _ *Event, d *ApprovalResolvedData) {
		s.Approvals = slices.DeleteFunc(s.Approvals, func(a Approval) bool { return a.Request == d.Request })
		if d.Rule != nil {
			s.Rules = append(s.Rules, *d.Rule)
		}
	}),

	QueueAdded:   with((*State).queueAdded),
	QueueUpdated: with((*State).queueUpdated),
	QueueRemoved: with((*State).queueRemoved),
	QueueMoved:   with((*State).queueMoved),
	QueueHeld:    with(func(s *State, _ *Event, d *Hold) { s.Holds = append(s.Holds, *d) }),
	QueueReleased: with(func(s *State, _ *Event, d *QueueReleasedData) {
		s.Holds = slices.DeleteFunc(s.Holds, func(h Hold) bool { return slices.Contains(d.Holds, h.ID) })
	}),

	PlanStarted: with(func(s *State, _ *Event, d *PlanStartedData) {
		s.Plan = &Plan{Status: StatusRunning, Question: d.Question}
	}),
	PlanUpdated:   with(func(s *State, _ *Event, d *PlanTasksData) { s.planTasks(d, StatusRunning) }),
	PlanCompleted: with(func(s *State, _ *Event, d *PlanTasksData) { s.planTasks(d, StatusCompleted) }),
	PlanInvalid:   planEnds(StatusInvalid),
	PlanCancelled: planEnds(StatusCancelled),
	PlanFailed:    planEnds(StatusFailed),
	TaskStarted:   taskIs(StatusRunning),
	TaskCompleted: taskIs(StatusCompleted),
	TaskFailed:    taskIs(StatusFailed),
	TaskCancelled: taskIs(StatusCancelled),
	TaskRestarted: taskIs(StatusPending),

	ContextUpdated:   with(func(s *State, _ *Event, d *ContextInfo) { s.Context = d }),
	ContextCompacted: with((*State).compacted),
	UsageUpdated:     with(func(s *State, _ *Event, d *Usage) { s.Usage = d }),
	AgentOptions:     with(func(s *State, _ *Event, d *Options) { s.Options = d }),
}

// with decodes an event's data before it is folded.
func with[T any](fold func(*State, *Event, *T)) func(*State, *Event) error {
	return func(s *State, e *Event) error {
		d := new(T)
		if err := e.Decode(d); err != nil {
			return err
		}
		fold(s, e, d)
		return nil
	}
}

func (s *State) updated(_ *Event, d *SessionUpdatedData) {
	set := func(field, v *string) {
		if v != nil {
			*field = *v
		}
	}
	set(&s.Name, d.Name)
	set(&s.Title, d.Title)
	set(&s.Agent, d.Agent)
	if d.Revoked != "" {
		s.Rules = slices.DeleteFunc(s.Rules, func(r Rule) bool { return r.ID == d.Revoked })
	}
}

// compacted corrects what is known of the context until the agent tells it anew.
func (s *State) compacted(_ *Event, d *ContextCompactedData) {
	if s.Context == nil {
		return
	}
	c := *s.Context
	c.Tokens = d.After
	if c.MaxTokens > 0 {
		c.Percent = 100 * float64(c.Tokens) / float64(c.MaxTokens)
	}
	s.Context = &c
}

func (s *State) turnEnded(e *Event, d *TurnEndedData) {
	at := e.Time
	s.Last = &LastTurn{Turn: e.Turn, Reason: d.Reason, Code: d.Code, Message: d.Message, Ended: at}
	s.Turns++
	s.Turn = nil
	s.History = Cursor{LastMessageID: e.Turn, LastMessageAt: &at}
}

func startPart(kind Kind) func(*State, *Event, *PartStartData) {
	return func(s *State, e *Event, d *PartStartData) {
		if s.Turn == nil || slices.ContainsFunc(s.Turn.Parts, func(p OpenPart) bool { return p.Part == d.Part && p.Kind == kind }) {
			return // open already
		}
		s.Turn.Parts = append(s.Turn.Parts, OpenPart{Part: d.Part, Kind: kind, Task: e.Task})
	}
}

func endPart(kind Kind) func(*State, *Event, *PartEndData) {
	return func(s *State, _ *Event, d *PartEndData) {
		if s.Turn != nil {
			s.Turn.Parts = slices.DeleteFunc(s.Turn.Parts, func(p OpenPart) bool { return p.Part == d.Part && p.Kind == kind })
		}
	}
}

func (s *State) toolStarted(e *Event, d *ToolStartedData) {
	if s.Turn == nil {
		return
	}
	i := slices.IndexFunc(s.Turn.Tools, func(t OpenTool) bool { return t.Tool == d.Tool })
	if i < 0 {
		s.Turn.Tools = append(s.Turn.Tools, OpenTool{Tool: d.Tool, Task: e.Task, Parent: e.Parent, Started: e.Time})
		i = len(s.Turn.Tools) - 1
	}
	t := &s.Turn.Tools[i]
	for _, f := range []struct {
		field *string
		v     string
	}{{&t.Name, d.Name}, {&t.Kind, d.Kind}, {&t.Title, d.Title}} {
		if f.v != "" {
			*f.field = f.v
		}
	}
}

func (s *State) queueAdded(_ *Event, d *QueueAddedData) {
	i := len(s.Queue)
	if d.Index != nil {
		i = max(0, min(*d.Index, i))
	}
	s.Queue = slices.Insert(s.Queue, i, d.Message)
}

func (s *State) queueUpdated(_ *Event, d *QueueUpdatedData) {
	if i := s.QueueIndex(d.MessageID); i >= 0 {
		s.Queue[i].Text, s.Queue[i].Parts = d.Text, d.Parts
	}
}

func (s *State) queueRemoved(_ *Event, d *QueueRemovedData) {
	if i := s.QueueIndex(d.MessageID); i >= 0 {
		s.Queue = slices.Delete(s.Queue, i, i+1)
	}
	// Nobody can finish editing what is gone.
	s.Holds = slices.DeleteFunc(s.Holds, func(h Hold) bool { return h.Reason == HoldEdit && h.MessageID == d.MessageID })
}

func (s *State) queueMoved(_ *Event, d *QueueMovedData) {
	i := s.QueueIndex(d.MessageID)
	if i < 0 {
		return
	}
	m := s.Queue[i]
	s.Queue = slices.Delete(s.Queue, i, i+1)
	s.Queue = slices.Insert(s.Queue, max(0, min(d.Index, len(s.Queue))), m)
}

func (s *State) planTasks(d *PlanTasksData, status string) {
	if s.Plan == nil {
		s.Plan = &Plan{}
	}
	s.Plan.Status, s.Plan.Tasks = status, d.Tasks
	if d.Summary != "" {
		s.Plan.Summary = d.Summary
	}
}

func planEnds(status string) func(*State, *Event) error {
	return func(s *State, _ *Event) error {
		if s.Plan != nil {
			s.Plan.Status = status
		}
		return nil
	}
}

func taskIs(status string) func(*State, *Event) error {
	return with(func(s *State, _ *Event, d *TaskData) {
		if s.Plan == nil {
			return
		}
		for i := range s.Plan.Tasks {
			if s.Plan.Tasks[i].ID == d.Task {
				s.Plan.Tasks[i].Status = status
			}
		}
	})
}
