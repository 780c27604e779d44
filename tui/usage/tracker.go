package usage

import (
	"slices"
	"time"

	"agentctl/protocol"
)

const (
	maxTurns      = 400              // turns kept
	exactRateTTL  = 10 * time.Second // how long what an agent told of its speed holds
	bytesPerToken = 4                // roughly, where the agent does not count
)

// A Turn is what one turn did to the context.
type Turn struct {
	ID        string
	Tokens    int64 // in the context at its end, or now; 0: not known
	MaxTokens int64 // the context holds
}

// A Meter follows one session. The zero value has seen nothing.
type Tracker struct {
	turns          []Turn // the newest last
	running        bool   // the last one is under way
	tokens         int64  // in the context by what was told since the snapshot
	tokensKnown    bool   // something was
	compactedSince bool   // there was a compaction since the last turn
	compacted      *protocol.ContextCompactedData

	written     rate // bytes, as they come
	output      int64
	outputAt    time.Time // when output was told, or the turn began
	exactRate   float64   // tokens a second, as the agent counts
	exactRateAt time.Time
}

// Reset starts over from a snapshot.
func (m *Tracker) Reset(s *protocol.State) {
	*m = Tracker{}
	if s.Usage != nil {
		m.output = s.Usage.Output
	}
	if t := s.Turn; t != nil {
		m.startTurn(t.Turn)
	}
}

// Apply follows an event that happened now; live tells that it was not caught up with.
func (m *Tracker) Apply(e *protocol.Event, now time.Time, live bool) {
	switch e.Type {
	case protocol.TurnStarted:
		m.startTurn(e.Turn)
		m.outputAt = now
	case protocol.TurnEnded:
		m.running, m.written, m.exactRateAt = false, rate{}, time.Time{}
	case protocol.ContextUpdated:
		if d, ok := decode[protocol.ContextInfo](e); ok {
			m.setTokens(d.Tokens, d.MaxTokens)
		}
	case protocol.ContextCompacted:
		if d, ok := decode[protocol.ContextCompactedData](e); ok {
			m.compacted = d
			m.compactedSince = !m.running
			m.setTokens(d.After, 0)
		}
	case protocol.UsageUpdated:
		if d, ok := decode[protocol.Usage](e); ok {
			m.setOutput(d.Output, now, live)
		}
	case protocol.TextDelta, protocol.ReasoningDelta:
		if !live || e.FirstSeq != 0 {
			return // it took longer than it took to come
		}
		if d, ok := decode[protocol.PartDeltaData](e); ok {
			m.written.add(now, int64(len(d.Text)))
		}
	}
}

// AffectsHistory tells the events that say something about turns that are over: the others Past can do without.
func AffectsHistory(t protocol.Type) bool {
	switch t {
	case protocol.TurnStarted, protocol.TurnEnded, protocol.ContextUpdated, protocol.ContextCompacted:
		return true
	}
	return false
}

func decode[T any](e *protocol.Event) (*T, bool) {
	d := new(T)
	return d, e.Decode(d) == nil
}

func (m *Tracker) lastTurn() *Turn { return &m.turns[len(m.turns)-1] }

func (m *Tracker) startTurn(turn string) {
	if m.running && m.lastTurn().ID == turn {
		return
	}
	t := Turn{ID: turn}
	if len(m.turns) > 0 {
		t.Tokens, t.MaxTokens = m.lastTurn().Tokens, m.lastTurn().MaxTokens
	}
	if m.tokensKnown {
		t.Tokens = m.tokens
	}
	m.turns = append(m.turns, t)
	m.running, m.compactedSince = true, false
	m.dropOldTurns()
}

func (m *Tracker) dropOldTurns() {
	if n := len(m.turns) - maxTurns; n > 0 {
		m.turns = slices.Delete(m.turns, 0, n)
	}
}

// setTokens notes how full the context is; between turns that belongs to the last one, unless the context was compacted since.
func (m *Tracker) setTokens(tokens, most int64) {
	m.tokens, m.tokensKnown = tokens, true
	if m.compactedSince {
		return
	}
	if len(m.turns) == 0 {
		m.turns = append(m.turns, Turn{})
	}
	t := m.lastTurn()
	t.Tokens = tokens
	if most > 0 {
		t.MaxTokens = most
	}
}

// setOutput takes the session's sum of tokens written.
func (m *Tracker) setOutput(output int64, now time.Time, live bool) {
	if n, took := output-m.output, now.Sub(m.outputAt); live && m.running && n > 0 && took > 0 {
		m.exactRate, m.exactRateAt = float64(n)/took.Seconds(), now
	}
	m.output, m.outputAt = output, now
}

// Prepend puts turns before those that are known: their events, the oldest first.
func (m *Tracker) Prepend(events []*protocol.Event) {
	past := &Tracker{}
	for _, e := range events {
		past.Apply(e, time.Time{}, false)
	}
	if m.compacted == nil {
		m.compacted = past.compacted
	}
	known := make(map[string]bool, len(m.turns))
	for _, t := range m.turns {
		known[t.ID] = true
	}
	older := slices.DeleteFunc(past.turns, func(t Turn) bool { return known[t.ID] })
	if len(older) > 0 {
		for i := range m.turns {
			if m.turns[i].Tokens != 0 {
				break
			}
			m.turns[i].Tokens, m.turns[i].MaxTokens = older[len(older)-1].Tokens, older[len(older)-1].MaxTokens
		}
	}
	m.turns = append(older, m.turns...)
	m.dropOldTurns()
}

// Turns are the newest turns, the oldest of them first. They are the meter's.
func (m *Tracker) Turns() []Turn { return m.turns }

// LastCompaction is what the last compaction did, or nil.
func (m *Tracker) LastCompaction() *protocol.ContextCompactedData { return m.compacted }

// TokenRate is how many tokens a second the agent writes: as it counts them itself, or estimated from what it wrote in the last
// seconds. It is not ok while the agent writes nothing.
func (m *Tracker) TokenRate(now time.Time) (perSecond float64, estimated, ok bool) {
	if m.running && !m.exactRateAt.IsZero() && now.Sub(m.exactRateAt) < exactRateTTL {
		return m.exactRate, false, true
	}
	bytes, ok := m.written.perSecond(now)
	return bytes / bytesPerToken, true, ok && m.running
}
