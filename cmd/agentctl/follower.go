package main

import (
	"context"
	"fmt"
	"io"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A follower follows one message from its acceptance to the end of its turn. It reads the log from where the message was accepted,
// so that it makes no difference how much of it has happened by then.
type follower struct {
	app     *app
	now     func() (*protocol.State, error) // asks for the session's state
	message string
	turn    string // "" until it starts
	show    bool   // print the answer as it comes

	afresh  bool            // where it is in the log is not known, nor what the log holds
	state   *protocol.State // after a reset, until caught up
	live    bool
	out     io.Writer
	part    string // printed last
	midLine bool
}

// follow returns when the turn ended, or nothing happens without a person; the error says which. seq is that of the event that
// tells what became of the message.
func (f *follower) follow(l *link, session string, seq uint64) error {
	f.out = f.app.text()
	f.now = func() (*protocol.State, error) {
		r, err := l.snapshot(session)
		if err != nil {
			return nil, err
		}
		return r.Snapshot.State, nil
	}
	since := &protocol.Position{}
	if f.afresh = seq == 0; !f.afresh {
		since.Seq = seq - 1
	}
	sub := l.Subscribe(session, wsclient.SubscribeOptions{Since: since})
	defer sub.Close()
	for item, err := range sub.Events(l.ctx) {
		if err != nil {
			return l.reason(err)
		}
		end, err := f.step(&item)
		if err != nil || end != nil {
			f.endLine()
			if err == nil {
				err = turnFault(end)
			}
			return err
		}
	}
	return l.reason(fmt.Errorf("follow %s: %w", f.message, context.Cause(l.ctx)))
}

// step takes one item in and returns how the turn ended, once it has.
func (f *follower) step(item *wsclient.Item) (*protocol.TurnEndedData, error) {
	if at := item.Attached; at != nil {
		if at.Mode == protocol.ModeReset && at.Snapshot != nil {
			f.state, f.live = at.Snapshot.State, false
		}
		return nil, nil
	}
	e := item.Event
	if f.state != nil {
		if end, err := f.replayed(e); err != nil || end != nil {
			return end, err
		}
	}
	end, err := f.event(e, item.Raw)
	if err != nil || end != nil {
		return end, err
	}
	if e.Type == protocol.CaughtUp {
		f.live = true
	}
	if f.live && (concernsPeople(e.Type) || f.queues(e)) {
		return nil, f.needsPerson()
	}
	return nil, nil
}

// replayed folds what a log holds that is not the one that was followed, to see what became of the message in it.
func (f *follower) replayed(e *protocol.Event) (*protocol.TurnEndedData, error) {
	if e.Type != protocol.CaughtUp {
		return nil, f.state.Apply(e)
	}
	s, afresh := f.state, f.afresh
	f.state, f.afresh = nil, false
	switch {
	case s.QueueIndex(f.message) >= 0, s.Turn != nil && s.Turn.Message.MessageID == f.message:
		return nil, nil
	case f.turn != "" && s.Last != nil && s.Last.Turn == f.turn:
		return &protocol.TurnEndedData{Reason: s.Last.Reason, Code: s.Last.Code, Message: s.Last.Message}, nil
	case afresh: // it comes yet: a dialect may answer before it tells
		return nil, nil
	}
	return nil, fmt.Errorf("the session's log was replaced; what became of message %s is not known: see agentctl history %s", f.message, name(s))
}

// event looks at one event of the log.
func (f *follower) event(e *protocol.Event, raw []byte) (*protocol.TurnEndedData, error) {
	switch {
	case e.Type == protocol.MessageUser && f.turn == "":
		var d protocol.MessageUserData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		if d.MessageID == f.message {
			f.turn = e.Turn
		}
	case e.Type == protocol.QueueRemoved && f.turn == "":
		var d protocol.QueueRemovedData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		if d.MessageID == f.message && d.Reason != protocol.RemovedStarted {
			return nil, faultf(exitInterrupted, codeInterrupted, "the message was taken out of the queue by %s (%s)", actor(e.By), d.Reason)
		}
	case e.Type == protocol.SessionClosed:
		return nil, protocol.Errorf(protocol.CodeSessionClosed, "the session was closed")
	}
	if f.turn == "" || e.Turn != f.turn || !e.Durable() {
		return nil, nil
	}
	if err := f.print(e, raw); err != nil {
		return nil, err
	}
	if e.Type != protocol.TurnEnded {
		return nil, nil
	}
	end := &protocol.TurnEndedData{}
	return end, e.Decode(end)
}

// queues reports whether an event puts the message into the queue: a dialect may tell that after it answered.
func (f *follower) queues(e *protocol.Event) bool {
	var d protocol.QueueAddedData
	return e.Type == protocol.QueueAdded && e.Decode(&d) == nil && d.MessageID == f.message
}

// concernsPeople tells the events after which it may take a person, and the moment when that is first looked at.
func concernsPeople(t protocol.Type) bool {
	switch t {
	case protocol.CaughtUp, protocol.ApprovalRequested, protocol.QueueHeld, protocol.QueueMoved, protocol.QueueRemoved, protocol.TurnEnded:
		return true
	}
	return false
}

// needsPerson asks for the state of now: what the log tells may have been decided meanwhile.
func (f *follower) needsPerson() error {
	s, err := f.now()
	if err != nil {
		return err
	}
	ours := s.Turn != nil && s.Turn.Message.MessageID == f.message
	if !ours && s.QueueIndex(f.message) < 0 {
		return nil // its turn is over: the log will tell
	}
	if len(s.Approvals) > 0 {
		return approvalFault(s)
	}
	if h := s.BlockingHold(); h != nil && !ours {
		return heldFault(s, h)
	}
	return nil
}

// print shows the answer: as events, or its text alone.
func (f *follower) print(e *protocol.Event, raw []byte) error {
	if !f.show {
		return nil
	}
	if f.app.json() {
		return f.app.emitLine(raw)
	}
	if e.Task != "" || e.Parent != "" {
		return nil
	}
	switch e.Type {
	case protocol.TextDelta:
		var d protocol.PartDeltaData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return f.text(d.Part, d.Text)
	case protocol.JoinedDeltas:
		var d protocol.JoinedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		for _, p := range d.Parts {
			if p.Kind != protocol.KindText || p.Task != "" || p.Parent != "" {
				continue
			}
			if err := f.text(p.Part, p.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// text prints a piece of a part; a new part begins a new line.
func (f *follower) text(part, text string) error {
	if part != f.part {
		f.endLine()
		f.part = part
	}
	if text == "" {
		return nil
	}
	f.midLine = text[len(text)-1] != '\n'
	_, err := io.WriteString(f.out, text)
	return wrapOutput(err)
}

func (f *follower) endLine() {
	if f.midLine {
		fmt.Fprintln(f.out)
		f.midLine = false
	}
}
