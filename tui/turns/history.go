package turns

import (
	"slices"

	"agentctl/protocol"
)

// PrependPage adds the turns of a page of history.
func (t *Turns) PrependPage(page *protocol.HistoryResult) error {
	past, err := Past(page)
	if err == nil {
		t.Prepend(past, page.OlderThan())
	}
	return err
}

// Past reduces a page of history. Prepend adds the result to the turns of the session.
func Past(page *protocol.HistoryResult) (*Turns, error) {
	past := &Turns{}
	for e, err := range page.Decoded() {
		if err != nil {
			return nil, err
		}
		past.beginWithin(e)
		past.applyWaits(e)
		if !inBrief(e.Type) {
			continue
		}
		if _, err := past.Apply(e); err != nil {
			return nil, err
		}
	}
	return past, nil
}

// inBrief reports whether events of type t change a turn in brief. Others may be large.
func inBrief(t protocol.Type) bool {
	switch t {
	case protocol.MessageUser, protocol.TurnStarted, protocol.ToolStarted, protocol.TurnEnded:
		return true
	}
	return false
}

// Prepend adds the turns of the events from seq olderThan up to OlderThan, which then is olderThan
// unless no older events are expected. A turn may be on several pages. Known turns are not added again.
// past must not be used afterwards.
func (t *Turns) Prepend(past *Turns, olderThan uint64) {
	if t.olderThan > 0 {
		t.olderThan = olderThan
	}
	older := past.turns
	if len(t.turns) > 0 {
		if n := len(older); n > 0 && older[n-1].ID == t.turns[0].ID {
			t.turns[0].join(older[n-1])
		}
		known := make(map[string]bool, len(t.turns))
		for _, turn := range t.turns {
			known[turn.ID] = true
		}
		older = slices.DeleteFunc(older, func(turn *Turn) bool { return known[turn.ID] })
	}
	t.turns = append(older, t.turns...)
}

// OlderThan returns the seq that the next page of history ends before, or 0 without older events.
func (t *Turns) OlderThan() uint64 { return t.olderThan }

// StopPaging marks older turns as not available.
func (t *Turns) StopPaging() { t.olderThan = 0 }
