package wire

import (
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// NoticeText returns a line for an event that has no message type; empty: nothing of use to a
// client.
func NoticeText(e *protocol.Event) string {
	switch e.Type {
	case protocol.Notice:
		d := codec.DecodeEvent[protocol.NoticeData](e)
		if d.Level == protocol.LevelWarning {
			return WarningSign + d.Message
		}
		return d.Message
	case protocol.RetryScheduled:
		d := codec.DecodeEvent[protocol.RetryData](e)
		return WarningSign + fmt.Sprintf("%s; trying again (%d of %d)", d.Cause, d.Attempt, d.Limit)
	case protocol.RecoveryStarted:
		d := codec.DecodeEvent[protocol.RecoveryData](e)
		return WarningSign + fmt.Sprintf("%s: %s", d.Cause, d.Action)
	case protocol.RecoverySucceeded:
		return "Recovered: " + codec.DecodeEvent[protocol.RecoveryData](e).Action
	case protocol.RecoveryFailed:
		d := codec.DecodeEvent[protocol.RecoveryData](e)
		return WarningSign + fmt.Sprintf("not recovered: %s: %s", d.Action, d.Failure)
	case protocol.TextContent:
		return "[" + codec.DecodeEvent[protocol.TextContentData](e).Content.Label() + "]"
	case protocol.PlanStarted:
		return "Planning: " + codec.DecodeEvent[protocol.PlanStartedData](e).Question
	case protocol.PlanCompleted:
		return planText(codec.DecodeEvent[protocol.PlanTasksData](e))
	case protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed:
		_, how, _ := strings.Cut(string(e.Type), ".")
		return "Plan " + how + ": " + codec.DecodeEvent[protocol.PlanErrorData](e).Message
	case protocol.TaskStarted, protocol.TaskProgress, protocol.TaskCompleted, protocol.TaskFailed,
		protocol.TaskCancelled, protocol.TaskRestarted:
		return taskText(e.Type, codec.DecodeEvent[protocol.TaskData](e))
	case protocol.AggregateStarted:
		return "Putting the results together."
	case protocol.SessionClosed:
		return "The session was closed."
	}
	if line, ok := e.Line(); ok && protocol.OutsideOfTurns(e.Type, "") {
		return line.Text
	}
	return ""
}

func planText(d *protocol.PlanTasksData) string {
	var b strings.Builder
	b.WriteString("Plan")
	if d.Summary != "" {
		b.WriteString(": " + d.Summary)
	}
	for _, t := range d.Tasks {
		b.WriteString("\n" + t.ID + ". " + t.Title)
	}
	return b.String()
}

func taskText(typ protocol.Type, d *protocol.TaskData) string {
	_, how, _ := strings.Cut(string(typ), ".")
	line := "Task " + d.Task + " " + how
	for _, words := range []string{d.Title, d.Message, d.Result} {
		if words != "" {
			return line + ": " + words
		}
	}
	return line
}
