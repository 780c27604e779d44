package server

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// maxShown bounds the answer that the display text repeats, in bytes.
const maxShown = 64 << 10

// A turn collects the data that the end of a turn repeats.
type turn struct {
	answer    []byte // text outside of tasks
	last      string // its last part
	truncated bool   // the answer exceeded its bound
	aggregate string
	parts     map[string]*part
	tools     map[string]*tool
	tasks     map[string]time.Time // start times

	results     map[string]solverResult // by task
	resultOrder []string                // their tasks, in the order of their ends
	resultBytes int                     // of their texts
}

// A part is an open part.
type part struct {
	agent  string
	bytes  int
	pieces int
}

// maxOpen bounds the open parts and tools of a turn.
const maxOpen = 512

func (t *turn) part(id string) *part {
	if p := t.parts[id]; p != nil {
		return p
	}
	if t.parts == nil || len(t.parts) >= maxOpen {
		t.parts = map[string]*part{}
	}
	p := new(part)
	t.parts[id] = p
	return p
}

// appendAnswer adds top-level text to the answer.
func (t *turn) appendAnswer(part, text string) {
	if len(t.answer) > 0 && t.last != part {
		text = "\n\n" + text
	}
	t.last = part
	if room := wire.MaxAnswer - len(t.answer); len(text) > room {
		t.truncated = true
		if room < 4 {
			return
		}
		text = protocol.SplitText(text, room)[0]
	}
	t.answer = append(t.answer, text...)
}

// finalAnswer returns the whole answer.
func (t *turn) finalAnswer() string {
	if len(t.answer) == 0 {
		return t.aggregate
	}
	return string(t.answer)
}

// partStart sends an empty part, so that parts keep their order.
func (t *turn) partStart(e *protocol.Event, d *protocol.PartStartData) []wire.Frame {
	t.part(d.Part).agent = d.Agent
	f := wire.Frame{
		Event: wire.AgentPartialAnswer, Content: "", Show: "",
		Meta: wire.Meta{"is_streaming": true, "is_final": false, "part": d.Part, "word_count": 0},
	}
	if e.Type == protocol.ReasoningStart {
		f = wire.Frame{Event: wire.AgentThinking, Content: "", Meta: wire.Meta{"streaming": true, "part": d.Part}, Show: showThinking}
	}
	f.Meta.With("agent_name", d.Agent)
	return single(f)
}

func (t *turn) textDelta(e *protocol.Event, d *protocol.PartDeltaData) []wire.Frame {
	p := t.part(d.Part)
	p.bytes += len(d.Text)
	p.pieces++
	if e.Task == "" && e.Parent == "" {
		t.appendAnswer(d.Part, d.Text)
	}
	return single(wire.Frame{
		Event: wire.AgentPartialAnswer, Content: d.Text, Show: d.Text,
		Meta: wire.Meta{
			"is_streaming": true, "is_final": false, "part": d.Part, "word_count": p.pieces,
		}.With("agent_name", p.agent),
	})
}

func (t *turn) textEnd(_ *protocol.Event, d *protocol.PartEndData) []wire.Frame {
	p := t.part(d.Part)
	delete(t.parts, d.Part)
	return single(wire.Frame{
		Event: wire.AgentPartialAnswer, Content: "", Show: "",
		Meta: wire.Meta{
			"is_streaming": true, "is_final": true, "part": d.Part, "total_length": p.bytes,
		}.With("execution_time_ms", d.DurationMS),
	})
}

func (enc *encoder) reasoningDelta(_ *protocol.Event, d *protocol.PartDeltaData) []wire.Frame {
	p := enc.part(d.Part)
	m := wire.Meta{"streaming": true, "part": d.Part}.With("agent_name", p.agent)
	if enc.state.Usage != nil {
		m.With("model", enc.state.Usage.Model)
	}
	return single(wire.Frame{Event: wire.AgentThinking, Content: d.Text, Meta: m, Show: showThinking})
}

func (t *turn) reasoningEnd(_ *protocol.Event, d *protocol.PartEndData) []wire.Frame {
	delete(t.parts, d.Part)
	return single(wire.Frame{
		Event: wire.AgentThinking, Content: "", Show: showThinking,
		Meta: wire.Meta{"streaming": true, "is_final": true, "part": d.Part}.With("execution_time_ms", d.DurationMS),
	})
}

// joinedDeltas encodes a run of deltas part by part.
func (enc *encoder) joinedDeltas(e *protocol.Event, d *protocol.JoinedData) []wire.Frame {
	var frames []wire.Frame
	for _, p := range d.Parts {
		event := *e
		event.Task, event.Parent = p.Task, p.Parent
		var partFrames []wire.Frame
		switch p.Kind {
		case protocol.KindText:
			partFrames = enc.textDelta(&event, &protocol.PartDeltaData{Part: p.Part, Text: p.Text})
		case protocol.KindReasoning:
			partFrames = enc.reasoningDelta(&event, &protocol.PartDeltaData{Part: p.Part, Text: p.Text})
		case protocol.KindInput:
			partFrames = enc.toolInput(&event, &protocol.ToolInputData{Tool: p.Part, Text: p.Text})
		case protocol.KindOutput:
			partFrames = enc.toolOutput(&event, &protocol.ToolOutputData{Tool: p.Part, Text: p.Text})
		}
		for _, f := range partFrames {
			if p.Task != "" {
				f.Meta["task_id"] = wire.TaskID(p.Task)
			}
			f.Meta.With("parent_id", p.Parent)
			frames = append(frames, f)
		}
	}
	return frames
}

func (enc *encoder) turnStarted(e *protocol.Event, d *protocol.TurnStartedData) []wire.Frame {
	if d.Resumed {
		return nativeNotice(e)
	}
	enc.turn = turn{}
	return nil
}

// turnEnded encodes the end of a turn in the event for its reason.
func (enc *encoder) turnEnded(e *protocol.Event, d *protocol.TurnEndedData) []wire.Frame {
	frames := enc.unfinishedTools()
	if p := enc.state.Plan; p != nil && p.Status == protocol.StatusRunning && d.Reason != protocol.ReasonCompleted {
		f := wire.Frame{
			Step: wire.Null, Event: wire.PlanCancelled, Content: wire.Meta{"reason": string(d.Reason)}, Show: showPlanCancelled,
			Meta: wire.Meta{"reason": string(d.Reason), "implied": true},
		}
		frames = append(frames, f)
	}
	m := wire.Meta{"reason": string(d.Reason)}.With("execution_time_ms", d.DurationMS)
	m.With("code", string(d.Code)).With("truncated", enc.truncated).With("message", d.Message)
	if d.Usage != nil {
		m["tokens_used"] = *d.Usage
	}
	f := wire.Frame{Meta: m, Content: d.Message}
	switch d.Reason {
	case protocol.ReasonCompleted:
		answer := enc.finalAnswer()
		f.Event, f.Content, f.Show = wire.AgentFinalAnswer, answer, answer
		if len(answer) > maxShown {
			f.Show = wire.Shorten(answer)
		}
	case protocol.ReasonInterrupted, protocol.ReasonDenied:
		f.Event, f.Show = wire.AgentInterrupted, showInterrupted
		if d.Message == "" {
			f.Content = "Execution interrupted"
		}
	case protocol.ReasonTimeout:
		f.Event, f.Show = wire.AgentTimeout, showTimeout
		m["duration_seconds"], m["stage"] = wire.Seconds(d.DurationMS), enc.stage()
		if d.Message == "" {
			f.Content = "Execution timed out"
		}
	default:
		f.Event, f.Show = wire.AgentError, showError
		m["error_type"], m["context"] = string(d.Reason), wire.Meta{"stage": enc.stage()}
		if d.Code != "" {
			m["error_type"] = string(d.Code)
		}
		if d.Message == "" {
			f.Content = "The turn ended: " + string(d.Reason)
		}
	}
	enc.turn = turn{}
	return append(frames, f)
}

// stage returns the phase of the turn.
func (enc *encoder) stage() string {
	switch p := enc.state.Plan; {
	case p == nil:
		return "agent"
	case p.Status == protocol.StatusRunning:
		return "plan"
	}
	return "solve"
}
