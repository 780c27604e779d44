package myagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// An encoder encodes a session's native events as frames.
type encoder struct {
	state      *protocol.State // before the event being encoded
	serverTurn                 // of the current turn
}

// encode returns the frames of a durable event, often none. It also accepts an event that does not
// continue the log.
func (enc *encoder) encode(e *protocol.Event) []frame {
	var frames []frame
	if encodeEvent := encoders[e.Type]; encodeEvent != nil {
		frames = encodeEvent(enc, e)
	} else {
		frames = nativeNotice(e)
	}
	for i := range frames {
		f := &frames[i]
		f.Session, f.Time = e.Session, e.Time
		if f.Meta == nil {
			f.Meta = meta{}
		}
		f.Meta.with("turn_id", e.Turn).with("parent_id", e.Parent)
		if e.Task != "" {
			f.Meta["task_id"] = taskID(e.Task)
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
var encoders map[protocol.Type]func(*encoder, *protocol.Event) []frame

func init() {
	encoders = map[protocol.Type]func(*encoder, *protocol.Event) []frame{
		protocol.SessionCreated: encodeData((*encoder).sessionCreated),
		protocol.SessionClosed:  encodeData((*encoder).sessionClosed),
		protocol.TurnStarted:    encodeData((*encoder).turnStarted),
		protocol.TurnEnded:      encodeData((*encoder).turnEnded),

		protocol.TextStart:      encodeData((*encoder).partStart),
		protocol.TextDelta:      encodeData((*encoder).textDelta),
		protocol.TextEnd:        encodeData((*encoder).textEnd),
		protocol.ReasoningStart: encodeData((*encoder).partStart),
		protocol.ReasoningDelta: encodeData((*encoder).reasoningDelta),
		protocol.ReasoningEnd:   encodeData((*encoder).reasoningEnd),
		protocol.JoinedDeltas:   encodeData((*encoder).joinedDeltas),
		protocol.ToolStarted:    encodeData((*encoder).toolStarted),
		protocol.ToolInput:      encodeData((*encoder).toolInput),
		protocol.ToolOutput:     encodeData((*encoder).toolOutput),
		protocol.ToolEnded:      encodeData((*encoder).toolEnded),

		protocol.ApprovalRequested: encodeData(func(t *encoder, e *protocol.Event, d *protocol.Approval) []frame {
			if t.state.DecidedAtOnce(d) {
				return nativeNotice(e) // no answer is needed
			}
			if d.Kind == protocol.ApprovePlan { // MyAgent's clients learn the tasks first
				proposed := t.planFrame(d.Tasks, "")
				proposed.Meta["proposed"] = true
				return []frame{proposed, t.confirmFrame(d)}
			}
			return single(t.confirmFrame(d))
		}),

		protocol.PlanStarted:        encodeData((*encoder).planStarted),
		protocol.PlanCompleted:      encodeData((*encoder).planCompleted),
		protocol.PlanInvalid:        encodeData((*encoder).planInvalid),
		protocol.PlanCancelled:      encodeData((*encoder).planCancelled),
		protocol.PlanFailed:         encodeData((*encoder).planFailed),
		protocol.TaskStarted:        encodeData((*encoder).taskStarted),
		protocol.TaskProgress:       encodeData((*encoder).taskProgress),
		protocol.TaskCompleted:      encodeData((*encoder).taskCompleted),
		protocol.TaskFailed:         encodeData((*encoder).taskFailed),
		protocol.TaskCancelled:      encodeData((*encoder).taskCancelled),
		protocol.TaskRestarted:      encodeData((*encoder).taskRestarted),
		protocol.AggregateStarted:   encodeData((*encoder).aggregateStarted),
		protocol.AggregateCompleted: encodeData((*encoder).aggregateCompleted),
		protocol.PipelineCompleted:  encodeData((*encoder).pipelineCompleted),

		protocol.ErrorRaised:       encodeData((*encoder).errorRaised),
		protocol.RetryScheduled:    encodeData((*encoder).retryScheduled),
		protocol.RecoveryStarted:   encodeData((*encoder).recoveryStarted),
		protocol.RecoverySucceeded: encodeData((*encoder).recoverySucceeded),
		protocol.RecoveryFailed:    encodeData((*encoder).recoveryFailed),
		protocol.StateRestored:     encodeData((*encoder).stateRestored),
		protocol.Notice: encodeData(func(_ *encoder, _ *protocol.Event, d *protocol.NoticeData) []frame {
			f := notice(d.Message, meta{}.with("level", d.Level).with("code", string(d.Code)))
			return single(f)
		}),
	}
}

// encodeData returns an encoder that decodes the event's data first. An event that cannot be
// decoded becomes a notice.
func encodeData[T any](encode func(*encoder, *protocol.Event, *T) []frame) func(*encoder, *protocol.Event) []frame {
	return func(t *encoder, e *protocol.Event) []frame {
		d := new(T)
		if e.Decode(d) != nil {
			return nativeNotice(e)
		}
		return encode(t, e, d)
	}
}

func single(f frame) []frame { return []frame{f} }

// notice returns a system.notice with a text.
func notice(text string, m meta) frame {
	m["message"] = text
	return frame{Event: systemNotice, Content: text, Meta: m, Show: shorten(text)}
}

// nativeNotice encodes an event that the protocol has no frame for.
func nativeNotice(e *protocol.Event) []frame {
	data := e.Data
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	return single(notice(describeEvent(e), meta{"action": string(e.Type), "data": data}))
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
		return who + ": " + shorten(d.Text)
	case protocol.QueueAdded:
		return "Message queued: " + shorten(d.Text)
	case protocol.QueueScheduled:
		return "Message scheduled: " + shorten(d.Text)
	case protocol.ApprovalResolved:
		if e.By == nil {
			return "Confirmation " + string(d.Outcome)
		}
		return "Confirmation " + string(d.Outcome) + " by " + who
	case protocol.ApprovalExplained:
		return shorten(d.Text)
	}
	return string(e.Type)
}

func (enc *encoder) sessionCreated(_ *protocol.Event, d *protocol.SessionCreatedData) []frame {
	return single(createdFrame(d.Agent, d.Name, d.Title, d.CWD))
}

// createdFrame announces a new session.
func createdFrame(agent, name, title, cwd string) frame {
	return frame{
		Event: agentSessionCreated, Content: "Session created successfully", Show: showCreated,
		Meta: meta{"agent_name": agent}.with("name", name).with("title", title).with("cwd", cwd),
	}
}

func (enc *encoder) sessionClosed(e *protocol.Event, d *protocol.SessionClosedData) []frame {
	m := meta{"turns": enc.state.Turns}.with("reason", d.Reason)
	if !enc.state.Created.IsZero() {
		m["duration_seconds"] = seconds(max(0, e.Time.Sub(enc.state.Created).Milliseconds()))
	}
	return single(frame{Event: agentSessionEnd, Content: "Session closed", Meta: m, Show: showEnded})
}

func (enc *encoder) stateRestored(_ *protocol.Event, d *protocol.StateRestoredData) []frame {
	return single(frame{
		Event: agentStateRestored, Content: "State restored", Show: showRestored,
		Meta: meta{
			"original_session_id": d.Session, "restored_step": enc.state.Turns, "message_count": enc.state.Turns,
			"agent_name": enc.state.Agent, "warnings": []string{}, "position": d.Position, "exported_at": d.Exported,
		},
	})
}
