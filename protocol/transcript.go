package protocol

import (
	"encoding/json"
	"time"
)

// A Transcript is the text of a session: turns and their items, reduced from its events. Joined and
// raw events give equal transcripts. Not safe for concurrent use.
type Transcript struct {
	Turns []*Turn `json:"turns"`
	Seq   uint64  `json:"seq"`
}

// A Turn is a user's message and everything up to the turn's end.
type Turn struct {
	Turn    string         `json:"turn"`
	First   uint64         `json:"first"`
	Last    uint64         `json:"last,omitempty"` // seq of the turn's end; 0 while it runs
	Message Message        `json:"message"`
	Started time.Time      `json:"started"`
	Items   []*Item        `json:"items,omitempty"`
	End     *TurnEndedData `json:"end,omitempty"`
	Ended   *time.Time     `json:"ended,omitempty"`

	byID  map[itemKey]*Item
	fixed uint64 // seq of the newest event that is no delta: joining does not change it
}

type itemKey struct {
	kind ItemKind
	id   string
}

// An ItemKind is the kind of an item.
type ItemKind string

// The kinds of items. An event without its own kind becomes an event item, so nothing is dropped.
const (
	ItemText      ItemKind = "text"
	ItemReasoning ItemKind = "reasoning"
	ItemTool      ItemKind = "tool"
	ItemApproval  ItemKind = "approval"
	ItemSteered   ItemKind = "steered"
	ItemEvent     ItemKind = "event"
)

// An Item is a text, a tool call, a request, a message that joined the turn, or another event of a turn.
type Item struct {
	Kind     ItemKind              `json:"kind"`
	ID       string                `json:"id,omitempty"`
	Task     string                `json:"task,omitempty"`
	Parent   string                `json:"parent,omitempty"`
	Agent    string                `json:"agent,omitempty"`
	Seq      uint64                `json:"seq"` // of its first event; if that is a delta, of the last other event before
	Started  time.Time             `json:"started"`
	Open     bool                  `json:"open,omitempty"`
	Text     Text                  `json:"text,omitempty"` // of text and reasoning; the output of a tool
	Tool     *ToolItem             `json:"tool,omitempty"`
	Approval *Approval             `json:"approval,omitempty"`
	Resolved *ApprovalResolvedData `json:"resolved,omitempty"`
	Steered  *SteeredItem          `json:"steered,omitempty"`
	By       *Actor                `json:"by,omitempty"`   // the decider, or the cause of the event
	Type     Type                  `json:"type,omitempty"` // of an event item
	Data     json.RawMessage       `json:"data,omitempty"` // of an event item
}

// A ToolItem is a tool call.
type ToolItem struct {
	Name      string          `json:"name,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Title     string          `json:"title,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	InputText Text            `json:"input_text,omitempty"`
	Locations []Location      `json:"locations,omitempty"`
	Session   string          `json:"session,omitempty"` // of the sub-agent that the call runs
	Content   []Content       `json:"content,omitempty"`
	End       *ToolEndedData  `json:"end,omitempty"`
}

// A SteeredItem is a message that joined the turn. Without an outcome the agent has not answered yet.
type SteeredItem struct {
	Message Message      `json:"message"`
	Outcome SteerOutcome `json:"outcome,omitempty"`
	Reason  string       `json:"reason,omitempty"`
}

// Text is text that grows. Appending costs the length of the appended text.
type Text []byte

func (t Text) String() string { return string(t) }

// MarshalJSON encodes a string.
func (t Text) MarshalJSON() ([]byte, error) { return AppendString(nil, string(t)), nil }

// UnmarshalJSON decodes a string.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*t = Text(s)
	return nil
}

// Apply applies one event. Ephemeral events, and events outside of turns (of the queue or the
// session), change the seq only. It returns the changed and new items, the newest last.
func (t *Transcript) Apply(e *Event) ([]*Item, error) {
	if !e.Durable() {
		return nil, nil
	}
	t.Seq = e.Seq
	if e.Type == MessageUser {
		var d MessageUserData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		if d.By == nil {
			d.By = e.By
		}
		t.Turns = append(
			t.Turns,
			&Turn{Turn: e.Turn, First: e.Seq, Message: d.Message, Started: e.Time, byID: map[itemKey]*Item{}},
		)
		return nil, nil
	}
	turn := t.Current()
	if turn == nil || e.Turn == "" || turn.Turn != e.Turn {
		return nil, nil
	}
	return turn.apply(e)
}

// Current returns the newest turn, or nil.
func (t *Transcript) Current() *Turn {
	if len(t.Turns) == 0 {
		return nil
	}
	return t.Turns[len(t.Turns)-1]
}

// Messages returns the messages of the turn: the one that started it, and those that joined it, except
// refused ones.
func (t *Turn) Messages() []Message {
	list := []Message{t.Message}
	for _, it := range t.Items {
		if it.Steered != nil && it.Steered.Outcome != SteerRefused {
			list = append(list, it.Steered.Message)
		}
	}
	return list
}

// item returns the item of a kind and id, creating it if needed.
func (t *Turn) item(e *Event, kind ItemKind, id string) *Item {
	key := itemKey{kind, id}
	if it := t.byID[key]; it != nil {
		return it
	}
	it := &Item{Kind: kind, ID: id, Task: e.Task, Parent: e.Parent, Started: e.Time, Open: true}
	it.Seq = max(t.First, t.fixed)
	if e.mayJoin() { // in a joined run, seq and time of a part's first delta are lost
		it.Started = t.Started
	}
	if kind == ItemTool {
		it.Tool = &ToolItem{}
	}
	if t.byID == nil {
		t.byID = map[itemKey]*Item{}
	}
	t.byID[key] = it
	t.Items = append(t.Items, it)
	return it
}

// Rest returns the turn without its content: only its open items, empty. Applied to it, the events that
// follow give the rest of the items, at the same seqs.
func (t *Turn) Rest() *Turn {
	rest := &Turn{Turn: t.Turn, First: t.First, Started: t.Started, fixed: t.fixed, byID: map[itemKey]*Item{}}
	for _, it := range t.Items {
		if !it.Open {
			continue
		}
		empty := &Item{
			Kind: it.Kind, ID: it.ID, Task: it.Task, Parent: it.Parent, Agent: it.Agent, Seq: it.Seq,
			Started: it.Started, Open: true,
		}
		if it.Tool != nil {
			empty.Tool = &ToolItem{}
		}
		if it.Steered != nil {
			empty.Steered = &SteeredItem{Message: Message{MessageID: it.ID}}
		}
		rest.byID[itemKey{it.Kind, it.ID}] = empty
		rest.Items = append(rest.Items, empty)
	}
	return rest
}
