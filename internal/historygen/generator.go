package historygen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Generator draws the events of a session. Each event is legal in the state that it is given. Ids
// come from the seq, so a Generator keeps no state of its own.
type Generator struct {
	*rapid.T
	State *protocol.State // of the session; the caller applies the drawn events
	Now   time.Time       // the time of the next event
}

// Next draws the next event. A message starts its turn at once, and a turn ends only when no
// approval is pending.
func (l *Generator) Next() codec.Entry {
	s := l.State
	if s.Turn == nil {
		if s.Closed {
			return l.entryOf(l.pick("event", []protocol.Type{protocol.SessionUpdated, protocol.Notice}))
		}
		if l.coin("between") {
			return l.entryOf(l.pick("event", betweenTurns))
		}
		return l.UserMessage(l.text())
	}
	if s.Seq == s.Turn.First {
		return l.TurnStart()
	}
	return l.entryOf(l.pick("event", duringTurn))
}

// UserMessage draws a user's message, which starts a turn.
func (l *Generator) UserMessage(text string) codec.Entry {
	m := protocol.Message{
		MessageID: l.id("m"), ClientMessageID: l.oneOf("", "ui-1"), Text: text, By: &protocol.Actor{Name: "grace"},
	}
	if l.coin("parts") {
		m.Parts = []protocol.Part{{Type: "file", Name: "a.go", Text: "x"}}
	}
	return codec.Entry{
		Type: protocol.MessageUser, Turn: l.id("t"), By: m.By, Data: protocol.MessageUserData{Message: m},
	}
}

// TurnStart draws turn.started for the turn under way.
func (l *Generator) TurnStart() codec.Entry {
	return l.entry(
		protocol.TurnStarted,
		protocol.TurnStartedData{MessageID: l.State.Turn.Message.MessageID, Agent: l.oneOf("", "claude")},
	)
}

// TurnEnd draws the end of the turn, or the cancellation of an approval that is still pending.
func (l *Generator) TurnEnd() codec.Entry {
	if a := l.State.Approvals; len(a) > 0 {
		return l.entry(
			protocol.ApprovalResolved,
			protocol.ApprovalResolvedData{Request: a[0].Request, Outcome: protocol.Cancelled},
		)
	}
	d := protocol.TurnEndedData{
		Reason: pick(l, "reason", []protocol.Reason{
			protocol.ReasonCompleted, protocol.ReasonCompleted, protocol.ReasonInterrupted, protocol.ReasonDenied,
			protocol.ReasonError,
			protocol.ReasonTimeout, protocol.ReasonMaxTokens, protocol.ReasonMaxRequests, protocol.ReasonRefusal,
		}),
		DurationMS: l.number(), Usage: l.usage(),
	}
	if d.Failed() {
		d.Message = l.oneOf("", "it broke")
	}
	if d.Reason == protocol.ReasonError {
		d.Code = protocol.CodeAgentFailed
	}
	return l.entry(protocol.TurnEnded, d)
}

// The types drawn during turns, between them, and at any time. A type listed twice is drawn twice
// as often.
var (
	duringTurn = slices.Concat(anywhere, []protocol.Type{
		protocol.TurnEnded, protocol.TurnEnded,
		protocol.TextStart, protocol.TextStart, protocol.TextDelta, protocol.TextDelta, protocol.TextDelta,
		protocol.TextEnd,
		protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningDelta, protocol.ReasoningEnd,
		protocol.JoinedDeltas,
		protocol.ToolStarted, protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolOutput,
		protocol.ToolEnded,
		protocol.ApprovalRequested, protocol.ApprovalRequested, protocol.ApprovalExplained, protocol.ApprovalResolved,
		protocol.ApprovalResolved,
		protocol.PlanStarted, protocol.PlanUpdated, protocol.PlanCompleted, protocol.PlanInvalid,
		protocol.PlanCancelled,
		protocol.PlanFailed, protocol.TaskStarted, protocol.TaskProgress, protocol.TaskCompleted, protocol.TaskFailed,
		protocol.TaskCancelled, protocol.TaskRestarted, protocol.AggregateStarted, protocol.AggregateCompleted,
		protocol.PipelineCompleted, protocol.ErrorRaised, protocol.RetryScheduled, protocol.RecoveryStarted,
		protocol.RecoverySucceeded, protocol.RecoveryFailed,
	})
	betweenTurns = slices.Concat(anywhere, []protocol.Type{protocol.SessionClosed})
	anywhere     = []protocol.Type{
		protocol.QueueAdded, protocol.QueueUpdated, protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld,
		protocol.QueueReleased, protocol.SessionUpdated, protocol.ContextUpdated, protocol.ContextCompacted,
		protocol.UsageUpdated,
		protocol.AgentOptions, protocol.StateExported, protocol.StateRestored, protocol.Notice, protocol.Raw,
	}
)

// entryOf draws an event of a type, or a notice if the state allows none.
func (l *Generator) entryOf(typ protocol.Type) codec.Entry {
	family, _, _ := strings.Cut(string(typ), ".")
	var en codec.Entry
	switch family {
	case "text", "reasoning":
		en = l.part(typ)
	case "tool":
		en = l.tool(typ)
	case "approval":
		en = l.approval(typ)
	case "queue":
		en = l.queue(typ)
	case "plan", "task":
		en = l.plan(typ)
	default:
		en = l.other(typ)
	}
	if en.Type == "" {
		en = l.entry(
			protocol.Notice,
			protocol.NoticeData{Level: l.oneOf(protocol.LevelInfo, protocol.LevelWarning), Message: l.text()},
		)
	}
	return en
}

// entry returns an event of the turn under way, if any.
func (l *Generator) entry(typ protocol.Type, data any) codec.Entry {
	en := codec.Entry{Type: typ, Time: l.Now, Data: data}
	if l.State.Turn != nil {
		en.Turn = l.State.Turn.Turn
	}
	return en
}

func (l *Generator) id(prefix string) string { return fmt.Sprint(prefix, l.State.Seq+1) }

func (l *Generator) text() string {
	return l.oneOf(
		"a", "Hello ", "wörld\n", "规划", "\x1b[31m", "{\"x\":1}", "  two  ", "", "one\n\ntwo",
		strings.Repeat("long ", 40),
	)
}

func (l *Generator) number() int64 { return int64(rapid.IntRange(0, 5000).Draw(l.T, "number")) }

func (l *Generator) coin(label string) bool { return rapid.Bool().Draw(l.T, label) }

func (l *Generator) oneOf(options ...string) string { return pick(l, "some", options) }

func (l *Generator) pick(label string, of []protocol.Type) protocol.Type { return pick(l, label, of) }

func pick[T any](l *Generator, label string, of []T) T { return rapid.SampledFrom(of).Draw(l.T, label) }

func (l *Generator) usage() *protocol.Usage {
	if l.coin("usage") {
		return nil
	}
	return &protocol.Usage{
		Input: l.number(), Output: l.number(), Cached: l.number(), Cost: 0.25, Currency: "USD", Model: "m",
	}
}

func (l *Generator) by() *protocol.Actor {
	if l.coin("by") {
		return nil
	}
	return &protocol.Actor{Name: "grace", Subject: l.oneOf("", "g@x")}
}
