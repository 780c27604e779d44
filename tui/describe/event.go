package describe

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// By names who caused something, if anybody did.
func By(by *protocol.Actor) string {
	if by == nil || by.Name == "" {
		return ""
	}
	return " by " + by.Name
}

func errorText(d *protocol.ErrorData) string {
	s := d.Message
	if d.Code != "" {
		s += " (" + string(d.Code) + ")"
	}
	for _, field := range slices.Sorted(maps.Keys(d.Fields)) {
		s += "\n" + field + ": " + d.Fields[field]
	}
	return s
}

func taskName(d *protocol.TaskData) string {
	if d.Title != "" {
		return d.Title
	}
	return d.Task
}

// TypeSuffix is the word after the dot of a type.
func TypeSuffix(t protocol.Type) string {
	_, word, _ := strings.Cut(string(t), ".")
	return word
}

// Level says how an event is shown.
type Level uint8

// The levels.
const (
	LevelInfo Level = iota
	LevelSuccess
	LevelWarning
	LevelError
)

// Event returns an event in words. ok is false for events that are shown otherwise.
func Event(typ protocol.Type, data json.RawMessage) (text string, level Level, ok bool) {
	say := func(level Level, format string, args ...any) (string, Level, bool) {
		return fmt.Sprintf(format, args...), level, true
	}
	switch typ {
	case protocol.ErrorRaised:
		d := remote.DecodeData[protocol.ErrorData](data)
		return say(LevelError, "✗ %s", errorText(d))
	case protocol.RetryScheduled:
		d := remote.DecodeData[protocol.RetryData](data)
		return say(
			LevelWarning,
			"↻ retry %d of %d in %s: %s",
			d.Attempt,
			d.Limit,
			ui.Duration(ui.Millis(d.DelayMS)),
			d.Cause,
		)
	case protocol.RecoveryStarted:
		d := remote.DecodeData[protocol.RecoveryData](data)
		return say(LevelWarning, "↻ recovery: %s%s", d.Action, ui.Prefixed(": ", d.Cause))
	case protocol.RecoverySucceeded:
		d := remote.DecodeData[protocol.RecoveryData](data)
		return say(LevelSuccess, "✓ recovered: %s", d.Action)
	case protocol.RecoveryFailed:
		d := remote.DecodeData[protocol.RecoveryData](data)
		return say(LevelError, "✗ recovery failed: %s%s", d.Action, ui.Prefixed(": ", d.Failure))
	case protocol.Notice:
		d := remote.DecodeData[protocol.NoticeData](data)
		if d.Level == protocol.LevelWarning {
			return say(LevelWarning, "! %s", d.Message)
		}
		return say(LevelInfo, "%s", d.Message)
	case protocol.ContextCompacted:
		d := remote.DecodeData[protocol.ContextCompactedData](data)
		return say(LevelInfo, "context compacted: %s → %s tokens", ui.Thousands(d.Before), ui.Thousands(d.After))
	case protocol.StateExported:
		return say(LevelInfo, "state exported")
	case protocol.StateRestored:
		return say(
			LevelInfo,
			"state restored from session %s",
			remote.DecodeData[protocol.StateRestoredData](data).Session,
		)
	case protocol.Raw:
		d := remote.DecodeData[protocol.RawData](data)
		return say(LevelInfo, "%s message %s", d.Source, d.Method)
	case protocol.SessionClosed:
		return say(
			LevelWarning,
			"the session was closed%s",
			ui.Prefixed(": ", remote.DecodeData[protocol.SessionClosedData](data).Reason),
		)
	case protocol.PlanStarted:
		return say(
			LevelInfo,
			"planning%s",
			ui.Prefixed(": ", remote.DecodeData[protocol.PlanStartedData](data).Question),
		)
	case protocol.PlanUpdated:
		return say(LevelInfo, "plan: %s", ui.Count(len(remote.DecodeData[protocol.PlanTasksData](data).Tasks), "task"))
	case protocol.PlanCompleted:
		d := remote.DecodeData[protocol.PlanTasksData](data)
		return say(LevelInfo, "plan done: %s%s", ui.Count(len(d.Tasks), "task"), ui.Prefixed(": ", d.Summary))
	case protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed:
		d := remote.DecodeData[protocol.PlanErrorData](data)
		return say(LevelError, "plan %s%s", TypeSuffix(typ), ui.Prefixed(": ", d.Message))
	case protocol.TaskStarted, protocol.TaskCancelled, protocol.TaskRestarted, protocol.TaskProgress:
		d := remote.DecodeData[protocol.TaskData](data)
		return say(LevelInfo, "task %s %s%s", taskName(d), TypeSuffix(typ), ui.Prefixed(": ", d.Message))
	case protocol.TaskCompleted:
		d := remote.DecodeData[protocol.TaskData](data)
		return say(LevelSuccess, "✓ task %s%s", taskName(d), ui.Prefixed(": ", d.Result))
	case protocol.TaskFailed:
		d := remote.DecodeData[protocol.TaskData](data)
		return say(LevelError, "✗ task %s%s", taskName(d), ui.Prefixed(": ", d.Message))
	case protocol.AggregateStarted:
		return say(
			LevelInfo,
			"putting %s together",
			ui.Count(remote.DecodeData[protocol.AggregateData](data).Tasks, "result"),
		)
	}
	return "", LevelInfo, false
}
