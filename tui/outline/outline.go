package outline

import (
	"maps"
	"strings"
	"time"

	"agentctl/protocol"
)

// maxPrompt bounds the text that is kept of a message, in bytes.
const maxPrompt = 400

// Outline holds the turns of a session, oldest first. The zero value is that of a session from its
// start.
type Outline struct {
	turns     []*Turn
	olderThan uint64 // the next page has events before this seq; 0: no older events
}

// Turn is a turn in brief.
type Turn struct {
	ID      string
	First   uint64 // seq of its first event
	Prompt  string // start of the user's message
	Started time.Time
	End     *protocol.TurnEndedData // nil: running, or its end is not known

	tools map[string]bool // ids of the tool calls
}

// Tools returns the number of tool calls.
func (t *Turn) Tools() int { return len(t.tools) }

// Reset discards all turns and starts from a snapshot. The turn in its state is the newest one.
func (o *Outline) Reset(at uint64, s *protocol.State) {
	*o = Outline{}
	if at > 0 {
		o.olderThan = at + 1
	}
	if t := s.Turn; t != nil {
		o.turns = []*Turn{{ID: t.Turn, First: t.First, Prompt: prompt(t.Message.Text), Started: t.Started}}
	}
}

// Apply applies an event. Events that cannot be decoded count without their data.
func (o *Outline) Apply(e *protocol.Event) {
	if e.Turn == "" || !e.Durable() {
		return
	}
	t := o.last()
	if t == nil || t.ID != e.Turn {
		t = &Turn{ID: e.Turn, First: e.First(), Started: e.Time}
		o.turns = append(o.turns, t)
	}
	switch e.Type {
	case protocol.MessageUser:
		t.First, t.Started, t.Prompt = e.Seq, e.Time, prompt(decode[protocol.MessageUserData](e).Text)
	case protocol.ToolStarted:
		if t.tools == nil {
			t.tools = map[string]bool{}
		}
		t.tools[decode[protocol.ToolStartedData](e).Tool] = true
	case protocol.TurnEnded:
		t.End = decode[protocol.TurnEndedData](e)
	}
}

// Prepend adds a page of history. A turn may be on several pages.
func (o *Outline) Prepend(page *protocol.HistoryResult) error {
	var past Outline
	for e, err := range page.Decoded() {
		if err != nil {
			return err
		}
		past.Apply(e)
	}
	o.olderThan = page.OlderThan()
	if n := len(past.turns); n > 0 && len(o.turns) > 0 && past.turns[n-1].ID == o.turns[0].ID {
		o.turns[0].join(past.turns[n-1])
		past.turns = past.turns[:n-1]
	}
	o.turns = append(past.turns, o.turns...)
	return nil
}

// join adds the events of the same turn before those of t.
func (t *Turn) join(before *Turn) {
	t.First, t.Started = before.First, before.Started
	if t.tools == nil {
		t.tools = before.tools
	} else {
		maps.Copy(t.tools, before.tools)
	}
	if t.Prompt == "" {
		t.Prompt = before.Prompt
	}
	if t.End == nil {
		t.End = before.End
	}
}

// Turns returns the turns that match all words of a filter, in any case. The result must not be
// changed.
func (o *Outline) Turns(filter string) []*Turn {
	words := strings.Fields(strings.ToLower(filter))
	if len(words) == 0 {
		return o.turns
	}
	var out []*Turn
	for _, t := range o.turns {
		if t.matches(words) {
			out = append(out, t)
		}
	}
	return out
}

func (t *Turn) matches(words []string) bool {
	text := strings.ToLower(t.Prompt)
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// OlderThan returns the seq that the next page of history ends before, or 0 at the start of the session.
func (o *Outline) OlderThan() uint64 { return o.olderThan }

// StopPaging marks older turns as not available.
func (o *Outline) StopPaging() { o.olderThan = 0 }

func (o *Outline) last() *Turn {
	if len(o.turns) == 0 {
		return nil
	}
	return o.turns[len(o.turns)-1]
}

// prompt returns the start of a message in one line.
func prompt(text string) string {
	text = strings.Join(strings.Fields(text[:min(len(text), maxPrompt)]), " ")
	return strings.ToValidUTF8(text, "") // the cut may be in a character
}

// decode decodes the data of an event. Fields that cannot be decoded are zero.
func decode[T any](e *protocol.Event) *T {
	d := new(T)
	_ = e.Decode(d)
	return d
}
