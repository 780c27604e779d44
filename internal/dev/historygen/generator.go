package historygen

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Generator draws the events of a session. Each event is legal in the state that it is given. Ids
// come from the seq, so a Generator keeps no other state.
type Generator struct {
	*rapid.T
	State *protocol.State // of the session; the caller applies the drawn events
	Now   time.Time       // the time of the next event
}

// Next draws the next event. A message starts its turn immediately, and a turn ends only when no
// approval is pending.
func (g *Generator) Next() codec.Entry {
	s := g.State
	if s.Seq%11 == 4 && !s.Closed && (s.Turn == nil || s.Seq != s.Turn.First) {
		return g.sample(sampled[(int(s.Seq/11)+s.Turns+len(s.Queue))%len(sampled)])
	}
	if s.Turn == nil {
		if s.Closed {
			return g.entryOf(g.pick("event", []protocol.Type{protocol.SessionUpdated, protocol.Notice}))
		}
		if g.coin("between") {
			return g.entryOf(g.pick("event", betweenTurns))
		}
		return g.UserMessage(g.text())
	}
	if s.Seq == s.Turn.First {
		return g.TurnStart()
	}
	return g.entryOf(g.pick("event", duringTurn))
}

// UserMessage draws a user's message, which starts a turn.
func (g *Generator) UserMessage(text string) codec.Entry {
	m := protocol.Message{
		MessageID: g.id("m"), ClientMessageID: g.oneOf("", "ui-1"), Text: text, By: &protocol.Actor{Name: "grace"},
		Work: g.oneOf("", "", "work") != "",
	}
	if g.coin("parts") {
		m.Parts = []protocol.Part{{Type: "file", Name: "a.go", Text: "x"}}
	}
	return codec.Entry{
		Type: protocol.MessageUser, Turn: g.id("t"), By: m.By, Data: protocol.MessageUserData{Message: m},
	}
}

// TurnStart draws turn.started for the current turn.
func (g *Generator) TurnStart() codec.Entry {
	return g.entry(
		protocol.TurnStarted,
		protocol.TurnStartedData{MessageID: g.State.Turn.Message.MessageID, Agent: g.oneOf("", "claude")},
	)
}

// TurnEnd draws the end of the turn, the cancellation of an approval that is still pending, or the outcome
// of a message that joined the turn and has none.
func (g *Generator) TurnEnd() codec.Entry {
	if a := g.State.Approvals; len(a) > 0 {
		return g.entry(
			protocol.ApprovalResolved,
			protocol.ApprovalResolvedData{Request: a[0].Request, Outcome: protocol.Cancelled},
		)
	}
	if sent := g.State.Turn.Sent(); len(sent) > 0 {
		return g.entry(protocol.MessageResolved, protocol.MessageResolvedData{
			MessageID: sent[0].MessageID, Outcome: protocol.SteerUnknown, Reason: "it ended",
		})
	}
	d := protocol.TurnEndedData{
		Reason: pick(g, "reason", []protocol.Reason{
			protocol.ReasonCompleted, protocol.ReasonCompleted, protocol.ReasonInterrupted, protocol.ReasonDenied,
			protocol.ReasonError,
			protocol.ReasonTimeout, protocol.ReasonMaxTokens, protocol.ReasonMaxRequests, protocol.ReasonRefusal,
			protocol.ReasonBudget, protocol.ReasonLimited, protocol.ReasonLoop,
		}),
		DurationMS: g.number(), Usage: g.usage(),
	}
	if d.Failed() {
		d.Message = g.oneOf("", "it broke")
	}
	if d.Reason == protocol.ReasonError {
		d.Code = protocol.CodeAgentFailed
	}
	return g.entry(protocol.TurnEnded, d)
}

// The types drawn during turns, between them, and at any time. A type listed twice is drawn twice
// as often.
var (
	duringTurn = slices.Concat(anywhere, []protocol.Type{
		protocol.TurnEnded, protocol.TurnEnded,
		protocol.TextStart, protocol.TextStart, protocol.TextDelta, protocol.TextDelta, protocol.TextDelta,
		protocol.TextEnd, protocol.TextContent,
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
		protocol.MessageSteered, protocol.MessageResolved,
	})
	betweenTurns = slices.Concat(anywhere, []protocol.Type{protocol.SessionClosed})
	anywhere     = []protocol.Type{
		protocol.QueueAdded,
		protocol.QueueScheduled, protocol.QueueUpdated, protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld,
		protocol.QueueReleased, protocol.SessionUpdated, protocol.ContextUpdated, protocol.ContextCompacted,
		protocol.UsageUpdated,
		protocol.AgentOptions, protocol.StateExported, protocol.Notice,
	}
	// sampled are the types with a sample. They take turns at every 11th event, without a draw: a new
	// type leaves the other events of a history as they are.
	sampled = func() (types []protocol.Type) {
		for i := range protocol.EventTypes {
			if row := &protocol.EventTypes[i]; row.Sample != "" && !row.Ephemeral {
				types = append(types, row.Type)
			}
		}
		return types
	}()
)

// entryOf draws an event of a type, or a notice if the state allows none.
func (g *Generator) entryOf(typ protocol.Type) codec.Entry {
	family, _, _ := strings.Cut(string(typ), ".")
	var en codec.Entry
	switch family {
	case "text", "reasoning":
		en = g.part(typ)
	case "tool":
		en = g.tool(typ)
	case "approval":
		en = g.approval(typ)
	case "queue":
		en = g.queue(typ)
	case "message":
		en = g.steered(typ)
	case "plan", "task":
		en = g.plan(typ)
	default:
		en = g.other(typ)
	}
	if en.Type == "" {
		en = g.entry(
			protocol.Notice,
			protocol.NoticeData{Level: g.oneOf(protocol.LevelInfo, protocol.LevelWarning), Message: g.text()},
		)
	}
	return en
}

// sample returns the sample of a type as an event.
func (g *Generator) sample(typ protocol.Type) codec.Entry {
	row := protocol.EventTypeOf(typ)
	d := row.New()
	if err := json.Unmarshal([]byte(row.Sample), d); err != nil {
		g.Fatalf("the sample of %s: %v", row.Type, err)
	}
	en := g.entry(row.Type, reflect.ValueOf(d).Elem().Interface())
	if !row.AgentMay {
		en.By = &protocol.Actor{Name: "grace"}
	}
	return en
}

// entry returns an event of the current turn, if any.
func (g *Generator) entry(typ protocol.Type, data any) codec.Entry {
	en := codec.Entry{Type: typ, Time: g.Now, Data: data}
	if g.State.Turn != nil {
		en.Turn = g.State.Turn.Turn
	}
	return en
}

func (g *Generator) id(prefix string) string { return fmt.Sprint(prefix, g.State.Seq+1) }

func (g *Generator) text() string {
	return g.oneOf(
		"a", "Hello ", "wörld\n", "规划", "\x1b[31m", "{\"x\":1}", "  two  ", "", "one\n\ntwo",
		strings.Repeat("long ", 40),
	)
}

func (g *Generator) number() int64 { return int64(rapid.IntRange(0, 5000).Draw(g.T, "number")) }

func (g *Generator) coin(label string) bool { return rapid.Bool().Draw(g.T, label) }

func (g *Generator) oneOf(options ...string) string { return pick(g, "some", options) }

func (g *Generator) pick(label string, of []protocol.Type) protocol.Type { return pick(g, label, of) }

func pick[T any](g *Generator, label string, of []T) T { return rapid.SampledFrom(of).Draw(g.T, label) }

func (g *Generator) usage() *protocol.Usage {
	if g.coin("usage") {
		return nil
	}
	return &protocol.Usage{
		Input: g.number(), Output: g.number(), Cached: g.number(), Cost: 0.25, Currency: "USD", Model: "m",
	}
}

func (g *Generator) by() *protocol.Actor {
	if g.coin("by") {
		return nil
	}
	return &protocol.Actor{Name: "grace", Subject: g.oneOf("", "g@x")}
}
