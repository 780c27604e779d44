package server

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
)

// A turnEncoder is the state of the turn's encoding: what was sent and what is buffered.
type turnEncoder struct {
	loading   bool
	failed    bool // an error was sent, and nothing of the agent since
	reasoning []*reasoningBuffer
	calls     []*toolCall
	buffered  int // bytes
}

// Bounds of the buffers.
const (
	maxReasoning = 64 << 10 // bytes; longer reasoning is sent in pieces
	maxBuffered  = 4 << 20  // bytes of output of all calls; more is counted and dropped
	maxOpen      = 1024     // calls, or reasoning parts
)

// A reasoningBuffer is reasoning that is sent as a whole.
type reasoningBuffer struct {
	id    string
	text  []byte
	began time.Time
}

// event sends an event of agentctl's server.
func (s *Conn) event(e *protocol.Event) {
	if s.sub.State == nil || e.Session != s.sub.Session || s.unsubscribed(e) {
		return
	}
	if !e.Durable() {
		if e.Type == protocol.CaughtUp {
			s.sub.CaughtUp = true
			s.showNextApproval()
		}
		return
	}
	if s.sub.Known(e) || !s.sub.Apply(e) {
		return
	}
	if s.size.add(e); e.Type == protocol.TurnEnded { // it is in the history from now on
		s.size = transcriptSize{}
	}
	s.encodeEvent(e)
}

// setLoading reports whether the agent works.
func (s *Conn) setLoading(on bool) {
	if on == s.turn.loading {
		return
	}
	s.turn.loading = on
	s.send(wire.LoadingType, wire.LoadingState{Loading: on})
}

// sendItem sends an item.
func (s *Conn) sendItem(it wire.Item) {
	if it.Role == wire.Assistant || it.Type != wire.MessageItem {
		s.turn.failed = false // the turn continues
	}
	s.send(wire.ResponseItemType, it)
}

// itemID returns an id that is unique in the session: part ids are unique in their turn only.
func (s *Conn) itemID(e *protocol.Event, part string) string {
	if e.Turn == "" {
		return part
	}
	return e.Turn + "." + part
}

// bufferReasoning appends reasoning to its buffer.
func (s *Conn) bufferReasoning(e *protocol.Event, part, text string) {
	id := s.itemID(e, part)
	var t *reasoningBuffer
	for _, old := range s.turn.reasoning {
		if old.id == id {
			t = old
		}
	}
	if t == nil {
		if len(s.turn.reasoning) == maxOpen {
			s.flushReasoning(e, "")
		}
		t = &reasoningBuffer{id: id, began: e.Time}
		s.turn.reasoning = append(s.turn.reasoning, t)
	}
	if t.text = append(t.text, text...); len(t.text) >= maxReasoning {
		s.sendReasoning(e, t)
	}
}

// flushReasoning sends the buffered reasoning of all items except one.
func (s *Conn) flushReasoning(e *protocol.Event, but string) {
	open := s.turn.reasoning
	s.turn.reasoning = nil
	for _, t := range open {
		if t.id == but {
			s.turn.reasoning = append(s.turn.reasoning, t)
			continue
		}
		s.sendReasoning(e, t)
	}
}

func (s *Conn) sendReasoning(e *protocol.Event, t *reasoningBuffer) {
	if len(t.text) == 0 {
		return
	}
	took := float64(max(0, e.Time.Sub(t.began).Milliseconds()))
	text := string(t.text)
	t.text = nil
	s.sendItem(wire.Item{
		ID: t.id, Type: wire.ReasoningItem, Summary: wire.Content{{Type: wire.SummaryText, Text: text}}, DurationMS: &took,
	})
}
