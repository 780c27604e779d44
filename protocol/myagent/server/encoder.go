package server

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// An encoder encodes a session's native events as frames.
type encoder struct {
	state *protocol.State // before the event being encoded
	turn                  // of the current turn
}

// encode returns the frames of a durable event, often none. It also accepts an event that does not
// continue the log.
func (enc *encoder) encode(e *protocol.Event) []wire.Frame {
	var frames []wire.Frame
	if encodeEvent := encoders[e.Type]; encodeEvent != nil {
		frames = encodeEvent(enc, e)
	} else {
		frames = nativeNotice(e)
	}
	for i := range frames {
		f := &frames[i]
		f.Session, f.Time = e.Session, e.Time
		if f.Meta == nil {
			f.Meta = wire.Meta{}
		}
		f.Meta.With("turn_id", e.Turn).With("parent_id", e.Parent)
		if e.Task != "" {
			f.Meta["task_id"] = wire.TaskID(e.Task)
		}
		if e.By != nil {
			f.Meta["by"] = *e.By
		}
	}
	if enc.state.Apply(e) != nil {
		enc.state.Seq = e.Seq
	}
	return frames
}

// encoders maps event types to their encoders. Other types become notices.
var encoders map[protocol.Type]func(*encoder, *protocol.Event) []wire.Frame

func init() {
	encoders = map[protocol.Type]func(*encoder, *protocol.Event) []wire.Frame{
		protocol.SessionCreated: encodeAlone(sessionCreated),
		protocol.SessionClosed:  encodeData((*encoder).sessionClosed),
		protocol.TurnStarted:    encodeData((*encoder).turnStarted),
		protocol.TurnEnded:      encodeData((*encoder).turnEnded),

		protocol.TextStart:      inTurn((*turn).partStart),
		protocol.TextDelta:      inTurn((*turn).textDelta),
		protocol.TextEnd:        inTurn((*turn).textEnd),
		protocol.ReasoningStart: inTurn((*turn).partStart),
		protocol.ReasoningDelta: encodeData((*encoder).reasoningDelta),
		protocol.ReasoningEnd:   inTurn((*turn).reasoningEnd),
		protocol.JoinedDeltas:   encodeData((*encoder).joinedDeltas),
		protocol.ToolStarted:    inTurn((*turn).toolStarted),
		protocol.ToolInput:      inTurn((*turn).toolInput),
		protocol.ToolOutput:     inTurn((*turn).toolOutput),
		protocol.ToolEnded:      inTurn((*turn).toolEnded),

		protocol.ApprovalRequested: encodeData(func(t *encoder, e *protocol.Event, d *protocol.Approval) []wire.Frame {
			if t.state.DecidedAtOnce(d) {
				return nativeNotice(e) // no answer is needed
			}
			if d.Kind == protocol.ApprovePlan { // MyAgent's clients learn the tasks first
				proposed := t.planFrame(d.Tasks, "")
				proposed.Meta["proposed"] = true
				return []wire.Frame{proposed, t.confirmFrame(d)}
			}
			return single(t.confirmFrame(d))
		}),

		protocol.PlanStarted:        encodeAlone(planStarted),
		protocol.PlanCompleted:      encodeData((*encoder).planCompleted),
		protocol.PlanInvalid:        encodeAlone(planInvalid),
		protocol.PlanCancelled:      encodeAlone(planCancelled),
		protocol.PlanFailed:         encodeAlone(planFailed),
		protocol.TaskStarted:        encodeData((*encoder).taskStarted),
		protocol.TaskProgress:       encodeData((*encoder).taskProgress),
		protocol.TaskCompleted:      encodeData((*encoder).taskCompleted),
		protocol.TaskFailed:         encodeData((*encoder).taskFailed),
		protocol.TaskCancelled:      encodeData((*encoder).taskCancelled),
		protocol.TaskRestarted:      encodeData((*encoder).taskRestarted),
		protocol.AggregateStarted:   encodeData((*encoder).aggregateStarted),
		protocol.AggregateCompleted: encodeData((*encoder).aggregateCompleted),
		protocol.PipelineCompleted:  encodeData((*encoder).pipelineCompleted),

		protocol.ErrorRaised:       encodeAlone(errorRaised),
		protocol.RetryScheduled:    encodeAlone(retryScheduled),
		protocol.RecoveryStarted:   encodeAlone(recovery(wire.ErrorRecoveryStarted, "Recovery started: ", showRecovering)),
		protocol.RecoverySucceeded: encodeAlone(recovery(wire.ErrorRecoverySuccess, "Recovery succeeded: ", showRecovered)),
		protocol.RecoveryFailed:    encodeAlone(recovery(wire.ErrorRecoveryFailed, "Recovery failed: ", showRecoveryFailed)),
		protocol.StateRestored:     encodeData((*encoder).stateRestored),
		protocol.Notice: encodeAlone(func(d *protocol.NoticeData) []wire.Frame {
			return single(notice(d.Message, wire.Meta{}.With("level", d.Level).With("code", string(d.Code))))
		}),
	}
}

// encodeData returns an encoder that decodes the event's data first. An event that cannot be
// decoded becomes a notice.
func encodeData[T any](encode func(*encoder, *protocol.Event, *T) []wire.Frame) func(*encoder, *protocol.Event) []wire.Frame {
	return func(t *encoder, e *protocol.Event) []wire.Frame {
		d := new(T)
		if e.Decode(d) != nil {
			return nativeNotice(e)
		}
		return encode(t, e, d)
	}
}

// inTurn is encodeData for an event that depends on the turn only.
func inTurn[T any](encode func(*turn, *protocol.Event, *T) []wire.Frame) func(*encoder, *protocol.Event) []wire.Frame {
	return func(enc *encoder, e *protocol.Event) []wire.Frame {
		d := new(T)
		if e.Decode(d) != nil {
			return nativeNotice(e)
		}
		return encode(&enc.turn, e, d)
	}
}

// encodeAlone is encodeData for an event that depends on its data only.
func encodeAlone[T any](encode func(*T) []wire.Frame) func(*encoder, *protocol.Event) []wire.Frame {
	return func(_ *encoder, e *protocol.Event) []wire.Frame {
		d := new(T)
		if e.Decode(d) != nil {
			return nativeNotice(e)
		}
		return encode(d)
	}
}

func single(f wire.Frame) []wire.Frame { return []wire.Frame{f} }

// notice returns a system.notice with a text.
func notice(text string, m wire.Meta) wire.Frame {
	m["message"] = text
	return wire.Frame{Event: wire.SystemNotice, Content: text, Meta: m, Show: wire.Shorten(text)}
}

// nativeNotice encodes an event that the protocol has no frame for.
func nativeNotice(e *protocol.Event) []wire.Frame {
	data := e.Data
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	return single(notice(describeEvent(e), wire.Meta{"action": string(e.Type), "data": data}))
}

// describeEvent returns the text of a native notice.
func describeEvent(e *protocol.Event) string {
	var d struct {
		Text, Title, Message string
		Outcome              protocol.Outcome
		Percent              float64
	}
	_ = e.Decode(&d)
	who := "someone"
	if e.By != nil && e.By.Name != "" {
		who = e.By.Name
	}
	switch e.Type {
	case protocol.TextContent:
		var d protocol.TextContentData
		_ = e.Decode(&d)
		return "[" + d.Content.Label() + "]"
	case protocol.MessageUser:
		return who + ": " + wire.Shorten(d.Text)
	case protocol.MessageSteered:
		return who + ", into the turn: " + wire.Shorten(d.Text)
	case protocol.QueueAdded:
		return "Message queued: " + wire.Shorten(d.Text)
	case protocol.QueueScheduled:
		return "Message scheduled: " + wire.Shorten(d.Text)
	case protocol.ApprovalResolved:
		if e.By == nil {
			return "Confirmation " + string(d.Outcome)
		}
		return "Confirmation " + string(d.Outcome) + " by " + who
	case protocol.ApprovalExplained:
		return wire.Shorten(d.Text)
	}
	if line, ok := e.Line(); ok {
		return wire.Shorten(line.Text)
	}
	return string(e.Type)
}

func sessionCreated(d *protocol.SessionCreatedData) []wire.Frame {
	return single(createdFrame(d.Agent, d.Name, d.Title, d.CWD))
}

// createdFrame announces a new session.
func createdFrame(agent, name, title, cwd string) wire.Frame {
	return wire.Frame{
		Event: wire.AgentSessionCreated, Content: "Session created successfully", Show: showCreated,
		Meta: wire.Meta{"agent_name": agent}.With("name", name).With("title", title).With("cwd", cwd),
	}
}

func (enc *encoder) sessionClosed(e *protocol.Event, d *protocol.SessionClosedData) []wire.Frame {
	m := wire.Meta{"turns": enc.state.Turns}.With("reason", d.Reason)
	if !enc.state.Created.IsZero() {
		m["duration_seconds"] = wire.Seconds(max(0, e.Time.Sub(enc.state.Created).Milliseconds()))
	}
	return single(wire.Frame{Event: wire.AgentSessionEnd, Content: "Session closed", Meta: m, Show: showEnded})
}

func (enc *encoder) stateRestored(_ *protocol.Event, d *protocol.StateRestoredData) []wire.Frame {
	return single(wire.Frame{
		Event: wire.AgentStateRestored, Content: "State restored", Show: showRestored,
		Meta: wire.Meta{
			"original_session_id": d.Session, "restored_step": enc.state.Turns, "message_count": enc.state.Turns,
			"agent_name": enc.state.Agent, "warnings": []string{}, "position": d.Position, "exported_at": d.Exported,
		},
	})
}
