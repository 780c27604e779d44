package agentloop

import (
	"time"

	"agentctl/protocol"
)

// A turnView is what the client was told of the turn under way, and what is still to tell.
type turnView struct {
	loading  bool
	failed   bool // an error was told, and nothing of the agent's since
	thoughts []*thought
	calls    []*call
	kept     int // bytes of output that wait for the end of their calls
}

// Bounds of what waits to be told whole.
const (
	maxThought = 64 << 10 // bytes; a longer one is told in pieces
	maxKept    = 4 << 20  // bytes of output of all calls; what is more is counted and left out
	maxOpen    = 1024     // calls, or thoughts
)

// A thought is reasoning that is told whole.
type thought struct {
	id    string
	text  []byte
	began time.Time
}

// event takes an event of our server.
func (s *server) event(e *protocol.Event) {
	if s.sub.State == nil || e.Session != s.sub.Session || s.unsubscribed(e) {
		return
	}
	if !e.Durable() {
		if e.Type == protocol.CaughtUp {
			s.sub.CaughtUp = true
			s.ask()
		}
		return
	}
	if s.sub.Known(e) || !s.sub.Apply(e) {
		return
	}
	s.tellEvent(e)
}

// load says whether the agent works.
func (s *server) load(on bool) {
	if on == s.turn.loading {
		return
	}
	s.turn.loading = on
	s.send(loadingType, loadingState{on})
}

// tell sends an item.
func (s *server) tell(it item) {
	if it.Role == assistant || it.Type != messageItem {
		s.turn.failed = false // it goes on
	}
	s.send(responseItemType, it)
}

// id names an item: a part is unique within its turn alone.
func (s *server) id(e *protocol.Event, part string) string {
	if e.Turn == "" {
		return part
	}
	return e.Turn + "." + part
}

// think keeps reasoning until it is told.
func (s *server) think(e *protocol.Event, part, text string) {
	id := s.id(e, part)
	var t *thought
	for _, old := range s.turn.thoughts {
		if old.id == id {
			t = old
		}
	}
	if t == nil {
		if len(s.turn.thoughts) == maxOpen {
			s.tellThoughts(e, "")
		}
		t = &thought{id: id, began: e.Time}
		s.turn.thoughts = append(s.turn.thoughts, t)
	}
	if t.text = append(t.text, text...); len(t.text) >= maxThought {
		s.tellThought(e, t)
	}
}

// tellThoughts tells all reasoning but that of one item.
func (s *server) tellThoughts(e *protocol.Event, but string) {
	open := s.turn.thoughts
	s.turn.thoughts = nil
	for _, t := range open {
		if t.id == but {
			s.turn.thoughts = append(s.turn.thoughts, t)
			continue
		}
		s.tellThought(e, t)
	}
}

func (s *server) tellThought(e *protocol.Event, t *thought) {
	if len(t.text) == 0 {
		return
	}
	took := float64(max(0, e.Time.Sub(t.began).Milliseconds()))
	text := string(t.text)
	t.text = nil
	s.tell(item{
		ID: t.id, Type: reasoningItem, Content: content{{inputText, text}}, Summary: content{{summaryText, text}}, DurationMS: &took,
	})
}
