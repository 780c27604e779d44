package describe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// By returns " by NAME", or "" if the actor is not known.
func By(by *protocol.Actor) string {
	if by == nil || by.Name == "" {
		return ""
	}
	return " by " + by.Name
}

// maxAsker bounds the title of a sub-agent that asks, in characters.
const maxAsker = 60

// Asker returns "by NAME" for a request of a sub-agent, or one whose turn an agent asked for, or "" if
// a user did.
func Asker(a *protocol.Approval) string {
	by := By(a.AskedBy)
	if s := a.SubAgent; s != nil {
		by = "by the sub-agent " + Line(cmp.Or(s.Title, s.Session), maxAsker)
	}
	return strings.TrimSpace(transcript.CleanLine(by))
}

// Reason names the end of a turn, such as "max tokens".
func Reason(r protocol.Reason) string { return strings.ReplaceAll(string(r), "_", " ") }

// FailureHelp returns what a user can do after a failed turn, or "". open is the key that opens the
// session.
func FailureHelp(last *protocol.LastTurn, open string) string {
	switch last.Code {
	case protocol.CodeAgentAuth:
		return "log in: agentctl agents login"
	case protocol.CodeNoAgent:
		return "see which agents are ready: agentctl agents"
	case protocol.CodeLimited:
		return ""
	}
	if open == "" {
		return "/repeat gives the agent its message again"
	}
	return open + " opens it, /repeat gives the agent its message again"
}

// TypeSuffix returns the part of an event type after the dot.
func TypeSuffix(t protocol.Type) string {
	_, suffix, _ := strings.Cut(string(t), ".")
	return suffix
}

// Event describes an event in a line. ok is false for event types that have none. Raw events have
// none: users see them in the protocol log only.
func Event(typ protocol.Type, data json.RawMessage) (line protocol.Line, ok bool) {
	switch typ { // the row of the type has no words: sizes and times are in the forms of the screen
	case protocol.RetryScheduled:
		d := remote.DecodeData[protocol.RetryData](data)
		delay := format.Duration(format.Millis(d.DelayMS))
		text := fmt.Sprintf("retry %d of %d in %s: %s", d.Attempt, d.Limit, delay, d.Cause)
		return protocol.Line{Level: protocol.LevelWarning, Sign: "↻", Text: text}, true
	case protocol.ContextCompacted:
		d := remote.DecodeData[protocol.ContextCompactedData](data)
		text := "context compacted" + ui.Prefixed(": ", Compaction(d, format.Thousands))
		return protocol.Line{Level: protocol.LevelInfo, Text: text}, true
	case protocol.TextContent:
		d := remote.DecodeData[protocol.TextContentData](data)
		return protocol.Line{Level: protocol.LevelInfo, Text: MessageContent(&d.Content)}, true
	}
	return (&protocol.Event{Type: typ, Data: data}).Line()
}
