package describe

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	return strings.TrimSpace(ui.OneLine(transcript.Clean(By(a.AskedBy))))
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
	format := func(level Level, format string, args ...any) (string, Level, bool) {
		return fmt.Sprintf(format, args...), level, true
	}
	switch typ {
	case protocol.ErrorRaised:
		d := remote.DecodeData[protocol.ErrorData](data)
		return format(LevelError, "✗ %s", errorText(d))
	case protocol.RetryScheduled:
		d := remote.DecodeData[protocol.RetryData](data)
		delay := ui.Duration(ui.Millis(d.DelayMS))
		return format(LevelWarning, "↻ retry %d of %d in %s: %s", d.Attempt, d.Limit, delay, d.Cause)
	case protocol.RecoveryStarted:
		d := remote.DecodeData[protocol.RecoveryData](data)
		return format(LevelWarning, "↻ recovery: %s%s", d.Action, ui.Prefixed(": ", d.Cause))
	case protocol.RecoverySucceeded:
		d := remote.DecodeData[protocol.RecoveryData](data)
		return format(LevelSuccess, "✓ recovered: %s", d.Action)
	case protocol.RecoveryFailed:
		d := remote.DecodeData[protocol.RecoveryData](data)
		return format(LevelError, "✗ recovery failed: %s%s", d.Action, ui.Prefixed(": ", d.Failure))
	case protocol.Notice:
		d := remote.DecodeData[protocol.NoticeData](data)
		if d.Level == protocol.LevelWarning {
			return format(LevelWarning, "! %s", d.Message)
		}
		return format(LevelInfo, "%s", d.Message)
	case protocol.ContextCompacted:
		d := remote.DecodeData[protocol.ContextCompactedData](data)
		return format(LevelInfo, "context compacted%s", ui.Prefixed(": ", Compaction(d, ui.Thousands)))
	case protocol.TextContent:
		d := remote.DecodeData[protocol.TextContentData](data)
		return format(LevelInfo, "%s", MessageContent(&d.Content))
	case protocol.StateExported:
		return format(LevelInfo, "state exported")
	case protocol.StateRestored:
		d := remote.DecodeData[protocol.StateRestoredData](data)
		return format(LevelInfo, "state restored from session %s", d.Session)
	case protocol.SessionClosed:
		d := remote.DecodeData[protocol.SessionClosedData](data)
		return format(LevelWarning, "the session was closed%s", ui.Prefixed(": ", d.Reason))
	case protocol.PlanStarted:
		d := remote.DecodeData[protocol.PlanStartedData](data)
		return format(LevelInfo, "planning%s", ui.Prefixed(": ", d.Question))
	case protocol.PlanUpdated:
		d := remote.DecodeData[protocol.PlanTasksData](data)
		return format(LevelInfo, "plan: %s", ui.Count(len(d.Tasks), "task"))
	case protocol.PlanCompleted:
		d := remote.DecodeData[protocol.PlanTasksData](data)
		return format(LevelInfo, "plan done: %s%s", ui.Count(len(d.Tasks), "task"), ui.Prefixed(": ", d.Summary))
	case protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed:
		d := remote.DecodeData[protocol.PlanErrorData](data)
		return format(LevelError, "plan %s%s", TypeSuffix(typ), ui.Prefixed(": ", d.Message))
	case protocol.TaskStarted, protocol.TaskCancelled, protocol.TaskRestarted, protocol.TaskProgress:
		d := remote.DecodeData[protocol.TaskData](data)
		return format(LevelInfo, "task %s %s%s", taskName(d), TypeSuffix(typ), ui.Prefixed(": ", d.Message))
	case protocol.TaskCompleted:
		d := remote.DecodeData[protocol.TaskData](data)
		return format(LevelSuccess, "✓ task %s%s", taskName(d), ui.Prefixed(": ", d.Result))
	case protocol.TaskFailed:
		d := remote.DecodeData[protocol.TaskData](data)
		return format(LevelError, "✗ task %s%s", taskName(d), ui.Prefixed(": ", d.Message))
	case protocol.AggregateStarted:
		d := remote.DecodeData[protocol.AggregateData](data)
		return format(LevelInfo, "putting %s together", ui.Count(d.Tasks, "result"))
	}
	return "", LevelInfo, false
}
