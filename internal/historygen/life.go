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

// A Life draws what happens in a session. Everything it draws is legal for the state that it is given, and needs no other
// memory: ids come from the seq.
type Generator struct {
	*rapid.T
	State *protocol.State // of the session; its owner applies what was drawn
	Now   time.Time       // when it happens
}

// Next draws what happens next. A message starts its turn at once, and a turn ends when nothing waits for a decision any more.
func (l *Generator) Next() codec.Entry {
	s := l.State
	if s.Turn == nil {
		if s.Closed {
			return l.of(l.pick("event", []protocol.Type{protocol.SessionUpdated, protocol.Notice}))
		}
		if l.coin("between") {
			return l.of(l.pick("event", outside))
		}
		return l.UserMessage(l.text())
	}
	if s.Seq == s.Turn.First {
		return l.TurnStart()
	}
	return l.of(l.pick("event", inside))
}

// UserMessage is somebody's message that starts a turn.
func (l *Generator) UserMessage(text string) codec.Entry {
	m := protocol.Message{MessageID: l.id("m"), ClientMessageID: l.some("", "ui-1"), Text: text, By: &protocol.Actor{Name: "grace"}}
	if l.coin("parts") {
		m.Parts = []protocol.Part{{Type: "file", Name: "a.go", Text: "x"}}
	}
	return codec.Entry{Type: protocol.MessageUser, Turn: l.id("t"), By: m.By, Data: protocol.MessageUserData{Message: m}}
}

// TurnStart begins the turn under way.
func (l *Generator) TurnStart() codec.Entry {
	return l.entry(protocol.TurnStarted, protocol.TurnStartedData{MessageID: l.State.Turn.Message.MessageID, Agent: l.some("", "claude")})
}

// TurnEnd is what comes next when the turn is to end: a request that still waits is cancelled first.
func (l *Generator) TurnEnd() codec.Entry {
	if a := l.State.Approvals; len(a) > 0 {
		return l.entry(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: a[0].Request, Outcome: protocol.Cancelled})
	}
	d := protocol.TurnEndedData{
		Reason: pick(l, "reason", []protocol.Reason{
			protocol.ReasonCompleted, protocol.ReasonCompleted, protocol.ReasonInterrupted, protocol.ReasonDenied, protocol.ReasonError,
			protocol.ReasonTimeout, protocol.ReasonMaxTokens, protocol.ReasonMaxRequests, protocol.ReasonRefusal,
		}),
		DurationMS: l.number(), Usage: l.usage(),
	}
	if d.Failed() {
		d.Message = l.some("", "it broke")
	}
	if d.Reason == protocol.ReasonError {
		d.Code = protocol.CodeAgentFailed
	}
	return l.entry(protocol.TurnEnded, d)
}

// The types that happen in a turn, each as often as it is listed, and those that happen between turns.
var (
	inside = slices.Concat(both, []protocol.Type{
		protocol.TurnEnded, protocol.TurnEnded,
		protocol.TextStart, protocol.TextStart, protocol.TextDelta, protocol.TextDelta, protocol.TextDelta, protocol.TextEnd,
		protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningDelta, protocol.ReasoningEnd, protocol.JoinedDeltas,
		protocol.ToolStarted, protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolOutput, protocol.ToolEnded,
		protocol.ApprovalRequested, protocol.ApprovalRequested, protocol.ApprovalExplained, protocol.ApprovalResolved,
		protocol.ApprovalResolved,
		protocol.PlanStarted, protocol.PlanUpdated, protocol.PlanCompleted, protocol.PlanInvalid, protocol.PlanCancelled,
		protocol.PlanFailed, protocol.TaskStarted, protocol.TaskProgress, protocol.TaskCompleted, protocol.TaskFailed,
		protocol.TaskCancelled, protocol.TaskRestarted, protocol.AggregateStarted, protocol.AggregateCompleted,
		protocol.PipelineCompleted, protocol.ErrorRaised, protocol.RetryScheduled, protocol.RecoveryStarted,
		protocol.RecoverySucceeded, protocol.RecoveryFailed,
	})
	outside = slices.Concat(both, []protocol.Type{protocol.SessionClosed})
	both    = []protocol.Type{
		protocol.QueueAdded, protocol.QueueUpdated, protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld,
		protocol.QueueReleased, protocol.SessionUpdated, protocol.ContextUpdated, protocol.ContextCompacted, protocol.UsageUpdated,
		protocol.AgentOptions, protocol.StateExported, protocol.StateRestored, protocol.Notice, protocol.Raw,
	}
)

// of draws an event of a type; when the state allows none, a notice.
func (l *Generator) of(typ protocol.Type) codec.Entry {
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
		en = l.entry(protocol.Notice, protocol.NoticeData{Level: l.some(protocol.LevelInfo, protocol.LevelWarning), Message: l.text()})
	}
	return en
}

// entry is an event of the turn, if there is one.
func (l *Generator) entry(typ protocol.Type, data any) codec.Entry {
	en := codec.Entry{Type: typ, Time: l.Now, Data: data}
	if l.State.Turn != nil {
		en.Turn = l.State.Turn.Turn
	}
	return en
}

func (l *Generator) id(prefix string) string { return fmt.Sprint(prefix, l.State.Seq+1) }

func (l *Generator) text() string {
	return l.some("a", "Hello ", "wörld\n", "规划", "\x1b[31m", "{\"x\":1}", "  two  ", "", "one\n\ntwo", strings.Repeat("long ", 40))
}

func (l *Generator) number() int64 { return int64(rapid.IntRange(0, 5000).Draw(l.T, "number")) }

func (l *Generator) coin(label string) bool { return rapid.Bool().Draw(l.T, label) }

func (l *Generator) some(options ...string) string { return pick(l, "some", options) }

func (l *Generator) pick(label string, of []protocol.Type) protocol.Type { return pick(l, label, of) }

func pick[T any](l *Generator, label string, of []T) T { return rapid.SampledFrom(of).Draw(l.T, label) }

func (l *Generator) usage() *protocol.Usage {
	if l.coin("usage") {
		return nil
	}
	return &protocol.Usage{Input: l.number(), Output: l.number(), Cached: l.number(), Cost: 0.25, Currency: "USD", Model: "m"}
}

func (l *Generator) by() *protocol.Actor {
	if l.coin("by") {
		return nil
	}
	return &protocol.Actor{Name: "grace", Subject: l.some("", "g@x")}
}
