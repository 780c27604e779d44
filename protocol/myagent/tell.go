package myagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// A teller tells a session's native events in MyAgent's words.
type teller struct {
	state *protocol.State // before the event being told
	voice                 // of the turn under way
}

// tell returns the frames that tell a durable event, often none. An event that does not continue the log is told all the same.
func (t *teller) tell(e *protocol.Event) []frame {
	var frames []frame
	if of := tellings[e.Type]; of != nil {
		frames = of(t, e)
	} else {
		frames = noted(e)
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
	if t.state.Apply(e) != nil {
		t.state.Seq = e.Seq
	}
	return frames
}

// tellings holds how each type is told; what is missing is noted.
var tellings map[protocol.Type]func(*teller, *protocol.Event) []frame

func init() {
	tellings = map[protocol.Type]func(*teller, *protocol.Event) []frame{
		protocol.SessionCreated: telling((*teller).sessionCreated),
		protocol.SessionClosed:  telling((*teller).sessionClosed),
		protocol.TurnStarted:    telling((*teller).turnStarted),
		protocol.TurnEnded:      telling((*teller).turnEnded),

		protocol.TextStart:      telling((*teller).partStart),
		protocol.TextDelta:      telling((*teller).textDelta),
		protocol.TextEnd:        telling((*teller).textEnd),
		protocol.ReasoningStart: telling((*teller).partStart),
		protocol.ReasoningDelta: telling((*teller).reasoningDelta),
		protocol.ReasoningEnd:   telling((*teller).reasoningEnd),
		protocol.JoinedDeltas:   telling((*teller).folded),
		protocol.ToolStarted:    telling((*teller).toolStarted),
		protocol.ToolInput:      telling((*teller).toolInput),
		protocol.ToolOutput:     telling((*teller).toolOutput),
		protocol.ToolEnded:      telling((*teller).toolEnded),

		protocol.ApprovalRequested: telling(func(t *teller, e *protocol.Event, d *protocol.Approval) []frame {
			if t.state.RuleFor(d) != nil {
				return noted(e) // nobody is asked
			}
			return one(t.confirm(d))
		}),

		protocol.PlanStarted:        telling((*teller).planStarted),
		protocol.PlanCompleted:      telling((*teller).planCompleted),
		protocol.PlanInvalid:        telling((*teller).planInvalid),
		protocol.PlanCancelled:      telling((*teller).planCancelled),
		protocol.PlanFailed:         telling((*teller).planFailed),
		protocol.TaskStarted:        telling((*teller).taskStarted),
		protocol.TaskProgress:       telling((*teller).taskProgress),
		protocol.TaskCompleted:      telling((*teller).taskCompleted),
		protocol.TaskFailed:         telling((*teller).taskFailed),
		protocol.TaskCancelled:      telling((*teller).taskCancelled),
		protocol.TaskRestarted:      telling((*teller).taskRestarted),
		protocol.AggregateStarted:   telling((*teller).aggregateStarted),
		protocol.AggregateCompleted: telling((*teller).aggregateCompleted),
		protocol.PipelineCompleted:  telling((*teller).pipelineCompleted),

		protocol.ErrorRaised:       telling((*teller).errorRaised),
		protocol.RetryScheduled:    telling((*teller).retryScheduled),
		protocol.RecoveryStarted:   telling((*teller).recoveryStarted),
		protocol.RecoverySucceeded: telling((*teller).recoverySucceeded),
		protocol.RecoveryFailed:    telling((*teller).recoveryFailed),
		protocol.StateRestored:     telling((*teller).stateRestored),
		protocol.Notice: telling(func(_ *teller, _ *protocol.Event, d *protocol.NoticeData) []frame {
			f := noticeFrame(d.Message, meta{}.with("level", d.Level).with("code", string(d.Code)))
			return one(f)
		}),
	}
}

// telling decodes an event's data before it is told; an event that cannot be read is noted.
func telling[T any](tell func(*teller, *protocol.Event, *T) []frame) func(*teller, *protocol.Event) []frame {
	return func(t *teller, e *protocol.Event) []frame {
		d := new(T)
		if e.Decode(d) != nil {
			return noted(e)
		}
		return tell(t, e, d)
	}
}

func one(f frame) []frame { return []frame{f} }

// noticeFrame says something to people.
func noticeFrame(words string, m meta) frame {
	m["message"] = words
	return frame{Event: systemNotice, Content: words, Meta: m, Show: shorten(words)}
}

// noted tells what MyAgent has no word for.
func noted(e *protocol.Event) []frame {
	data := e.Data
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	return one(noticeFrame(describe(e), meta{"action": string(e.Type), "data": data}))
}

// describe says what a noted event is about.
func describe(e *protocol.Event) string {
	var d struct {
		Text, Title, Message string
		Outcome              protocol.Outcome
		Percent              float64
	}
	_ = e.Decode(&d)
	who := "somebody"
	if e.By != nil && e.By.Name != "" {
		who = e.By.Name
	}
	switch e.Type {
	case protocol.MessageUser:
		return who + ": " + shorten(d.Text)
	case protocol.QueueAdded:
		return "Message queued: " + shorten(d.Text)
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

func (t *teller) sessionCreated(_ *protocol.Event, d *protocol.SessionCreatedData) []frame {
	return one(created(d.Agent, d.Name, d.Title, d.CWD))
}

// created tells of a new session.
func created(agent, name, title, cwd string) frame {
	return frame{
		Event: agentSessionCreated, Content: "Session created successfully", Show: showCreated,
		Meta: meta{"agent_name": agent}.with("name", name).with("title", title).with("cwd", cwd),
	}
}

func (t *teller) sessionClosed(e *protocol.Event, d *protocol.SessionClosedData) []frame {
	m := meta{"turns": t.state.Turns}.with("reason", d.Reason)
	if !t.state.Created.IsZero() {
		m["duration_seconds"] = seconds(max(0, e.Time.Sub(t.state.Created).Milliseconds()))
	}
	return one(frame{Event: agentSessionEnd, Content: "Session closed", Meta: m, Show: showEnded})
}

func (t *teller) stateRestored(_ *protocol.Event, d *protocol.StateRestoredData) []frame {
	return one(frame{
		Event: agentStateRestored, Content: "State restored", Show: showRestored,
		Meta: meta{"original_session_id": d.Session, "position": d.Position, "exported_at": d.Exported},
	})
}
