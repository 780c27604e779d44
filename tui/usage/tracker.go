package usage

import (
	"slices"
	"time"

	"agentctl/protocol"
)

const (
	maxTurns      = 400              // kept by a Tracker
	exactRateTTL  = 10 * time.Second // validity of a rate from the agent's token counts
	minRateTime   = time.Second      // between the counts that give a rate
	bytesPerToken = 4                // estimated average
	maxLiveRun    = 1024             // deltas that a server joins while the client keeps up
)

// Turn is the context usage of one turn.
type Turn struct {
	ID        string
	Tokens    int64 // in the context at the end of the turn, or now; 0 if unknown
	MaxTokens int64 // size of the context; 0 if unknown
}

// Tracker computes the usage of one session from its events. The zero value is ready to use.
type Tracker struct {
	turns          []Turn // newest last
	running        bool   // the last turn is running
	tokens         int64  // in the context, by events since the snapshot
	tokensKnown    bool
	compactedSince bool // a compaction followed the last turn
	compacted      *protocol.ContextCompactedData

	written     rate      // bytes of text and reasoning
	output      int64     // tokens written in the session, by the agent's count
	outputAt    time.Time // time of the last count, or of the turn's start
	exactRate   float64   // tokens per second between the last counts
	exactRateAt time.Time
}

// Reset replaces all data by a snapshot.
func (u *Tracker) Reset(s *protocol.State) {
	*u = Tracker{}
	if s.Usage != nil {
		u.output = s.Usage.Output
	}
	if t := s.Turn; t != nil {
		u.startTurn(t.Turn)
	}
}

// Apply applies an event received at now. live is false for catch-up events, which do not count for
// the current rate.
func (u *Tracker) Apply(e *protocol.Event, now time.Time, live bool) {
	switch e.Type {
	case protocol.TurnStarted:
		u.startTurn(e.Turn)
		u.outputAt = now
	case protocol.TurnEnded:
		u.running, u.written, u.exactRateAt = false, rate{}, time.Time{}
	case protocol.ContextUpdated:
		if d, ok := decode[protocol.ContextInfo](e); ok {
			u.setTokens(d.Tokens, d.MaxTokens)
		}
	case protocol.ContextCompacted:
		if d, ok := decode[protocol.ContextCompactedData](e); ok {
			u.compacted = d
			u.compactedSince = !u.running
			u.setTokens(d.After, 0)
		}
	case protocol.UsageUpdated:
		if d, ok := decode[protocol.Usage](e); ok {
			u.setOutput(d.Output, now, live)
		}
	case protocol.TextDelta, protocol.ReasoningDelta, protocol.JoinedDeltas:
		if live && e.Seq-e.First() < maxLiveRun { // else written earlier than received
			u.written.add(now, written(e))
		}
	}
}

// written returns the bytes of text and reasoning of a delta or joined event.
func written(e *protocol.Event) (bytes int64) {
	if e.Type != protocol.JoinedDeltas {
		if d, ok := decode[protocol.PartDeltaData](e); ok {
			bytes = int64(len(d.Text))
		}
		return bytes
	}
	if d, ok := decode[protocol.JoinedData](e); ok {
		for i := range d.Parts {
			if k := d.Parts[i].Kind; k == protocol.KindText || k == protocol.KindReasoning {
				bytes += int64(len(d.Parts[i].Text))
			}
		}
	}
	return bytes
}

// AffectsHistory reports whether Prepend needs events of this type.
func AffectsHistory(t protocol.Type) bool {
	switch t {
	case protocol.TurnStarted, protocol.TurnEnded, protocol.ContextUpdated, protocol.ContextCompacted:
		return true
	}
	return false
}

// decode decodes the data of an event. ok is false if the data is invalid.
func decode[T any](e *protocol.Event) (data *T, ok bool) {
	d := new(T)
	return d, e.Decode(d) == nil
}

// lastTurn returns the newest turn, which must exist.
func (u *Tracker) lastTurn() *Turn { return &u.turns[len(u.turns)-1] }

// startTurn adds a turn, with the context of the one before.
func (u *Tracker) startTurn(turn string) {
	if u.running && u.lastTurn().ID == turn {
		return
	}
	t := Turn{ID: turn}
	if len(u.turns) > 0 {
		t.Tokens, t.MaxTokens = u.lastTurn().Tokens, u.lastTurn().MaxTokens
	}
	if u.tokensKnown {
		t.Tokens = u.tokens
	}
	u.turns = append(u.turns, t)
	u.running, u.compactedSince = true, false
	u.dropOldTurns()
}

// dropOldTurns limits turns to maxTurns.
func (u *Tracker) dropOldTurns() {
	if n := len(u.turns) - maxTurns; n > 0 {
		u.turns = slices.Delete(u.turns, 0, n)
	}
}

// setTokens sets the context of the last turn, unless a compaction followed that turn.
func (u *Tracker) setTokens(tokens, maxTokens int64) {
	u.tokens, u.tokensKnown = tokens, true
	if u.compactedSince {
		return
	}
	if len(u.turns) == 0 {
		u.turns = append(u.turns, Turn{})
	}
	t := u.lastTurn()
	t.Tokens = tokens
	if maxTokens > 0 {
		t.MaxTokens = maxTokens
	}
}

// setOutput sets the session's total of output tokens, unless it is 0: not known. Counts less than
// minRateTime apart give no rate.
func (u *Tracker) setOutput(output int64, now time.Time, live bool) {
	if output == 0 {
		return
	}
	if n, elapsed := output-u.output, now.Sub(u.outputAt); live && u.running && n > 0 {
		if elapsed < minRateTime {
			return // the next count includes this one
		}
		u.exactRate, u.exactRateAt = float64(n)/elapsed.Seconds(), now
	}
	u.output, u.outputAt = output, now
}

// Prepend adds the turns of older events, oldest first, before the known turns.
func (u *Tracker) Prepend(events []*protocol.Event) {
	past := &Tracker{}
	for _, e := range events {
		past.Apply(e, time.Time{}, false)
	}
	if u.compacted == nil {
		u.compacted = past.compacted
	}
	known := make(map[string]bool, len(u.turns))
	for _, t := range u.turns {
		known[t.ID] = true
	}
	older := slices.DeleteFunc(past.turns, func(t Turn) bool { return known[t.ID] })
	if len(older) > 0 {
		for i := range u.turns {
			if u.turns[i].Tokens != 0 {
				break
			}
			u.turns[i].Tokens, u.turns[i].MaxTokens = older[len(older)-1].Tokens, older[len(older)-1].MaxTokens
		}
	}
	u.turns = append(older, u.turns...)
	u.dropOldTurns()
}

// Turns returns the newest turns, oldest first. The slice is valid until the next call that changes
// the Tracker, and must not be changed.
func (u *Tracker) Turns() []Turn { return u.turns }

// LastCompaction returns the result of the last compaction, or nil.
func (u *Tracker) LastCompaction() *protocol.ContextCompactedData { return u.compacted }

// TokenRate returns the agent's output in tokens per second: from its own token counts, or
// estimated from the text of the last seconds. ok is false while the agent writes nothing.
func (u *Tracker) TokenRate(now time.Time) (perSecond float64, estimated, ok bool) {
	if u.running && !u.exactRateAt.IsZero() && now.Sub(u.exactRateAt) < exactRateTTL {
		return u.exactRate, false, true
	}
	bytes, ok := u.written.perSecond(now)
	return bytes / bytesPerToken, true, ok && u.running
}
