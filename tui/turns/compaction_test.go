package turns

import (
	"testing"

	"agentctl/protocol"
)

func event(turn string, t protocol.Type, data any) *protocol.Event {
	return &protocol.Event{Seq: 1, Turn: turn, Type: t, Data: protocol.MustEncode(data)}
}

// past returns the turns of a page.
func past(t *testing.T, events []*protocol.Event) *Turns {
	t.Helper()
	page := &protocol.HistoryResult{}
	for _, e := range events {
		page.Events = append(page.Events, e.AppendJSON(nil))
	}
	out, err := Past(page)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheLastCompactionIsKnownFromEventsAndFromHistory(t *testing.T) {
	u := &Turns{}
	u.Reset(9, &protocol.State{})
	compacted := func(before int64) *protocol.Event {
		return event("", protocol.ContextCompacted, protocol.ContextCompactedData{Before: before})
	}
	if u.LastCompaction() != nil {
		t.Fatal("there is a compaction before any event")
	}
	u.Prepend(past(t, []*protocol.Event{compacted(10), compacted(20)}), 0)
	if got := u.LastCompaction(); got == nil || got.Before != 20 {
		t.Errorf("got %+v from the history", got)
	}
	late := &Turns{}
	apply(t, late, compacted(30))
	late.Prepend(past(t, []*protocol.Event{compacted(10)}), 0)
	if got := late.LastCompaction(); got == nil || got.Before != 30 {
		t.Errorf("got %+v after older history", got)
	}
}
