package client

import (
	"math"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
)

// maxParts bounds the parts and calls of a turn.
const maxParts = 1024

// A turn is the turn under way, as the client sees it.
type turn struct {
	id, message string
	text        string // of its message
	first       uint64
	echoed      bool // the server repeated the message
	started     time.Time
	parts       map[string]bool // text parts by id; true: open
	calls       []string        // open
	shellCalls  []string        // open calls of the local shell
	failure     failure         // the last message that reported one
	joinsAt     time.Time       // when an announced message joins the turn without an echo; zero: none
	stopped     bool            // by the review no-exit
	told        string          // the reason of the last denial, which the server repeats as a message
	textBytes   int             // bytes of text
	callCount   int             // calls
}

// startTurn starts a turn with a message of the client (nil: another user's) and the text that the
// server echoed.
func (c *Conn) startTurn(s *pendingSend, echo string) {
	c.startsAt = time.Time{}
	m := protocol.Message{Text: truncate(echo)}
	id := ""
	if s != nil {
		m = s.message
		if s.queued {
			c.addQueueEvent(
				protocol.QueueRemoved,
				protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedStarted},
			)
		}
	} else if again := c.resumePrevious(m.Text); again != nil {
		m, id = again.Message, again.Turn
	} else {
		m.MessageID = c.newID("m")
	}
	if id == "" {
		id = c.newID("t")
	}
	c.turn = &turn{
		id: id, message: m.MessageID, text: m.Text, first: c.log.State.Seq + 1, echoed: echo != "", started: c.Now,
		parts: map[string]bool{},
	}
	c.state.turn = c.turn
	c.addBy(protocol.MessageUser, m.By, protocol.MessageUserData{Message: m})
	c.add(protocol.TurnStarted, protocol.TurnStartedData{MessageID: m.MessageID, Agent: wire.Name})
	if s != nil {
		c.acceptSend(s, &protocol.SendResult{
			Status: protocol.SendStarted, MessageID: m.MessageID, Turn: c.turn.id, Seq: c.turn.first,
		})
	}
}

// joinTurn makes a message of the client part of the turn under way, whose request it aborted.
func (c *Conn) joinTurn(s *pendingSend) {
	c.turn.joinsAt = time.Time{}
	c.failExplanation(protocol.Errorf(protocol.CodeNotFound, "a message aborted the request"))
	c.cancelApprovals()
	c.closeParts("")
	c.turn.failure.err = nil // the turn continues
	c.addBy(protocol.Notice, c.User(), protocol.NoticeData{
		Level: protocol.LevelInfo, Message: truncate(c.Options.Name + ": " + wire.MessageText(&s.message)),
	})
	c.acceptSend(s, &protocol.SendResult{
		Status: protocol.SendStarted, MessageID: s.message.MessageID, Turn: c.turn.id, Seq: c.log.State.Seq,
	})
}

// joinWithoutEcho makes the oldest message that waits part of the turn under way: the server
// announced it, but does not echo it, or not yet.
func (c *Conn) joinWithoutEcho() {
	c.turn.joinsAt = time.Time{}
	if s := c.takeNextSend(); s != nil {
		c.turn.text, c.turn.echoed = s.message.Text, false
		c.joinTurn(s)
	}
}

// ensureTurn starts a turn if there is none: its start was missed.
func (c *Conn) ensureTurn() {
	if c.turn == nil {
		c.startTurn(c.takeNextSend(), "")
	}
}

// endTurn ends the turn.
func (c *Conn) endTurn() {
	c.confirmDecision()
	c.failExplanation(protocol.Errorf(protocol.CodeNotFound, "the turn ended"))
	t := c.turn
	d := protocol.TurnEndedData{Reason: protocol.ReasonCompleted}
	switch {
	case t.failure.err != nil:
		err := t.failure.err
		d.Reason, d.Code, d.Message, t.failure.held = protocol.ReasonError, err.Code, err.Message, ""
	case t.stopped:
		d.Reason = protocol.ReasonDenied
	}
	c.finishTurn(d)
}

// finishTurn ends the turn with its open parts, calls and requests.
func (c *Conn) finishTurn(d protocol.TurnEndedData) {
	t := c.turn
	c.releaseFailure()
	t.textBytes, t.callCount = math.MaxInt, math.MaxInt
	c.replayEarlier()
	c.cancelApprovals()
	c.closeParts("")
	for _, id := range slices.Clone(t.calls) {
		c.closeCall(id, protocol.ToolEndedData{Tool: id, Status: protocol.ToolUnknown})
	}
	d.DurationMS = max(0, c.Now.Sub(t.started).Milliseconds())
	c.add(protocol.TurnEnded, d)
	c.turn, c.state.turn = nil, nil
}

// closeParts ends the open parts except one.
func (c *Conn) closeParts(but string) {
	var open []string
	for id, isOpen := range c.turn.parts {
		if isOpen && id != but {
			open = append(open, id)
		}
	}
	slices.Sort(open)
	for _, id := range open {
		c.turn.parts[id] = false
		c.add(protocol.TextEnd, protocol.PartEndData{Part: id})
	}
	if len(c.turn.parts) > maxParts && but == "" {
		clear(c.turn.parts)
	}
}

func (c *Conn) closeCall(id string, d protocol.ToolEndedData) {
	same := func(open string) bool { return open == id }
	c.turn.calls = slices.DeleteFunc(c.turn.calls, same)
	c.turn.shellCalls = slices.DeleteFunc(c.turn.shellCalls, same)
	c.add(protocol.ToolEnded, d)
}
