package historygen

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// queue draws an event of the queue.
func (l *Generator) queue(typ protocol.Type) codec.Entry {
	s := l.State
	outside := func(data any) codec.Entry { return codec.Entry{Type: typ, Time: l.Now, By: l.by(), Data: data} }
	switch typ {
	case protocol.QueueAdded:
		at := l.Now
		d := protocol.QueueAddedData{Message: protocol.Message{MessageID: l.id("q"), Text: l.text(), QueuedAt: &at}}
		if l.coin("front") {
			d.Index = new(int)
		}
		return outside(d)
	case protocol.QueueHeld:
		return outside(
			protocol.Hold{ID: l.id("h"), Reason: l.oneOf(protocol.HoldUser, protocol.HoldInterrupt), By: l.by()},
		)
	case protocol.QueueReleased:
		if len(s.Holds) > 0 {
			return outside(protocol.QueueReleasedData{Holds: []string{s.Holds[0].ID}})
		}
	}
	if len(s.Queue) == 0 {
		return codec.Entry{}
	}
	id := pick(l, "queued", s.Queue).MessageID
	switch typ {
	case protocol.QueueUpdated:
		return outside(protocol.QueueUpdatedData{MessageID: id, Text: l.text()})
	case protocol.QueueMoved:
		return outside(protocol.QueueMovedData{MessageID: id, Index: len(s.Queue) - 1})
	case protocol.QueueRemoved:
		return outside(
			protocol.QueueRemovedData{MessageID: id, Reason: l.oneOf(protocol.RemovedUser, protocol.RemovedCleared)},
		)
	}
	return codec.Entry{}
}

func (l *Generator) tasks() []protocol.Task {
	return []protocol.Task{
		{ID: "1", Title: "one", Status: protocol.StatusPending},
		{ID: "b", Title: "two", Description: l.text(), After: []string{"1"}, Status: protocol.StatusPending},
	}
}

// plan draws an event of the plan or of a task.
func (l *Generator) plan(typ protocol.Type) codec.Entry {
	switch typ {
	case protocol.PlanStarted:
		return l.entry(typ, protocol.PlanStartedData{Question: l.text()})
	case protocol.PlanUpdated, protocol.PlanCompleted:
		return l.entry(typ, protocol.PlanTasksData{Tasks: l.tasks(), Summary: l.oneOf("in short", "two tasks")})
	case protocol.PlanInvalid:
		return l.entry(typ, protocol.PlanErrorData{Message: l.text(), Details: []string{"2: after: 7"}})
	case protocol.PlanCancelled:
		return l.entry(typ, protocol.PlanErrorData{Message: l.text()})
	case protocol.PlanFailed:
		return l.entry(typ, protocol.PlanErrorData{Message: l.text(), Code: protocol.CodeTimeout})
	}
	d := protocol.TaskData{
		Task: l.oneOf("1", "b"), Attempt: 1, DurationMS: l.number(), Calls: int(l.number()), Usage: l.usage(),
	}
	switch typ {
	case protocol.TaskCompleted:
		d.Result = l.text()
	case protocol.TaskStarted:
		d.Title = l.oneOf("", "one")
	default:
		d.Message = l.text()
	}
	en := l.entry(typ, d)
	en.Task = d.Task
	return en
}

// other draws an event of any other type.
func (l *Generator) other(typ protocol.Type) codec.Entry {
	named := func(names ...string) *string { name := l.oneOf(names...); return &name }
	switch typ {
	case protocol.TurnEnded:
		return l.TurnEnd()
	case protocol.JoinedDeltas:
		return l.joined()
	case protocol.SessionUpdated:
		d := protocol.SessionUpdatedData{Title: named("x", "y")}
		if l.coin("agent") {
			d = protocol.SessionUpdatedData{Agent: named("claude", "codex"), Name: named("fix-ci")}
		}
		en := l.entry(typ, d)
		en.Turn, en.By = "", l.by()
		return en
	case protocol.SessionClosed:
		if l.coin("closed") {
			return l.entry(typ, protocol.SessionClosedData{})
		}
	case protocol.AggregateStarted, protocol.AggregateCompleted, protocol.PipelineCompleted:
		d := protocol.AggregateData{Tasks: 2, DurationMS: l.number(), Usage: l.usage()}
		if typ == protocol.AggregateCompleted {
			d.Text = l.text()
		}
		return l.entry(typ, d)
	case protocol.ContextUpdated:
		return l.entry(
			typ,
			protocol.ContextInfo{
				Tokens: l.number(), MaxTokens: 9000, Percent: 12.5, TranscriptLength: int(l.number()),
				Strategy: "compact",
			},
		)
	case protocol.ContextCompacted:
		return l.entry(
			typ,
			protocol.ContextCompactedData{Before: l.number(), After: 1, Percent: 66.6, Automatic: l.coin("automatic")},
		)
	case protocol.UsageUpdated:
		return l.entry(typ, protocol.Usage{Input: l.number(), Model: "m"})
	case protocol.AgentOptions:
		return l.entry(typ, protocol.Options{Name: "x", Settings: []protocol.Setting{{ID: "mode", Value: l.text()}}})
	case protocol.StateExported:
		return l.entry(typ, protocol.StateExportedData{Expires: l.Now, Bytes: 5})
	case protocol.StateRestored:
		return l.entry(typ, protocol.StateRestoredData{})
	case protocol.Raw:
		return l.entry(typ, protocol.RawData{Source: "acp", Method: "x", Data: json.RawMessage(`{"a":1}`)})
	case protocol.ErrorRaised:
		d := protocol.ErrorData{
			Kind:    l.oneOf(protocol.ErrorKindValidation, protocol.ErrorKindTimeout, protocol.ErrorKindExecution),
			Code:    protocol.CodeTimeout,
			Message: l.text() + "!", Recoverable: l.coin("recoverable"), Stage: "solve", LimitMS: l.number(),
			ElapsedMS: l.number(),
		}
		if l.coin("details") {
			d.Fields, d.Details = map[string]string{"a": "b"}, map[string]string{"provider_status": "504"}
		}
		return l.entry(typ, d)
	case protocol.RetryScheduled:
		return l.entry(
			typ,
			protocol.RetryData{Attempt: 1, Limit: 5, DelayMS: l.number(), Cause: l.text(), Code: protocol.CodeTimeout},
		)
	case protocol.RecoveryStarted, protocol.RecoverySucceeded, protocol.RecoveryFailed:
		d := protocol.RecoveryData{Action: "restart", Attempt: 1, DurationMS: l.number()}
		if typ != protocol.RecoverySucceeded {
			d.Cause = l.text()
		}
		return l.entry(typ, d)
	}
	return codec.Entry{}
}
