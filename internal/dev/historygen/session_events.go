package historygen

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// queue draws an event of the queue.
func (g *Generator) queue(typ protocol.Type) codec.Entry {
	s := g.State
	outside := func(data any) codec.Entry { return codec.Entry{Type: typ, Time: g.Now, By: g.by(), Data: data} }
	switch typ {
	case protocol.QueueAdded:
		at := g.Now
		d := protocol.QueueAddedData{Message: protocol.Message{MessageID: g.id("q"), Text: g.text(), QueuedAt: &at}}
		if g.coin("front") {
			d.Index = new(int)
		}
		return outside(d)
	case protocol.QueueScheduled:
		at := g.Now.Add(time.Hour)
		return outside(protocol.QueueScheduledData{
			Message: protocol.Message{MessageID: g.id("q"), Text: g.text(), NotBefore: &at},
		})
	case protocol.QueueHeld:
		return outside(
			protocol.Hold{
				ID: g.id("h"), Reason: g.oneOf(protocol.HoldUser, protocol.HoldInterrupt, protocol.HoldLimit),
				By: g.by(),
			},
		)
	case protocol.QueueReleased:
		if len(s.Holds) > 0 {
			return outside(protocol.QueueReleasedData{Holds: []string{s.Holds[0].ID}})
		}
	}
	if len(s.Scheduled) > 0 && typ != protocol.QueueMoved && g.coin("scheduled") {
		m := s.Scheduled[0]
		switch typ {
		case protocol.QueueAdded:
			return outside(protocol.QueueAddedData{Message: m})
		case protocol.QueueUpdated:
			return outside(protocol.QueueUpdatedData{MessageID: m.MessageID, Text: g.text()})
		case protocol.QueueRemoved:
			return outside(protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedUser})
		}
	}
	if len(s.Queue) == 0 {
		return codec.Entry{}
	}
	id := pick(g, "queued", s.Queue).MessageID
	switch typ {
	case protocol.QueueUpdated:
		return outside(protocol.QueueUpdatedData{MessageID: id, Text: g.text()})
	case protocol.QueueMoved:
		return outside(protocol.QueueMovedData{MessageID: id, Index: len(s.Queue) - 1})
	case protocol.QueueRemoved:
		return outside(
			protocol.QueueRemovedData{MessageID: id, Reason: g.oneOf(protocol.RemovedUser, protocol.RemovedCleared)},
		)
	}
	return codec.Entry{}
}

func (g *Generator) tasks() []protocol.Task {
	return []protocol.Task{
		{ID: "1", Title: "one", Status: protocol.StatusPending},
		{ID: "b", Title: "two", Description: g.text(), After: []string{"1"}, Status: protocol.StatusPending},
	}
}

// plan draws an event of the plan or of a task.
func (g *Generator) plan(typ protocol.Type) codec.Entry {
	switch typ {
	case protocol.PlanStarted:
		return g.entry(typ, protocol.PlanStartedData{Question: g.text()})
	case protocol.PlanUpdated, protocol.PlanCompleted:
		return g.entry(typ, protocol.PlanTasksData{Tasks: g.tasks(), Summary: g.oneOf("in short", "two tasks")})
	case protocol.PlanInvalid:
		return g.entry(typ, protocol.PlanErrorData{Message: g.text(), Details: []string{"2: after: 7"}})
	case protocol.PlanCancelled:
		return g.entry(typ, protocol.PlanErrorData{Message: g.text()})
	case protocol.PlanFailed:
		return g.entry(typ, protocol.PlanErrorData{Message: g.text(), Code: protocol.CodeTimeout})
	}
	d := protocol.TaskData{
		Task: g.oneOf("1", "b"), Attempt: 1, DurationMS: g.number(), Calls: int(g.number()), Usage: g.usage(),
	}
	switch typ {
	case protocol.TaskCompleted:
		d.Result = g.text()
	case protocol.TaskStarted:
		d.Title = g.oneOf("", "one")
	default:
		d.Message = g.text()
	}
	en := g.entry(typ, d)
	en.Task = d.Task
	return en
}

// other draws an event of any other type.
func (g *Generator) other(typ protocol.Type) codec.Entry {
	named := func(names ...string) *string { name := g.oneOf(names...); return &name }
	switch typ {
	case protocol.TurnEnded:
		return g.TurnEnd()
	case protocol.JoinedDeltas:
		return g.joined()
	case protocol.SessionUpdated:
		d := protocol.SessionUpdatedData{Title: named("x", "y")}
		if g.coin("agent") {
			d = protocol.SessionUpdatedData{Agent: named("claude", "codex"), Name: named("fix-ci")}
		}
		if g.coin("labels") {
			d.Labels = map[string]string{"team": g.oneOf("infra", "web", "")}
		}
		en := g.entry(typ, d)
		en.Turn, en.By = "", g.by()
		return en
	case protocol.SessionClosed:
		if g.coin("closed") {
			return g.entry(typ, protocol.SessionClosedData{})
		}
	case protocol.AggregateStarted, protocol.AggregateCompleted, protocol.PipelineCompleted:
		d := protocol.AggregateData{Tasks: 2, DurationMS: g.number(), Usage: g.usage()}
		if typ == protocol.AggregateCompleted {
			d.Text = g.text()
		}
		if typ == protocol.PipelineCompleted && d.DurationMS%2 == 1 {
			d.Conflicts = []protocol.FileConflict{{Path: "a/b.go", Tasks: []string{"1", "2"}}}
		}
		return g.entry(typ, d)
	case protocol.ContextUpdated:
		return g.entry(
			typ,
			protocol.ContextInfo{
				Tokens: g.number(), MaxTokens: 9000, Percent: 12.5, TranscriptLength: int(g.number()),
				Strategy: "compact",
			},
		)
	case protocol.ContextCompacted:
		return g.entry(
			typ,
			protocol.ContextCompactedData{Before: g.number(), After: 1, Percent: 66.6, Automatic: g.coin("automatic")},
		)
	case protocol.UsageUpdated:
		return g.entry(typ, protocol.Usage{Input: g.number(), Model: "m"})
	case protocol.AgentOptions:
		return g.entry(typ, protocol.Options{Name: "x", Settings: []protocol.Setting{{ID: "mode", Value: g.text()}}})
	case protocol.StateExported:
		return g.entry(typ, protocol.StateExportedData{Expires: g.Now, Bytes: 5})
	case protocol.ErrorRaised:
		d := protocol.ErrorData{
			Kind:    g.oneOf(protocol.ErrorKindValidation, protocol.ErrorKindTimeout, protocol.ErrorKindExecution),
			Code:    protocol.CodeTimeout,
			Message: g.text() + "!", Recoverable: g.coin("recoverable"), Stage: "solve", LimitMS: g.number(),
			ElapsedMS: g.number(),
		}
		if g.coin("details") {
			d.Fields, d.Details = map[string]string{"a": "b"}, map[string]string{"provider_status": "504"}
		}
		return g.entry(typ, d)
	case protocol.RetryScheduled:
		return g.entry(
			typ,
			protocol.RetryData{Attempt: 1, Limit: 5, DelayMS: g.number(), Cause: g.text(), Code: protocol.CodeTimeout},
		)
	case protocol.RecoveryStarted, protocol.RecoverySucceeded, protocol.RecoveryFailed:
		d := protocol.RecoveryData{Action: "restart", Attempt: 1, DurationMS: g.number()}
		if typ != protocol.RecoverySucceeded {
			d.Cause = g.text()
		}
		return g.entry(typ, d)
	}
	return codec.Entry{}
}
