package turns

import (
	"slices"
	"strings"

	"agentctl/protocol"
)

// Turns holds the turns of a session, oldest first. The zero value is a session at its start.
type Turns struct {
	transcript protocol.Transcript // the current turn alone
	partial    bool                // the events began within the current turn

	turns     []*Turn
	plan      *Plan  // of the current turn
	planStale bool   // see PlanStale
	olderThan uint64 // the next page has events before this seq; 0: no older events
}

// Reset discards all turns and starts from a snapshot at seq at. The turn in its state is the newest
// one.
func (t *Turns) Reset(at uint64, s *protocol.State) {
	*t = Turns{transcript: protocol.Transcript{Seq: at}}
	if at > 0 {
		t.olderThan = at + 1
	}
	if turn := s.Turn; turn != nil {
		t.beginPartial(&protocol.Turn{
			Turn: turn.Turn, First: turn.First, Message: turn.Message, Started: turn.Started,
		})
		t.last().waits.AddPending(s)
	}
}

// Apply applies a durable event. It returns the changed and new items of the current turn.
func (t *Turns) Apply(e *protocol.Event) ([]*protocol.Item, error) {
	if !e.Durable() {
		return nil, nil
	}
	t.beginWithin(e)
	t.applyWaits(e)
	items, err := t.transcript.Apply(e)
	if err != nil {
		return nil, err
	}
	switch e.Type {
	case protocol.MessageUser:
		current := t.transcript.Current()
		t.transcript.Turns = []*protocol.Turn{current}
		t.partial, t.plan = false, nil
		t.turns = append(t.turns, newTurn(current))
		return nil, nil
	case protocol.TurnStarted:
		t.planStale = true
	case protocol.TurnEnded:
		t.plan = nil
		if current := t.transcript.Current(); current != nil && current.Turn == e.Turn {
			t.last().End = current.End
		}
	case protocol.ToolStarted:
		if len(items) > 0 {
			t.last().addTool(items[0].ID)
		}
	default:
		t.applyPlan(e, items)
	}
	return items, nil
}

// applyWaits applies an event to the waits of the current turn, if it is one of that turn.
func (t *Turns) applyWaits(e *protocol.Event) {
	if current := t.transcript.Current(); current != nil && e.Turn == current.Turn {
		t.last().waits.Apply(e)
	}
}

// beginWithin starts a turn whose message is not known, if e belongs to one and no turn is current.
func (t *Turns) beginWithin(e *protocol.Event) {
	if e.Turn != "" && e.Type != protocol.MessageUser && t.transcript.Current() == nil {
		t.beginPartial(&protocol.Turn{Turn: e.Turn, First: e.First(), Started: e.Time})
	}
}

func (t *Turns) beginPartial(turn *protocol.Turn) {
	t.partial = true
	t.transcript.Turns = []*protocol.Turn{turn}
	t.turns = append(t.turns, newTurn(turn))
}

// last returns the newest turn, which must exist.
func (t *Turns) last() *Turn { return t.turns[len(t.turns)-1] }

// Newest returns the newest turn in brief, or nil.
func (t *Turns) Newest() *Turn {
	if len(t.turns) == 0 {
		return nil
	}
	return t.last()
}

// Waits returns the requests of the newest turn, or nil.
func (t *Turns) Waits() *protocol.Waits {
	if len(t.turns) == 0 {
		return nil
	}
	return &t.last().waits
}

// Current returns the current turn, the last one while no turn runs. It is nil without a turn.
func (t *Turns) Current() *protocol.Turn { return t.transcript.Current() }

// Seq returns the seq of the last event, or of the snapshot.
func (t *Turns) Seq() uint64 { return t.transcript.Seq }

// Partial reports whether the events began within the current turn.
func (t *Turns) Partial() bool { return t.partial }

// Matching returns the turns whose messages contain all words of a filter, in any case. The result
// must not be changed.
func (t *Turns) Matching(filter string) []*Turn {
	words := strings.Fields(strings.ToLower(filter))
	if len(words) == 0 {
		return t.turns
	}
	return slices.DeleteFunc(slices.Clone(t.turns), func(turn *Turn) bool {
		text := strings.ToLower(turn.Prompt)
		return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	})
}
