package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/export"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A Tracker follows one message from its acceptance to the end of its turn. It reads the log
// from the event that accepted the message, so it does not matter how much has happened since.
type Tracker struct {
	CLI     *verb.Context
	current func() (*protocol.State, error) // requests the session's current state
	Message string                          // "": the message of the turn
	Turn    string                          // "" until the turn starts
	Print   bool                            // print the answer as it arrives

	Decide func(*protocol.State) error // decides pending requests; nil: they end the tracking

	Continues    bool // follow a session that continues after a usage limit
	FailOnDenied bool // a completed turn with a denial is an error

	MustExist bool // otherwise a dialect may answer before it sends the message's events

	transcript protocol.Transcript // of the turn

	ephemeral    bool            // the turn ends with the connection
	unknownStart bool            // the position of the message in the log is not known
	state        *protocol.State // after a reset, until caught up; else nil
	live         bool            // caught up
	out          io.Writer
	part         string // last one printed
	midLine      bool
}

// Track returns when the turn has ended, or when it cannot continue without a person; the error
// says which. seq is the seq of the event that accepted the message, or 0 if it is not known.
func (t *Tracker) Track(c *connection.Conn, session string, seq uint64) error {
	t.out, t.ephemeral = t.CLI.Out.Text(), c.Ephemeral()
	t.current = func() (*protocol.State, error) {
		r, err := c.Snapshot(session)
		if err != nil {
			return nil, err
		}
		return r.Snapshot.State, nil
	}
	since := &protocol.Position{}
	if t.unknownStart = seq == 0; !t.unknownStart {
		since.Seq = seq - 1
	}
	sub := c.Subscribe(session, wsclient.SubscribeOptions{Since: since})
	defer sub.Close()
	for item, err := range sub.Events(c.Context()) {
		if err != nil {
			return c.Cause(err)
		}
		if item.Attached != nil && item.Attached.Session != "" {
			session = item.Attached.Session // not its name
		}
		end, err := t.apply(&item)
		if err != nil || end != nil {
			t.endLine()
			if err == nil {
				err = t.report(c, session, end)
			}
			return err
		}
	}
	return c.Cause(fmt.Errorf("follow %s: %w", cmp.Or(t.Message, t.Turn), context.Cause(c.Context())))
}

// report prints the outcome of the turn in JSON and returns the error of the turn's end.
func (t *Tracker) report(c *connection.Conn, session string, end *protocol.TurnEndedData) error {
	o := newOutcome(&t.transcript, end)
	o.Session, o.MessageID, o.Turn = session, cmp.Or(t.Message, o.MessageID), cmp.Or(o.Turn, t.Turn)
	if t.transcript.Current() == nil && t.FailOnDenied { // the log was replaced
		var err error
		if o.Denied, err = DeniedIn(c, session, o.Turn); err != nil {
			return err
		}
	}
	if t.CLI.Out.JSON {
		if err := t.CLI.Out.PrintJSON(&o); err != nil {
			return err
		}
	}
	return Result(t.CLI.Out, end, o.Denied, t.FailOnDenied)
}

// apply handles one item. It returns the end of the turn once the turn has ended.
func (t *Tracker) apply(item *wsclient.Item) (*protocol.TurnEndedData, error) {
	if at := item.Attached; at != nil {
		if at.Mode == protocol.ModeReset && at.Snapshot != nil {
			t.state, t.live = at.Snapshot.State, false
		}
		return nil, nil
	}
	e := item.Event
	if t.state != nil {
		if end, err := t.applyReplayed(e); err != nil || end != nil {
			return end, err
		}
	}
	end, err := t.applyEvent(e, item.Raw)
	if err != nil || end != nil {
		return end, err
	}
	if e.Type == protocol.CaughtUp {
		t.live = true
	}
	if t.live && (mayBlock(e.Type) || t.queues(e)) {
		return nil, t.checkBlocked()
	}
	return nil, nil
}

// applyReplayed applies an event of a replaced log to t.state. When caught up it looks for the
// message in the state.
func (t *Tracker) applyReplayed(e *protocol.Event) (*protocol.TurnEndedData, error) {
	if e.Type != protocol.CaughtUp {
		return nil, t.state.Apply(e)
	}
	s, unknownStart := t.state, t.unknownStart
	t.state, t.unknownStart = nil, false
	switch {
	case s.QueueIndex(t.Message) >= 0, s.Turn.Has(t.Message):
		return nil, nil
	case t.Turn != "" && s.Last != nil && s.Last.Turn == t.Turn:
		return &protocol.TurnEndedData{Reason: s.Last.Reason, Code: s.Last.Code, Message: s.Last.Message}, nil
	case unknownStart: // a dialect may answer before it sends the message's events
		return nil, nil
	}
	err := fmt.Errorf("the session's log was replaced, the state of message %s is unknown", t.Message)
	return nil, exit.From(err).WithHint("see agentctl history %s", output.Session(s)).Needs(protocol.DoHistory)
}

// applyEvent handles one event of the log.
func (t *Tracker) applyEvent(e *protocol.Event, raw []byte) (*protocol.TurnEndedData, error) {
	switch {
	case e.Type == protocol.MessageUser && t.Turn == "":
		var d protocol.MessageUserData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		if d.MessageID == t.Message {
			t.Turn = e.Turn
		}
	case e.Type == protocol.MessageSteered && t.Turn == "":
		var d protocol.MessageSteeredData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		if d.MessageID == t.Message { // what follows is the answer to it
			t.Turn = e.Turn
			t.transcript = protocol.Transcript{Turns: []*protocol.Turn{{
				Turn: e.Turn, First: e.Seq, Message: d.Message, Started: e.Time,
			}}}
			return nil, nil
		}
	case e.Type == protocol.MessageResolved && t.Turn == e.Turn:
		var d protocol.MessageResolvedData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		if d.MessageID == t.Message && d.Outcome == protocol.SteerRefused { // it starts a turn later
			t.Turn, t.transcript = "", protocol.Transcript{}
			t.endLine()
			line, _ := e.Line()
			t.CLI.Out.Notef("%s", output.OneLine(line.Text, 300))
			return nil, nil
		}
	case e.Type == protocol.QueueRemoved && t.Turn == "":
		var d protocol.QueueRemovedData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		if d.MessageID == t.Message && d.Reason != protocol.RemovedStarted {
			return nil, exit.Errorf(exit.Interrupted, exit.CodeInterrupted,
				"the message was removed from the queue by %s (%s)",
				output.Actor(e.By), d.Reason)
		}
	case e.Type == protocol.SessionClosed:
		return nil, protocol.Errorf(protocol.CodeSessionClosed, "the session was closed")
	}
	if t.Turn == "" || e.Turn != t.Turn || !e.Durable() {
		return nil, nil
	}
	if _, err := t.transcript.Apply(e); err != nil {
		return nil, err
	}
	if err := t.printEvent(e, raw); err != nil {
		return nil, err
	}
	if e.Type != protocol.TurnEnded {
		return nil, nil
	}
	end := &protocol.TurnEndedData{}
	if err := e.Decode(end); err != nil {
		return nil, err
	}
	if follows, err := t.follows(end); follows || err != nil {
		return nil, err
	}
	return end, nil
}

// queues reports whether an event queues the message. A dialect may send it after its answer.
func (t *Tracker) queues(e *protocol.Event) bool {
	var d protocol.QueueAddedData
	return e.Type == protocol.QueueAdded && e.Decode(&d) == nil && d.MessageID == t.Message
}

// mayBlock reports whether the message may be blocked after an event of that type.
func mayBlock(t protocol.Type) bool {
	switch t {
	case protocol.CaughtUp, protocol.MessageResolved, protocol.ApprovalRequested, protocol.QueueHeld, protocol.QueueMoved, protocol.QueueRemoved,
		protocol.TurnEnded:
		return true
	}
	return false
}

// checkBlocked returns an error if the message cannot continue without a person. It requests the
// current state, because the event that it handles may be out of date.
func (t *Tracker) checkBlocked() error {
	s, err := t.current()
	if protocol.CodeOf(err) == protocol.CodeShuttingDown {
		return nil // asked again at the next server, when caught up
	}
	if err != nil {
		return err
	}
	running := s.Turn != nil && (s.Turn.Turn == t.Turn || s.Turn.Has(t.Message))
	if !running && s.QueueIndex(t.Message) < 0 {
		if t.MustExist && t.transcript.Current() == nil {
			return protocol.Errorf(protocol.CodeNotFound, "there is no such message or turn: %s",
				cmp.Or(t.Message, t.Turn))
		}
		return nil // its turn has ended: the event will follow
	}
	if len(s.Approvals) > 0 && t.Decide != nil {
		t.endLine()
		return t.Decide(s)
	}
	if len(s.Approvals) > 0 && decidesInTime(s) {
		return nil
	}
	if len(s.Approvals) > 0 {
		e := ApprovalNeeded(s)
		if t.ephemeral {
			e = e.WithHint("the turn ends with this command: send it in agentctl attach %s, and decide there",
				t.CLI.Call.Session)
		}
		return e
	}
	if h := s.BlockingHold(); h != nil && h.Until == nil && !running {
		return QueueHeld(s, h)
	}
	return nil
}

// printEvent prints an event of the turn: in JSON the event, else only the text of the answer.
func (t *Tracker) printEvent(e *protocol.Event, raw []byte) error {
	if !t.Print {
		return nil
	}
	if t.CLI.Out.JSON {
		return t.CLI.Out.PrintLine(raw)
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
		return t.printText(d.Part, d.Text)
	case protocol.RetryScheduled:
		var d protocol.RetryData
		if err := e.Decode(&d); err != nil {
			return err
		}
		if delay := time.Duration(d.DelayMS) * time.Millisecond; !t.midLine {
			t.CLI.Out.Notef("retry %d of %d in %s: %s", d.Attempt, d.Limit, delay.Round(100*time.Millisecond),
				output.OneLine(d.Cause, 300))
		}
	case protocol.JoinedDeltas:
		var d protocol.JoinedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		for _, p := range d.Parts {
			if p.Kind != protocol.KindText || p.Task != "" || p.Parent != "" {
				continue
			}
			if err := t.printText(p.Part, p.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// printText prints text of a part. Each part begins on a new line.
func (t *Tracker) printText(part, text string) error {
	if part != t.part {
		t.endLine()
		t.part = part
	}
	if text == "" {
		return nil
	}
	t.midLine = text[len(text)-1] != '\n'
	_, err := io.WriteString(t.out, text)
	return output.WriteError(err)
}

func (t *Tracker) endLine() {
	if t.midLine {
		fmt.Fprintln(t.out)
		t.midLine = false
	}
}

// newOutcome returns the outcome of a turn from its transcript, which may be empty: the log was
// replaced.
func newOutcome(t *protocol.Transcript, end *protocol.TurnEndedData) protocol.TurnOutcome {
	turn := t.Current()
	o := protocol.NewTurnOutcome("", turn, end)
	if turn != nil {
		o.Files = export.ChangedFiles(turn.Items)
	}
	return o
}

// follows reports whether the session continues automatically after a usage limit ended the turn.
// The tracker then follows the message with which it continues.
func (t *Tracker) follows(end *protocol.TurnEndedData) (bool, error) {
	if !t.Continues || end.Reason != protocol.ReasonLimited {
		return false, nil
	}
	s, err := t.current()
	if err != nil {
		return false, err
	}
	h := s.LimitHold()
	if h == nil || h.Until == nil {
		return false, nil
	}
	t.endLine()
	t.CLI.Out.Notef("%s; the session continues %s", failure(end), output.LocalTime(*h.Until))
	t.Message, t.Turn, t.transcript = h.MessageID, "", protocol.Transcript{}
	return true, nil
}

// TrackUntilInterrupted is track until a signal or --timeout ends the waiting. Then the error says
// that the turn continues, and how to come back.
func (t *Tracker) TrackUntilInterrupted(c *connection.Conn, session string, seq uint64) error {
	ctx, stop := verb.NotifySignal(c.Context(), os.Interrupt)
	unhook := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), verb.ErrSignalled) {
			c.Abort(verb.ErrSignalled)
		}
	})
	err := t.Track(c, session, seq)
	unhook()
	var e, result *exit.Error
	switch signalled := stop(); {
	case signalled != nil && !errors.As(signalled, &e):
		return signalled
	case signalled != nil:
	case err == nil || errors.As(err, &result) || !errors.Is(context.Cause(c.Context()), exit.ErrTimeout):
		return err
	default:
		e = exit.Errorf(exit.Timeout, protocol.CodeTimeout, "%w", exit.ErrTimeout)
	}
	if c.Ephemeral() {
		return e
	}
	again := "--turn " + t.Turn
	if t.Message != "" {
		again = "--message " + t.Message
	}
	return e.WithHint("the turn continues; agentctl wait %[1]s %[2]s, or agentctl attach %[1]s", session, again)
}
