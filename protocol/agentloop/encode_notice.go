package agentloop

import (
	"fmt"
	"strings"

	"agentctl/protocol"
)

// noticeText returns a line for an event without a message of its own; empty: nothing of use to a
// client.
func noticeText(e *protocol.Event) string {
	switch e.Type {
	case protocol.Notice:
		d := decodeData[protocol.NoticeData](e)
		if d.Level == protocol.LevelWarning {
			return warningSign + d.Message
		}
		return d.Message
	case protocol.RetryScheduled:
		d := decodeData[protocol.RetryData](e)
		return warningSign + fmt.Sprintf("%s; trying again (%d of %d)", d.Cause, d.Attempt, d.Limit)
	case protocol.RecoveryStarted:
		d := decodeData[protocol.RecoveryData](e)
		return warningSign + fmt.Sprintf("%s: %s", d.Cause, d.Action)
	case protocol.RecoverySucceeded:
		return "Recovered: " + decodeData[protocol.RecoveryData](e).Action
	case protocol.RecoveryFailed:
		d := decodeData[protocol.RecoveryData](e)
		return warningSign + fmt.Sprintf("not recovered: %s: %s", d.Action, d.Failure)
	case protocol.TextContent:
		return "[" + decodeData[protocol.TextContentData](e).Content.Label() + "]"
	case protocol.PlanStarted:
		return "Planning: " + decodeData[protocol.PlanStartedData](e).Question
	case protocol.PlanCompleted:
		return planText(decodeData[protocol.PlanTasksData](e))
	case protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed:
		_, how, _ := strings.Cut(string(e.Type), ".")
		return "Plan " + how + ": " + decodeData[protocol.PlanErrorData](e).Message
	case protocol.TaskStarted, protocol.TaskProgress, protocol.TaskCompleted, protocol.TaskFailed,
		protocol.TaskCancelled, protocol.TaskRestarted:
		return taskText(e.Type, decodeData[protocol.TaskData](e))
	case protocol.AggregateStarted:
		return "Putting the results together."
	case protocol.SessionClosed:
		return "The session was closed."
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
