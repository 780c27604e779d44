package client

import (
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
)

// holdTimeout is how long the event of a failure is held: the end of its turn follows at once.
const holdTimeout = 150 * time.Millisecond

// A failure is a message that reports one. The turn has failed if it ends before the agent goes on.
// The event of such a message is held until then, since the turn's end repeats it.
type failure struct {
	err  *protocol.Error // nil: none, or the agent went on
	held protocol.Type   // of the event; empty: none is held
	data any
	due  time.Time // when the event is recorded at the latest
}

// addFailure records an event that reports a failure, or holds it while a turn is under way.
func (c *Conn) addFailure(typ protocol.Type, message string, data any) {
	if c.turn == nil {
		c.add(typ, data)
		return
	}
	c.turn.failure = failure{
		err: protocol.Errorf(protocol.CodeAgentFailed, "%s", message), held: typ, data: data,
		due: c.Now.Add(holdTimeout),
	}
}

// releaseFailure records the held event of a failure.
func (c *Conn) releaseFailure() {
	if c.turn == nil || c.turn.failure.held == "" {
		return
	}
	f := &c.turn.failure
	typ := f.held
	f.held = ""
	c.add(typ, f.data)
}

// handleModelFailure records the failure of a model. After the turn that it ended, the server
// repeats it.
func (c *Conn) handleModelFailure(text string) {
	text = truncate(text)
	if last := c.log.State.Last; c.turn == nil && last != nil && last.Message == text {
		return
	}
	c.addFailure(protocol.ErrorRaised, text, protocol.ErrorData{
		Kind: protocol.ErrorKindExecution, Code: protocol.CodeAgentFailed, Message: text,
	})
}

// handleWarning records a system message that begins with a warning sign, and returns false for
// any other. In a turn it may be the failure that ends the turn, except at agentctl's server, which
// also sends an error.
func (c *Conn) handleWarning(it *wire.Item, text string) bool {
	sign := wire.WarningSign
	if !c.queues() {
		sign = strings.TrimSpace(wire.WarningSign)
	}
	text, ok := strings.CutPrefix(text, sign)
	switch d := (protocol.NoticeData{Level: protocol.LevelWarning, Message: truncate(text)}); {
	case !ok:
		return false
	case !c.queues():
		d.Message = strings.TrimSpace(d.Message)
		c.addFailure(protocol.Notice, d.Message, d)
	case !strings.HasPrefix(it.ID, wire.FailurePrefix): // else the error follows
		c.add(protocol.Notice, d)
	}
	return true
}
