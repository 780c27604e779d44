package describe

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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

// Asker returns "by NAME" for a request whose turn an agent asked for, or "" if a user did.
func Asker(a *protocol.Approval) string {
	return strings.TrimSpace(format.JoinLines(transcript.Clean(By(a.AskedBy))))
}

// Reason names the end of a turn, such as "max tokens".
func Reason(r protocol.Reason) string { return strings.ReplaceAll(string(r), "_", " ") }

// errorText returns the message of an error, or else its code in words, and its fields.
func errorText(d *protocol.ErrorData) string {
	s := d.Message
	if s == "" {
		s = strings.ReplaceAll(string(d.Code), "_", " ")
	}
	for _, field := range slices.Sorted(maps.Keys(d.Fields)) {
		s += "\n" + field + ": " + d.Fields[field]
	}
	return s
}

// taskName returns the title of a task, or its id.
func taskName(d *protocol.TaskData) string {
	if d.Title != "" {
		return d.Title
	}
	return d.Task
}

// TypeSuffix returns the part of an event type after the dot.
func TypeSuffix(t protocol.Type) string {
	_, suffix, _ := strings.Cut(string(t), ".")
	return suffix
}

// Level is the severity of an event, which selects its style.
type Level uint8

// The levels, by increasing severity.
const (
	LevelInfo Level = iota
	LevelSuccess
	LevelWarning
	LevelError
)

// Event describes an event. ok is false for event types that have no description. Raw events have
// none: users see them in the protocol log only.
func Event(typ protocol.Type, data json.RawMessage) (text string, level Level, ok bool) {
	line := func(level Level, text string, args ...any) (string, Level, bool) {
		return fmt.Sprintf(text, args...), level, true
	}
	switch typ {
	case protocol.ErrorRaised:
		d := remote.DecodeData[protocol.ErrorData](data)
		return line(LevelError, "✗ %s", errorText(d))
	case protocol.RetryScheduled:
		d := remote.DecodeData[protocol.RetryData](data)
		delay := format.Duration(format.Millis(d.DelayMS))
		return line(LevelWarning, "↻ retry %d of %d in %s: %s", d.Attempt, d.Limit, delay, d.Cause)
	case protocol.RecoveryStarted:
		d := remote.DecodeData[protocol.RecoveryData](data)
		return line(LevelWarning, "↻ recovery: %s%s", d.Action, ui.Prefixed(": ", d.Cause))
	case protocol.RecoverySucceeded:
		d := remote.DecodeData[protocol.RecoveryData](data)
		return line(LevelSuccess, "✓ recovered: %s", d.Action)
	case protocol.RecoveryFailed:
		d := remote.DecodeData[protocol.RecoveryData](data)
		return line(LevelError, "✗ recovery failed: %s%s", d.Action, ui.Prefixed(": ", d.Failure))
	case protocol.Notice:
		d := remote.DecodeData[protocol.NoticeData](data)
		if d.Level == protocol.LevelWarning {
			return line(LevelWarning, "! %s", d.Message)
		}
		return line(LevelInfo, "%s", d.Message)
	case protocol.ContextCompacted:
		d := remote.DecodeData[protocol.ContextCompactedData](data)
		return line(LevelInfo, "context compacted%s", ui.Prefixed(": ", Compaction(d, format.Thousands)))
	case protocol.TextContent:
		d := remote.DecodeData[protocol.TextContentData](data)
		return line(LevelInfo, "%s", MessageContent(&d.Content))
	case protocol.StateExported:
		return line(LevelInfo, "state exported")
	case protocol.StateRestored:
		d := remote.DecodeData[protocol.StateRestoredData](data)
		return line(LevelInfo, "state restored from session %s", d.Session)
	case protocol.SessionClosed:
		d := remote.DecodeData[protocol.SessionClosedData](data)
		return line(LevelWarning, "the session was closed%s", ui.Prefixed(": ", d.Reason))
	case protocol.PlanStarted:
		d := remote.DecodeData[protocol.PlanStartedData](data)
		return line(LevelInfo, "planning%s", ui.Prefixed(": ", d.Question))
	case protocol.PlanUpdated:
		d := remote.DecodeData[protocol.PlanTasksData](data)
		return line(LevelInfo, "plan: %s", format.Count(len(d.Tasks), "task"))
	case protocol.PlanCompleted:
		d := remote.DecodeData[protocol.PlanTasksData](data)
		return line(LevelInfo, "plan done: %s%s", format.Count(len(d.Tasks), "task"), ui.Prefixed(": ", d.Summary))
	case protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed:
		d := remote.DecodeData[protocol.PlanErrorData](data)
		return line(LevelError, "plan %s%s", TypeSuffix(typ), ui.Prefixed(": ", d.Message))
	case protocol.TaskStarted, protocol.TaskCancelled, protocol.TaskRestarted, protocol.TaskProgress:
		d := remote.DecodeData[protocol.TaskData](data)
		return line(LevelInfo, "task %s %s%s", taskName(d), TypeSuffix(typ), ui.Prefixed(": ", d.Message))
	case protocol.TaskCompleted:
		d := remote.DecodeData[protocol.TaskData](data)
		return line(LevelSuccess, "✓ task %s%s", taskName(d), ui.Prefixed(": ", d.Result))
	case protocol.TaskFailed:
		d := remote.DecodeData[protocol.TaskData](data)
		return line(LevelError, "✗ task %s%s", taskName(d), ui.Prefixed(": ", d.Message))
	case protocol.AggregateStarted:
		d := remote.DecodeData[protocol.AggregateData](data)
		return line(LevelInfo, "putting %s together", format.Count(d.Tasks, "result"))
	}
	return "", LevelInfo, false
}
