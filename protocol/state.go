package protocol

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// State is a session at a position, except its texts. Only Apply changes it: it reduces the
// session's durable events. Not safe for concurrent use; pass on a Clone.
type State struct {
	Session string `json:"session"`
	Seq     uint64 `json:"seq"`
	Name    string `json:"name,omitempty"`
	Title   string `json:"title,omitempty"`
	Agent   string `json:"agent,omitempty"`
	CWD     string `json:"cwd,omitempty"`
	Attributes
	MCPServers []string `json:"mcp_servers,omitempty"` // names of those that its creator gave its agent
	Closed     bool     `json:"closed,omitempty"`

	Turn  *TurnState `json:"turn,omitempty"` // the current turn
	Last  *LastTurn  `json:"last,omitempty"` // the last turn that ended
	Turns int        `json:"turns"`          // number of turns that ended
	QueueState
	Approvals []Approval    `json:"approvals,omitempty"` // pending
	Rules     []Rule        `json:"rules,omitempty"`
	Plan      *Plan         `json:"plan,omitempty"`
	Context   *ContextInfo  `json:"context,omitempty"`
	Usage     *Usage        `json:"usage,omitempty"`
	Limits    []UsageWindow `json:"limits,omitempty"` // as last reported
	Options   *Options      `json:"options,omitempty"`
	History   Cursor        `json:"history"`
}

// QueueState is the queue of a session, its holds, and the scheduled messages.
type QueueState struct {
	Queue     []Message `json:"queue,omitempty"`
	Holds     []Hold    `json:"holds,omitempty"`
	Scheduled []Message `json:"scheduled,omitempty"` // by Message.NotBefore; not in the queue
}

// TurnState is the current turn: its message and its open parts and tools.
type TurnState struct {
	Turn    string     `json:"turn"`
	Message Message    `json:"message"`
	Started time.Time  `json:"started"`
	First   uint64     `json:"first"` // seq of its message.user
	Steered []Steered  `json:"steered,omitempty"`
	Parts   []OpenPart `json:"parts,omitempty"`
	Tools   []OpenTool `json:"tools,omitempty"`
}

// An OpenPart is a text or reasoning part that has started and not ended.
type OpenPart struct {
	Part string `json:"part"`
	Kind Kind   `json:"kind"`
	Task string `json:"task,omitempty"`
}

// An OpenTool is a tool call that has started and not ended.
type OpenTool struct {
	Tool    string    `json:"tool"`
	Name    string    `json:"name,omitempty"`
	Kind    string    `json:"kind,omitempty"`
	Title   string    `json:"title,omitempty"`
	Task    string    `json:"task,omitempty"`
	Parent  string    `json:"parent,omitempty"`
	Started time.Time `json:"started"`
}

// LastTurn is the end of the last turn.
type LastTurn struct {
	Turn    string    `json:"turn"`
	Reason  Reason    `json:"reason"`
	Code    Code      `json:"code,omitempty"`
	Message string    `json:"message,omitempty"`
	Ended   time.Time `json:"ended"`

	ResetsAt *time.Time `json:"resets_at,omitempty"` // of the usage limit that ended it, if known
}

// A Cursor is the end of the history of finished turns.
type Cursor struct {
	LastMessageID string     `json:"last_message_id,omitempty"`
	LastMessageAt *time.Time `json:"last_message_at,omitempty"`
}

// A Snapshot is a state and the epoch of its log.
type Snapshot struct {
	Epoch string `json:"epoch"`
	State *State `json:"state"`
}

// Clone returns a deep copy.
func (s *State) Clone() *State {
	c := new(State)
	if err := json.Unmarshal(MustEncode(s), c); err != nil {
		panic("protocol: a state does not read back: " + err.Error())
	}
	return c
}

// Status returns the session's status.
func (s *State) Status() Status {
	switch {
	case s.Closed:
		return Closed
	case len(s.Approvals) > 0:
		return Waiting
	case s.Turn == nil:
		return Idle
	}
	return Running
}

// NextQueued returns the message that may start a turn now: the first in the queue, unless a turn
// runs or a hold applies.
func (s *State) NextQueued() *Message {
	if s.Turn != nil || s.Closed || len(s.Queue) == 0 || s.BlockingHold() != nil {
		return nil
	}
	return &s.Queue[0]
}

// BlockingHold returns the hold that stops the first message of the queue, or nil. An edit hold
// stops only its own message, any other hold the whole queue.
func (s *State) BlockingHold() *Hold {
	for i := range s.Holds {
		h := &s.Holds[i]
		if h.Reason != HoldEdit || len(s.Queue) > 0 && h.MessageID == s.Queue[0].MessageID {
			return h
		}
	}
	return nil
}

// QueueIndex returns the index of a queued message, or -1.
func (s *State) QueueIndex(message string) int {
	for i := range s.Queue {
		if s.Queue[i].MessageID == message {
			return i
		}
	}
	return -1
}

// ScheduledIndex returns the index of a scheduled message, or -1.
func (s *State) ScheduledIndex(message string) int {
	return slices.IndexFunc(s.Scheduled, func(m Message) bool { return m.MessageID == message })
}

// NextScheduled returns when the server acts next without a user: the time of the next scheduled
// message or of the release of a hold; nil: never.
func (s *State) NextScheduled() (at *time.Time) {
	if s.Closed {
		return nil
	}
	if h := s.LimitHold(); h != nil {
		at = h.Until
	}
	if len(s.Scheduled) == 0 {
		return at
	}
	if next := s.Scheduled[0].NotBefore; at == nil || next != nil && next.Before(*at) {
		return next
	}
	return at
}

// PendingApproval returns a pending approval, or nil.
func (s *State) PendingApproval(request string) *Approval {
	for i := range s.Approvals {
		if s.Approvals[i].Request == request {
			return &s.Approvals[i]
		}
	}
	return nil
}

// RuleFor returns the rule that allows a request without asking, or nil: one for a request that
// offers to allow it always. The request's events follow each other in the log, so a client need
// not show it.
func (s *State) RuleFor(a *Approval) *Rule {
	subject := a.Subject()
	if subject == "" || !a.Offers(AllowAlways) {
		return nil
	}
	return s.FindRule(a.Kind, subject)
}

// DecidedAtOnce reports whether a rule or a policy decides a request, so that no client need show
// it.
func (s *State) DecidedAtOnce(a *Approval) bool { return a.Policy != "" || s.RuleFor(a) != nil }

// FindRule returns the rule of a kind and subject, or nil.
func (s *State) FindRule(kind, subject string) *Rule {
	for i := range s.Rules {
		if s.Rules[i].Kind == kind && s.Rules[i].Subject == subject {
			return &s.Rules[i]
		}
	}
	return nil
}

// Apply applies one durable event. Its first seq must be s.Seq+1. Ephemeral events change nothing;
// unknown types change the seq only. After an error the state is unchanged.
func (s *State) Apply(e *Event) error {
	if !e.Durable() {
		return nil
	}
	if e.First() != s.Seq+1 || e.Seq < e.First() {
		return fmt.Errorf("event %d..%d of %s does not follow %d", e.First(), e.Seq, e.Session, s.Seq)
	}
	if row := eventTypes[e.Type]; row != nil && row.reduce != nil {
		if err := row.reduce(s, e); err != nil {
			return err
		}
	}
	s.Seq = e.Seq
	return nil
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
