package tui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
)

// byWhom names who caused something, if anybody did.
func byWhom(by *protocol.Actor) string {
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

func because(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func taskName(d *protocol.TaskData) string {
	if d.Title != "" {
		return d.Title
	}
	return d.Task
}

// last is the word after the dot of a type.
func last(t protocol.Type) string {
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
		d := decode[protocol.ErrorData](data)
		return say(LevelError, "✗ %s", errorText(d))
	case protocol.RetryScheduled:
		d := decode[protocol.RetryData](data)
		return say(LevelWarning, "↻ retry %d of %d in %s: %s", d.Attempt, d.Limit, Duration(Millis(d.DelayMS)), d.Cause)
	case protocol.RecoveryStarted:
		d := decode[protocol.RecoveryData](data)
		return say(LevelWarning, "↻ recovery: %s%s", d.Action, because(d.Cause))
	case protocol.RecoverySucceeded:
		d := decode[protocol.RecoveryData](data)
		return say(LevelSuccess, "✓ recovered: %s", d.Action)
	case protocol.RecoveryFailed:
		d := decode[protocol.RecoveryData](data)
		return say(LevelError, "✗ recovery failed: %s%s", d.Action, because(d.Failure))
	case protocol.Notice:
		d := decode[protocol.NoticeData](data)
		if d.Level == protocol.LevelWarning {
			return say(LevelWarning, "! %s", d.Message)
		}
		return say(LevelInfo, "%s", d.Message)
	case protocol.ContextCompacted:
		d := decode[protocol.ContextCompactedData](data)
		return say(LevelInfo, "context compacted: %s → %s tokens", Thousands(d.Before), Thousands(d.After))
	case protocol.StateExported:
		return say(LevelInfo, "state exported")
	case protocol.StateRestored:
		return say(LevelInfo, "state restored from session %s", decode[protocol.StateRestoredData](data).Session)
	case protocol.Raw:
		d := decode[protocol.RawData](data)
		return say(LevelInfo, "%s message %s", d.Source, d.Method)
	case protocol.SessionClosed:
		return say(LevelWarning, "the session was closed%s", because(decode[protocol.SessionClosedData](data).Reason))
	case protocol.PlanStarted:
		return say(LevelInfo, "planning%s", because(decode[protocol.PlanStartedData](data).Question))
	case protocol.PlanUpdated:
		return say(LevelInfo, "plan: %s", Count(len(decode[protocol.PlanTasksData](data).Tasks), "task"))
	case protocol.PlanCompleted:
		d := decode[protocol.PlanTasksData](data)
		return say(LevelInfo, "plan done: %s%s", Count(len(d.Tasks), "task"), because(d.Summary))
	case protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed:
		d := decode[protocol.PlanErrorData](data)
		return say(LevelError, "plan %s%s", last(typ), because(d.Message))
	case protocol.TaskStarted, protocol.TaskCancelled, protocol.TaskRestarted, protocol.TaskProgress:
		d := decode[protocol.TaskData](data)
		return say(LevelInfo, "task %s %s%s", taskName(d), last(typ), because(d.Message))
	case protocol.TaskCompleted:
		d := decode[protocol.TaskData](data)
		return say(LevelSuccess, "✓ task %s%s", taskName(d), because(d.Result))
	case protocol.TaskFailed:
		d := decode[protocol.TaskData](data)
		return say(LevelError, "✗ task %s%s", taskName(d), because(d.Message))
	case protocol.AggregateStarted:
		return say(LevelInfo, "putting %s together", Count(decode[protocol.AggregateData](data).Tasks, "result"))
	}
	return "", LevelInfo, false
}
