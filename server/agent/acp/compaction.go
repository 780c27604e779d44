package acp

import (
	"cmp"
	"encoding/json"

	"agentctl/protocol"
)

// A compaction is one that the agent has completed, until the agent reports the size of the context
// after it. The zero value has none.
type compaction struct {
	done   bool
	before int64 // tokens
	used   int64 // tokens of the context, as last reported
}

// applyCompaction applies an update of a compaction of the context.
func (c *client) applyCompaction(u *update) {
	switch u.Status {
	case "completed":
		c.mu.Lock()
		if !c.compaction.done {
			c.compaction.done, c.compaction.before = true, c.compaction.used
		}
		c.mu.Unlock()
	case "failed":
		var why string
		_ = json.Unmarshal(u.Error, &why) // it may be null
		c.notice(protocol.LevelWarning, "the context could not be compacted", why)
	}
}

// compactedTo ends a compaction with the size of the context after it; 0: not reported.
func (c *client) compactedTo(used int64) {
	c.mu.Lock()
	last := c.compaction
	c.compaction = compaction{used: cmp.Or(used, last.used)}
	c.mu.Unlock()
	if !last.done {
		return
	}
	d := protocol.ContextCompactedData{Before: last.before, After: used, Automatic: true}
	turn := c.lane.current()
	if used == 0 || d.Before == 0 || turn == nil || !turn.compacted(d) {
		c.notice(protocol.LevelInfo, "the agent has compacted its context", "")
	}
}

// compacted emits a compaction. It reports false if the turn has ended: there is none outside of
// turns.
func (t *turn) compacted(d protocol.ContextCompactedData) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	d.Percent = 100 * float64(d.Before-d.After) / float64(d.Before)
	return !t.ended && t.emit(protocol.ContextCompacted, d) == nil
}

// applyNotice shows a notice of the agent to users.
func (c *client) applyNotice(u *update) {
	level := protocol.LevelWarning
	if u.Severity == "info" {
		level = protocol.LevelInfo
	}
	c.notice(level, u.Title, u.Description)
}
