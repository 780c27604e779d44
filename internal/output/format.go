package output

import (
	"fmt"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
)

// OneLine returns untrusted text as one line of at most width runes, or of any length if width is
// 0.
func OneLine(s string, width int) string {
	return format.Words(transcript.Clean(s), width)
}

// Cell returns untrusted text as the cell of a table; "-" if it is empty.
func Cell(s string, width int) string {
	if s = OneLine(s, width); s == "" {
		return "-"
	}
	return s
}

// Actor returns the name of the user who did something; "-" if it is not known.
func Actor(a *protocol.Actor) string {
	if a == nil || a.Name == "" {
		return "-"
	}
	return OneLine(a.Name, 40)
}

// Session returns the name of a session, or its id if it has none.
func Session(s *protocol.State) string {
	if s.Name != "" {
		return OneLine(s.Name, 0)
	}
	return s.Session
}

// maxAction is the number of characters of a request in a line of other things.
const maxAction = 400

// Approval returns a request as a line. Control characters in it are shown, not removed: the user
// decides by this line. It states how much it leaves out.
func Approval(a *protocol.Approval) string {
	asker := ""
	switch {
	case a.SubAgent != nil:
		asker = "  asked " + describe.Asker(a)
	case a.AskedBy != nil:
		asker = "  asked by " + Actor(a.AskedBy)
	}
	refused := ""
	if a.Refused != "" {
		refused = "  refused: " + describe.Line(a.Refused, maxAction)
	}
	return fmt.Sprintf("%s  %s%s%s  %s", describe.Line(a.Request, maxAction), describe.Line(a.Kind, 40), asker, refused,
		describe.Action(a, maxAction))
}

// Decision returns how a request ended, as a line.
func Decision(a *protocol.Approval, r *protocol.ApprovalResolvedData, by *protocol.Actor) string {
	when := ""
	if r.At != nil {
		when = r.At.UTC().Format(time.DateTime)
	}
	return describe.Line(describe.Outcome(a, r, by, when), 0)
}

// Queued returns a line about the i-th queued message.
func Queued(i int, m *protocol.Message) string {
	steer := ""
	if m.Delivery == protocol.DeliverSteer {
		steer = "into the turn: "
	}
	return fmt.Sprintf("%d  %s  %s  %s%s", i, m.MessageID, Actor(m.By), steer, OneLine(m.Text, 72))
}

// Scheduled returns a line about a scheduled message.
func Scheduled(m *protocol.Message) string {
	due := ""
	if m.NotBefore != nil {
		due = LocalTime(*m.NotBefore)
	}
	return fmt.Sprintf("%s  %s  %s  %s", due, m.MessageID, Actor(m.By), OneLine(m.Text, 72))
}

// LocalTime formats a time for a user of this machine.
func LocalTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
