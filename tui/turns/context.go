package turns

import (
	"slices"

	"agentctl/protocol"
)

// maxContexts is the number of turns whose context usage is kept.
const maxContexts = 400

// Context is the context usage of one turn.
type Context struct {
	ID        string // of the turn; "": usage reported before any turn
	Tokens    int64  // in the context at the end of the turn, or now; 0 if unknown
	MaxTokens int64  // size of the context; 0 if unknown
}

// contexts is the context usage of a session by turn. The zero value is ready to use.
type contexts struct {
	turns          []Context // newest last
	running        bool      // the last turn is running
	tokens         int64     // in the context, by events since the snapshot
	tokensKnown    bool
	compactedSince bool // a compaction followed the last turn
	compacted      *protocol.ContextCompactedData
}

// apply applies an event. It ignores data that cannot be decoded.
func (c *contexts) apply(e *protocol.Event) {
	switch e.Type {
	case protocol.TurnStarted:
		c.startTurn(e.Turn)
	case protocol.TurnEnded:
		c.running = false
	case protocol.ContextUpdated:
		d := new(protocol.ContextInfo)
		if e.Decode(d) == nil {
			c.setTokens(d.Tokens, d.MaxTokens)
		}
	case protocol.ContextCompacted:
		d := new(protocol.ContextCompactedData)
		if e.Decode(d) == nil {
			c.compacted = d
			c.compactedSince = !c.running
			c.setTokens(d.After, 0)
		}
	}
}

// last returns the newest turn, which must exist.
func (c *contexts) last() *Context { return &c.turns[len(c.turns)-1] }

// startTurn adds a turn, with the context of the one before.
func (c *contexts) startTurn(turn string) {
	if c.running && c.last().ID == turn {
		return
	}
	t := Context{ID: turn}
	if len(c.turns) > 0 {
		t.Tokens, t.MaxTokens = c.last().Tokens, c.last().MaxTokens
	}
	if c.tokensKnown {
		t.Tokens = c.tokens
	}
	c.turns = append(c.turns, t)
	c.running, c.compactedSince = true, false
	c.dropOld()
}

// dropOld limits turns to maxContexts.
func (c *contexts) dropOld() {
	if n := len(c.turns) - maxContexts; n > 0 {
		c.turns = slices.Delete(c.turns, 0, n)
	}
}

// setTokens sets the context of the last turn, unless a compaction followed that turn.
func (c *contexts) setTokens(tokens, maxTokens int64) {
	c.tokens, c.tokensKnown = tokens, true
	if c.compactedSince {
		return
	}
	if len(c.turns) == 0 {
		c.turns = append(c.turns, Context{})
	}
	t := c.last()
	t.Tokens = tokens
	if maxTokens > 0 {
		t.MaxTokens = maxTokens
	}
}

// prepend adds older turns. Turns without usage get the usage of the newest one of them.
func (c *contexts) prepend(past *contexts) {
	if c.compacted == nil {
		c.compacted = past.compacted
	}
	known := make(map[string]bool, len(c.turns))
	for _, t := range c.turns {
		known[t.ID] = true
	}
	older := slices.DeleteFunc(past.turns, func(t Context) bool { return known[t.ID] })
	if n := len(older); n > 0 {
		for i := range c.turns {
			if c.turns[i].Tokens != 0 {
				break
			}
			c.turns[i].Tokens, c.turns[i].MaxTokens = older[n-1].Tokens, older[n-1].MaxTokens
		}
	}
	c.turns = append(older, c.turns...)
	c.dropOld()
}
