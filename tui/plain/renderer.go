package plain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

const (
	maxPartialLine = 16 << 10 // bytes of an unfinished line that are held back
	maxEndedTurns  = 4 * recentTurns
)

// renderer renders a session as lines. It keeps the session's state, to name the subject of a line.
type renderer struct {
	zone    *time.Location
	columns func() int // of the terminal, 0 if unknown; may be nil
	out     strings.Builder
	conn    remote.Conn
	state   *protocol.State

	caughtUp   bool
	away       describe.Away
	nameDue    bool           // the session's name was not written yet
	statusDue  bool           // the status is written after the catch-up
	parts      []*partBuffer  // open text parts, in the order they started
	tools      []*runningTool // in the order they started
	endedTurns []string       // last turns written, at most maxEndedTurns; newest last
	waits      protocol.Waits // of the turn
}

// partBuffer holds back the unfinished line of a text part, so that parts that grow at the same
// time are not mixed within a line.
type partBuffer struct {
	id      string
	name    string // of the agent
	cleaner transcript.Cleaner
	partial string
}

// newRenderer returns a renderer of an unknown session. It prints times in zone.
func newRenderer(zone *time.Location) *renderer {
	return &renderer{
		zone:  zone,
		conn:  remote.Conn{State: remote.Connecting},
		state: &protocol.State{},
	}
}

// date formats a date and time of day.
func (r *renderer) date(t time.Time) string { return t.In(r.zone).Format("2006-01-02 15:04") }

// flush writes the lines rendered since the last flush. w must report a failed write later, like
// bufio.Writer.
func (r *renderer) flush(w io.StringWriter) {
	_, _ = w.WriteString(r.out.String())
	r.out.Reset()
}

// done reports whether the session is closed and caught up.
func (r *renderer) done() bool { return r.caughtUp && r.state.Closed }

// linef writes one clean entry, unless it is empty. Its lines after the first are indented.
func (r *renderer) linef(format string, args ...any) {
	s := strings.TrimRight(transcript.Clean(fmt.Sprintf(format, args...)), "\n")
	if s != "" {
		r.out.WriteString(strings.ReplaceAll(s, "\n", "\n  ") + "\n")
	}
}

// update renders one update.
func (r *renderer) update(u remote.Update) {
	switch {
	case u.Conn != nil:
		r.setConn(*u.Conn)
	case u.Attached != nil:
		r.setSubscription(u.Attached)
	case u.Event != nil:
		r.applyEvent(u.Event)
	}
}

// writeHistory writes the events of turns not written yet. Events outside of turns are written only
// if no turn was.
func (r *renderer) writeHistory(page *protocol.HistoryResult) {
	written := slices.Clone(r.endedTurns)
	for e, err := range page.Decoded() {
		if err != nil || slices.Contains(written, e.Turn) {
			continue
		}
		if len(written) == 0 || e.Turn != "" {
			r.writeEvent(e)
		}
	}
}

// applyEvent applies a live event to the state and writes it.
func (r *renderer) applyEvent(e *protocol.Event) {
	if e.Type == protocol.CaughtUp {
		r.finishCatchUp()
	}
	if !e.Durable() {
		return
	}
	r.away.Apply(e)
	if err := r.state.Apply(e); err != nil {
		r.linef("%s", err)
		return
	}
	if e.Type == protocol.SessionCreated {
		r.writeSessionName()
	}
	r.writeEvent(e)
}

// writeEvent writes an event, live or of the history.
func (r *renderer) writeEvent(e *protocol.Event) {
	r.waits.Apply(e)
	switch e.Type {
	case protocol.MessageUser, protocol.MessageSteered:
		if e.Type == protocol.MessageUser {
			r.waits = protocol.Waits{}
		}
		d := remote.DecodeData[protocol.MessageUserData](e.Data)
		by := d.By
		if by == nil {
			by = e.By
		}
		into := ""
		if e.Type == protocol.MessageSteered {
			r.flushParts()
			into = ", into the turn"
		}
		// An empty message without sender marks a message that the dialect does not report.
		if d.Text != "" || len(d.Parts) > 0 || by != nil {
			r.linef("%s %s%s: %s", e.Time.In(r.zone).Format("15:04"), remote.ActorName(by), into, d.Label())
			for i := range d.Parts {
				r.linef("  %s", describe.Part(&d.Parts[i]))
			}
		}
	case protocol.TextStart:
		d := remote.DecodeData[protocol.PartStartData](e.Data)
		name := d.Agent
		if e.Parent != "" {
			name = cmp.Or(name, "agent") + " (nested)"
		}
		r.buffer(d.Part, name)
	case protocol.TextDelta:
		d := remote.DecodeData[protocol.PartDeltaData](e.Data)
		r.buffer(d.Part, "").append(r, d.Text)
	case protocol.TextEnd:
		r.endPart(remote.DecodeData[protocol.PartEndData](e.Data).Part)
	case protocol.TextContent:
		r.flushParts()
		d := remote.DecodeData[protocol.TextContentData](e.Data)
		r.linef("agent: %s", describe.MessageContent(&d.Content))
	case protocol.ReasoningEnd:
		r.linef("agent thought")
	case protocol.JoinedDeltas:
		for _, p := range remote.DecodeData[protocol.JoinedData](e.Data).Parts {
			switch p.Kind {
			case protocol.KindText:
				r.buffer(p.Part, "").append(r, p.Text)
			case protocol.KindInput:
				r.runningTool(p.Part).appendInput(p.Text)
			case protocol.KindOutput:
				tool := r.runningTool(p.Part)
				r.writeCall(tool)
				tool.output.Append(p.Text)
			}
		}
	case protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolEnded:
		r.writeTool(e)
	case protocol.ApprovalRequested:
		r.flushParts()
		r.writeCalls()
		r.writeApproval(remote.DecodeData[protocol.Approval](e.Data))
	case protocol.ApprovalExplained:
		d := remote.DecodeData[protocol.ApprovalExplainedData](e.Data)
		r.linef("approval %s explained: %s", d.Request, d.Text)
	case protocol.ApprovalResolved:
		d := remote.DecodeData[protocol.ApprovalResolvedData](e.Data)
		r.linef("approval %s: %s", d.Request, describe.Outcome(nil, d, e.By, e.Time.In(r.zone).Format(time.TimeOnly)))
	case protocol.TurnEnded:
		r.endTurn()
		r.endedTurns = append(r.endedTurns[max(0, len(r.endedTurns)-maxEndedTurns+1):], e.Turn)
		d := remote.DecodeData[protocol.TurnEndedData](e.Data)
		took := describe.Took(r.waits.Split(protocol.TurnPart{}, e.Time.Add(-format.Millis(d.DurationMS)), e.Time))
		reason := describe.Reason(d.Reason) + describe.By(e.By)
		if d.ResetsAt != nil {
			reason += ", resets " + r.date(*d.ResetsAt)
		}
		r.linef("turn %s after %s%s", reason, took, ui.Prefixed(": ", d.Message))
	case protocol.QueueAdded, protocol.QueueScheduled, protocol.QueueUpdated, protocol.QueueRemoved,
		protocol.QueueMoved, protocol.QueueHeld, protocol.QueueReleased:
		r.writeQueue(e)
	default:
		if line, ok := describe.Event(e.Type, e.Data); ok {
			r.linef("%s", line)
		}
	}
}

// writeQueue writes an event of the queue. The state has applied it already.
func (r *renderer) writeQueue(e *protocol.Event) {
	switch e.Type {
	case protocol.QueueAdded:
		d := remote.DecodeData[protocol.QueueAddedData](e.Data)
		place := ""
		if i := r.state.QueueIndex(d.MessageID); i >= 0 {
			place = " " + describe.Ordinal(i+1)
		}
		r.linef("queued%s: %s: %s", place, remote.ActorName(d.By), d.Text)
	case protocol.QueueScheduled:
		d := remote.DecodeData[protocol.QueueScheduledData](e.Data)
		at := e.Time
		if d.NotBefore != nil {
			at = *d.NotBefore
		}
		r.linef("scheduled for %s: %s: %s", r.date(at), remote.ActorName(d.By), d.Text)
	case protocol.QueueUpdated:
		d := remote.DecodeData[protocol.QueueUpdatedData](e.Data)
		r.linef("queued message edited by %s: %s", remote.ActorName(e.By), d.Text)
	case protocol.QueueRemoved:
		switch d := remote.DecodeData[protocol.QueueRemovedData](e.Data); d.Reason {
		case protocol.RemovedStarted, protocol.RemovedSteered: // its own event follows, or was before
		default:
			r.linef("queued message %s by %s", d.Reason, remote.ActorName(e.By))
		}
	case protocol.QueueMoved:
		d := remote.DecodeData[protocol.QueueMovedData](e.Data)
		into := ""
		if d.Delivery == protocol.DeliverSteer {
			into = ", into the turn,"
		}
		r.linef("queued message moved to %d%s by %s", d.Index+1, into, remote.ActorName(e.By))
	case protocol.QueueHeld:
		r.linef("queue %s", describe.Hold(remote.DecodeData[protocol.Hold](e.Data), r.date))
	case protocol.QueueReleased:
		r.linef("queue released")
	}
}

// buffer returns the buffer of a part, which it creates if necessary. An empty name keeps the old
// one.
func (r *renderer) buffer(id, name string) *partBuffer {
	i := r.partIndex(id)
	if i < 0 {
		i = len(r.parts)
		r.parts = append(r.parts, &partBuffer{id: id, name: "agent"})
	}
	b := r.parts[i]
	b.name = cmp.Or(name, b.name)
	return b
}

// partIndex returns the index of an open part, or -1.
func (r *renderer) partIndex(id string) int {
	return slices.IndexFunc(r.parts, func(b *partBuffer) bool { return b.id == id })
}

// append adds text and writes the lines that it completes. It splits lines longer than
// maxPartialLine.
func (b *partBuffer) append(r *renderer, text string) {
	b.partial += b.cleaner.Clean(text)
	for {
		line, rest, complete := strings.Cut(b.partial, "\n")
		if !complete {
			break
		}
		b.writeLine(r, line)
		b.partial = rest
	}
	if len(b.partial) > maxPartialLine {
		b.writeLine(r, b.partial)
		b.partial = ""
	}
}

// writeLine writes a line of the part, unless it is blank.
func (b *partBuffer) writeLine(r *renderer, line string) {
	if strings.TrimSpace(line) != "" {
		r.linef("%s: %s", b.name, line)
	}
}

// endPart writes the rest of a part and removes it.
func (r *renderer) endPart(id string) {
	if i := r.partIndex(id); i >= 0 {
		r.parts[i].writeLine(r, r.parts[i].partial)
		r.parts = slices.Delete(r.parts, i, i+1)
	}
}

// flushParts writes the unfinished lines of all open parts.
func (r *renderer) flushParts() {
	for _, b := range r.parts {
		b.writeLine(r, b.partial)
		b.partial = ""
	}
}

// endTurn ends all open parts and tool calls.
func (r *renderer) endTurn() {
	r.flushParts()
	r.parts = nil
	r.writeCalls()
	r.tools = nil
}
