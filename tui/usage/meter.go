package usage

import (
	"slices"
	"time"

	"agentctl/protocol"
)

const (
	turnsMost   = 400              // turns kept
	fresh       = 10 * time.Second // how long what an agent told of its speed holds
	bytesAToken = 4                // roughly, where the agent does not count
)

// A Turn is what one turn did to the context.
type Turn struct {
	ID        string
	Tokens    int64 // in the context at its end, or now; 0: not known
	MaxTokens int64 // the context holds
}

// A Meter follows one session. The zero value has seen nothing.
type Tracker struct {
	turns     []Turn // the newest last
	open      bool   // the last one is under way
	tokens    int64  // in the context by what was told since the snapshot
	filled    bool   // something was
	shrunk    bool   // there was a compaction since the last turn
	compacted *protocol.ContextCompactedData

	written rate // bytes, as they come
	output  int64
	told    time.Time // when output was told, or the turn began
	exact   float64   // tokens a second, as the agent counts
	exactAt time.Time
}

// Reset starts over from a snapshot.
func (m *Tracker) Reset(s *protocol.State) {
	*m = Tracker{}
	if s.Usage != nil {
		m.output = s.Usage.Output
	}
	if t := s.Turn; t != nil {
		m.begin(t.Turn)
	}
}

// Apply follows an event that happened now; live tells that it was not caught up with.
func (m *Tracker) Apply(e *protocol.Event, now time.Time, live bool) {
	switch e.Type {
	case protocol.TurnStarted:
		m.begin(e.Turn)
		m.told = now
	case protocol.TurnEnded:
		m.open, m.written, m.exactAt = false, rate{}, time.Time{}
	case protocol.ContextUpdated:
		if d, ok := read[protocol.ContextInfo](e); ok {
			m.fill(d.Tokens, d.MaxTokens)
		}
	case protocol.ContextCompacted:
		if d, ok := read[protocol.ContextCompactedData](e); ok {
			m.compacted = d
			m.shrunk = !m.open
			m.fill(d.After, 0)
		}
	case protocol.UsageUpdated:
		if d, ok := read[protocol.Usage](e); ok {
			m.count(d.Output, now, live)
		}
	case protocol.TextDelta, protocol.ReasoningDelta:
		if !live || e.FirstSeq != 0 {
			return // it took longer than it took to come
		}
		if d, ok := read[protocol.PartDeltaData](e); ok {
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

func read[T any](e *protocol.Event) (*T, bool) {
	d := new(T)
	return d, e.Decode(d) == nil
}

func (m *Tracker) last() *Turn { return &m.turns[len(m.turns)-1] }

func (m *Tracker) begin(turn string) {
	if m.open && m.last().ID == turn {
		return
	}
	t := Turn{ID: turn}
	if len(m.turns) > 0 {
		t.Tokens, t.MaxTokens = m.last().Tokens, m.last().MaxTokens
	}
	if m.filled {
		t.Tokens = m.tokens
	}
	m.turns = append(m.turns, t)
	m.open, m.shrunk = true, false
	m.bound()
}

func (m *Tracker) bound() {
	if n := len(m.turns) - turnsMost; n > 0 {
		m.turns = slices.Delete(m.turns, 0, n)
	}
}

// fill notes how full the context is; between turns that belongs to the last one, unless the context was compacted since.
func (m *Tracker) fill(tokens, most int64) {
	m.tokens, m.filled = tokens, true
	if m.shrunk {
		return
	}
	if len(m.turns) == 0 {
		m.turns = append(m.turns, Turn{})
	}
	t := m.last()
	t.Tokens = tokens
	if most > 0 {
		t.MaxTokens = most
	}
}

// count takes the session's sum of tokens written.
func (m *Tracker) count(output int64, now time.Time, live bool) {
	if n, took := output-m.output, now.Sub(m.told); live && m.open && n > 0 && took > 0 {
		m.exact, m.exactAt = float64(n)/took.Seconds(), now
	}
	m.output, m.told = output, now
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
	m.bound()
}

// Turns are the newest turns, the oldest of them first. They are the meter's.
func (m *Tracker) Turns() []Turn { return m.turns }

// LastCompaction is what the last compaction did, or nil.
func (m *Tracker) LastCompaction() *protocol.ContextCompactedData { return m.compacted }

// TokenRate is how many tokens a second the agent writes: as it counts them itself, or estimated from what it wrote in the last
// seconds. It is not ok while the agent writes nothing.
func (m *Tracker) TokenRate(now time.Time) (perSecond float64, estimated, ok bool) {
	if m.open && !m.exactAt.IsZero() && now.Sub(m.exactAt) < fresh {
		return m.exact, false, true
	}
	bytes, ok := m.written.per(now)
	return bytes / bytesAToken, true, ok && m.open
}
