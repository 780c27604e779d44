package protocol

import (
	"cmp"
	"fmt"
	"slices"
)

// Apply applies one durable event. Its first seq must be s.Seq+1. Ephemeral events change nothing;
// unknown types change the seq only. After an error the state is unchanged.
func (s *State) Apply(e *Event) error {
	if !e.Durable() {
		return nil
	}
	if e.First() != s.Seq+1 || e.Seq < e.First() {
		return fmt.Errorf("event %d..%d of %s does not follow %d", e.First(), e.Seq, e.Session, s.Seq)
	}
	if reduce := reducers[e.Type]; reduce != nil {
		if err := reduce(s, e); err != nil {
			return err
		}
	}
	s.Seq = e.Seq
	return nil
}

// reducers holds the change of the state by each event type. Types without an entry change nothing.
var reducers = map[Type]func(*State, *Event) error{
	SessionCreated: decoded(func(s *State, e *Event, d *SessionCreatedData) {
		s.Session, s.Name, s.Title, s.Agent, s.CWD, s.Created = e.Session, d.Name, d.Title, d.Agent, d.CWD, e.Time
		s.Parent, s.Labels = d.Parent, ChangeLabels(nil, d.Labels)
	}),
	SessionUpdated: decoded((*State).updateSession),
	SessionClosed:  decoded(func(s *State, _ *Event, _ *SessionClosedData) { s.Closed = true }),

	MessageUser: decoded(func(s *State, e *Event, d *MessageUserData) {
		s.Turn = &TurnState{Turn: e.Turn, Message: d.Message, Started: e.Time, First: e.Seq}
		if s.Turn.Message.By == nil {
			s.Turn.Message.By = e.By
		}
	}),
	TurnEnded: decoded((*State).endTurn),

	TextStart:      decoded(startPart(KindText)),
	TextEnd:        decoded(endPart(KindText)),
	ReasoningStart: decoded(startPart(KindReasoning)),
	ReasoningEnd:   decoded(endPart(KindReasoning)),
	ToolStarted:    decoded((*State).startTool),
	ToolEnded: decoded(func(s *State, _ *Event, d *ToolEndedData) {
		if s.Turn != nil {
			s.Turn.Tools = slices.DeleteFunc(s.Turn.Tools, func(t OpenTool) bool { return t.Tool == d.Tool })
		}
	}),

	ApprovalRequested: decoded(func(s *State, e *Event, d *Approval) {
		d.Turn, d.Task = e.Turn, e.Task
		s.Approvals = append(s.Approvals, *d)
	}),
	ApprovalExplained: decoded(func(s *State, _ *Event, d *ApprovalExplainedData) {
		if a := s.PendingApproval(d.Request); a != nil {
			a.Explained = append(a.Explained, d.Text)
		}
	}),
	ApprovalResolved: decoded(func(s *State, _ *Event, d *ApprovalResolvedData) {
		s.Approvals = slices.DeleteFunc(s.Approvals, func(a Approval) bool { return a.Request == d.Request })
		if d.Rule != nil {
			s.Rules = append(s.Rules, *d.Rule)
		}
	}),

	QueueAdded:     decoded((*State).addToQueue),
	QueueScheduled: decoded((*State).schedule),
	QueueUpdated:   decoded((*State).updateInQueue),
	QueueRemoved:   decoded((*State).removeFromQueue),
	QueueMoved:     decoded((*State).moveInQueue),
	QueueHeld:      decoded(func(s *State, _ *Event, d *Hold) { s.Holds = append(s.Holds, *d) }),
	QueueReleased: decoded(func(s *State, _ *Event, d *QueueReleasedData) {
		s.Holds = slices.DeleteFunc(s.Holds, func(h Hold) bool { return slices.Contains(d.Holds, h.ID) })
	}),

	PlanStarted: decoded(func(s *State, _ *Event, d *PlanStartedData) {
		s.Plan = &Plan{Status: StatusRunning, Question: d.Question}
	}),
	PlanUpdated:   decoded(func(s *State, _ *Event, d *PlanTasksData) { s.setPlanTasks(d, StatusRunning) }),
	PlanCompleted: decoded(func(s *State, _ *Event, d *PlanTasksData) { s.setPlanTasks(d, StatusCompleted) }),
	PlanInvalid:   setPlanStatus(StatusInvalid),
	PlanCancelled: setPlanStatus(StatusCancelled),
	PlanFailed:    setPlanStatus(StatusFailed),
	TaskStarted:   setTaskStatus(StatusRunning),
	TaskCompleted: setTaskStatus(StatusCompleted),
	TaskFailed:    setTaskStatus(StatusFailed),
	TaskCancelled: setTaskStatus(StatusCancelled),
	TaskRestarted: setTaskStatus(StatusPending),

	ContextUpdated:   decoded(func(s *State, _ *Event, d *ContextInfo) { s.Context = d }),
	ContextCompacted: decoded((*State).setCompacted),
	UsageUpdated:     decoded(func(s *State, _ *Event, d *Usage) { s.Usage = d }),
	AgentOptions:     decoded((*State).setOptions),
}

// decoded decodes the event's data for a reducer.
func decoded[T any](reduce func(*State, *Event, *T)) func(*State, *Event) error {
	return func(s *State, e *Event) error {
		d := new(T)
		if err := e.Decode(d); err != nil {
			return err
		}
		reduce(s, e, d)
		return nil
	}
}

func (s *State) updateSession(_ *Event, d *SessionUpdatedData) {
	set := func(field, v *string) {
		if v != nil {
			*field = *v
		}
	}
	set(&s.Name, d.Name)
	set(&s.Title, d.Title)
	set(&s.Agent, d.Agent)
	s.Labels = ChangeLabels(s.Labels, d.Labels)
	if d.Revoked != "" {
		s.Rules = slices.DeleteFunc(s.Rules, func(r Rule) bool { return r.ID == d.Revoked })
	}
}

// setOptions sets the agent's options. A setting without a default keeps its earlier one, which is
// its first value.
func (s *State) setOptions(_ *Event, d *Options) {
	var before Options
	if s.Options != nil {
		before = *s.Options
	}
	for i := range d.Settings {
		set := &d.Settings[i]
		if at := slices.IndexFunc(before.Settings, func(b Setting) bool { return b.ID == set.ID }); at >= 0 {
			set.Default = cmp.Or(set.Default, before.Settings[at].Default, before.Settings[at].Value)
		}
		set.Default = cmp.Or(set.Default, set.Value)
	}
	s.Options = d
}

// setCompacted sets the context's tokens until the agent reports them.
func (s *State) setCompacted(_ *Event, d *ContextCompactedData) {
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

func (s *State) endTurn(e *Event, d *TurnEndedData) {
	at := e.Time
	s.Last = &LastTurn{Turn: e.Turn, Reason: d.Reason, Code: d.Code, Message: d.Message, Ended: at}
	s.Turns++
	s.Turn = nil
	s.History = Cursor{LastMessageID: e.Turn, LastMessageAt: &at}
}

func startPart(kind Kind) func(*State, *Event, *PartStartData) {
	return func(s *State, e *Event, d *PartStartData) {
		if s.Turn == nil ||
			slices.ContainsFunc(s.Turn.Parts, func(p OpenPart) bool { return p.Part == d.Part && p.Kind == kind }) {
			return // open already
		}
		s.Turn.Parts = append(s.Turn.Parts, OpenPart{Part: d.Part, Kind: kind, Task: e.Task})
	}
}

func endPart(kind Kind) func(*State, *Event, *PartEndData) {
	return func(s *State, _ *Event, d *PartEndData) {
		if s.Turn != nil {
			s.Turn.Parts = slices.DeleteFunc(s.Turn.Parts, func(p OpenPart) bool {
				return p.Part == d.Part && p.Kind == kind
			})
		}
	}
}

const maxOpenText = 1 << 10 // bytes of a text of an open tool; the transcript has all of it

func (s *State) startTool(e *Event, d *ToolStartedData) {
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
			*f.field = SplitText(f.v, maxOpenText)[0]
		}
	}
}

func (s *State) addToQueue(_ *Event, d *QueueAddedData) {
	i := len(s.Queue)
	if d.Index != nil {
		i = max(0, min(*d.Index, i))
	}
	s.Queue = slices.Insert(s.Queue, i, d.Message)
	s.unschedule(d.MessageID)
}

func (s *State) updateInQueue(_ *Event, d *QueueUpdatedData) {
	if i := s.QueueIndex(d.MessageID); i >= 0 {
		s.Queue[i].Text, s.Queue[i].Parts = d.Text, d.Parts
	}
	if i := s.ScheduledIndex(d.MessageID); i >= 0 {
		s.Scheduled[i].Text, s.Scheduled[i].Parts = d.Text, d.Parts
	}
}

// schedule keeps the scheduled messages in the order of their times.
func (s *State) schedule(_ *Event, d *QueueScheduledData) {
	if d.NotBefore == nil {
		return
	}
	i := slices.IndexFunc(s.Scheduled, func(m Message) bool { return m.NotBefore.After(*d.NotBefore) })
	if i < 0 {
		i = len(s.Scheduled)
	}
	s.Scheduled = slices.Insert(s.Scheduled, i, d.Message)
}

func (s *State) unschedule(message string) {
	if i := s.ScheduledIndex(message); i >= 0 {
		s.Scheduled = slices.Delete(s.Scheduled, i, i+1)
	}
}

func (s *State) removeFromQueue(_ *Event, d *QueueRemovedData) {
	s.unschedule(d.MessageID)
	if i := s.QueueIndex(d.MessageID); i >= 0 {
		s.Queue = slices.Delete(s.Queue, i, i+1)
	}
	// An edit hold ends with its message.
	s.Holds = slices.DeleteFunc(s.Holds, func(h Hold) bool {
		return h.Reason == HoldEdit && h.MessageID == d.MessageID
	})
}

func (s *State) moveInQueue(_ *Event, d *QueueMovedData) {
	i := s.QueueIndex(d.MessageID)
	if i < 0 {
		return
	}
	m := s.Queue[i]
	s.Queue = slices.Delete(s.Queue, i, i+1)
	s.Queue = slices.Insert(s.Queue, max(0, min(d.Index, len(s.Queue))), m)
}

func (s *State) setPlanTasks(d *PlanTasksData, status string) {
	if s.Plan == nil {
		s.Plan = &Plan{}
	}
	s.Plan.Status, s.Plan.Tasks = status, d.Tasks
	if d.Summary != "" {
		s.Plan.Summary = d.Summary
	}
}

func setPlanStatus(status string) func(*State, *Event) error {
	return func(s *State, _ *Event) error {
		if s.Plan != nil {
			s.Plan.Status = status
		}
		return nil
	}
}

func setTaskStatus(status string) func(*State, *Event) error {
	return decoded(func(s *State, _ *Event, d *TaskData) {
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
