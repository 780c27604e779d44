package myagent

import (
	"time"

	"agentctl/protocol"
)

// maxAnswer bounds the final answer, in bytes: MyAgent's clients accept messages of 1 MiB.
const maxAnswer = 256 << 10

// maxShown bounds the answer that the display text repeats, in bytes.
const maxShown = 64 << 10

// A serverTurn collects what the end of a turn repeats.
type serverTurn struct {
	answer    []byte // text outside of tasks
	last      string // its last part
	truncated bool   // the answer exceeded its bound
	aggregate string
	parts     map[string]*serverPart
	tools     map[string]*serverTool
	tasks     map[string]time.Time // start times

	results     map[string]solverResult // by task
	resultOrder []string                // their tasks, in the order of their ends
	resultBytes int                     // of their texts
}

// A serverPart is an open part.
type serverPart struct {
	agent  string
	bytes  int
	pieces int
}

// maxOpen bounds the open parts and tools of a turn.
const maxOpen = 512

func (t *serverTurn) part(id string) *serverPart {
	if p := t.parts[id]; p != nil {
		return p
	}
	if t.parts == nil || len(t.parts) >= maxOpen {
		t.parts = map[string]*serverPart{}
	}
	p := new(serverPart)
	t.parts[id] = p
	return p
}

// appendAnswer adds top-level text to the answer.
func (t *serverTurn) appendAnswer(part, text string) {
	if len(t.answer) > 0 && t.last != part {
		text = "\n\n" + text
	}
	t.last = part
	if room := maxAnswer - len(t.answer); len(text) > room {
		t.truncated = true
		if room < 4 {
			return
		}
		text = protocol.SplitText(text, room)[0]
	}
	t.answer = append(t.answer, text...)
}

// finalAnswer returns the whole answer.
func (t *serverTurn) finalAnswer() string {
	if len(t.answer) == 0 {
		return t.aggregate
	}
	return string(t.answer)
}

// partStart sends an empty part, so that parts keep their order.
func (enc *encoder) partStart(e *protocol.Event, d *protocol.PartStartData) []frame {
	enc.part(d.Part).agent = d.Agent
	f := frame{
		Event: agentPartialAnswer, Content: "", Show: "",
		Meta: meta{"is_streaming": true, "is_final": false, "part": d.Part, "word_count": 0},
	}
	if e.Type == protocol.ReasoningStart {
		f = frame{Event: agentThinking, Content: "", Meta: meta{"streaming": true, "part": d.Part}, Show: showThinking}
	}
	f.Meta.with("agent_name", d.Agent)
	return single(f)
}

func (enc *encoder) textDelta(e *protocol.Event, d *protocol.PartDeltaData) []frame {
	p := enc.part(d.Part)
	p.bytes += len(d.Text)
	p.pieces++
	if e.Task == "" && e.Parent == "" {
		enc.appendAnswer(d.Part, d.Text)
	}
	return single(frame{
		Event: agentPartialAnswer, Content: d.Text, Show: d.Text,
		Meta: meta{
			"is_streaming": true, "is_final": false, "part": d.Part, "word_count": p.pieces,
		}.with("agent_name", p.agent),
	})
}

func (enc *encoder) textEnd(_ *protocol.Event, d *protocol.PartEndData) []frame {
	p := enc.part(d.Part)
	delete(enc.parts, d.Part)
	return single(frame{
		Event: agentPartialAnswer, Content: "", Show: "",
		Meta: meta{
			"is_streaming": true, "is_final": true, "part": d.Part, "total_length": p.bytes,
		}.with("execution_time_ms", d.DurationMS),
	})
}

func (enc *encoder) reasoningDelta(_ *protocol.Event, d *protocol.PartDeltaData) []frame {
	p := enc.part(d.Part)
	m := meta{"streaming": true, "part": d.Part}.with("agent_name", p.agent)
	if enc.state.Usage != nil {
		m.with("model", enc.state.Usage.Model)
	}
	return single(frame{Event: agentThinking, Content: d.Text, Meta: m, Show: showThinking})
}

func (enc *encoder) reasoningEnd(_ *protocol.Event, d *protocol.PartEndData) []frame {
	delete(enc.parts, d.Part)
	return single(frame{
		Event: agentThinking, Content: "", Show: showThinking,
		Meta: meta{"streaming": true, "is_final": true, "part": d.Part}.with("execution_time_ms", d.DurationMS),
	})
}

// joinedDeltas encodes a run of deltas part by part.
func (enc *encoder) joinedDeltas(e *protocol.Event, d *protocol.JoinedData) []frame {
	var frames []frame
	for _, p := range d.Parts {
		event := *e
		event.Task, event.Parent = p.Task, p.Parent
		var partFrames []frame
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
				f.Meta["task_id"] = taskID(p.Task)
			}
			f.Meta.with("parent_id", p.Parent)
			frames = append(frames, f)
		}
	}
	return frames
}

func (enc *encoder) turnStarted(e *protocol.Event, d *protocol.TurnStartedData) []frame {
	if d.Resumed {
		return nativeNotice(e)
	}
	enc.serverTurn = serverTurn{}
	return nil
}

// turnEnded encodes the end of a turn in the event for its reason.
func (enc *encoder) turnEnded(e *protocol.Event, d *protocol.TurnEndedData) []frame {
	frames := enc.unfinishedTools()
	if p := enc.state.Plan; p != nil && p.Status == protocol.StatusRunning && d.Reason != protocol.ReasonCompleted {
		f := frame{
			Step: null, Event: planCancelled, Content: meta{"reason": string(d.Reason)}, Show: showPlanCancelled,
			Meta: meta{"reason": string(d.Reason), "implied": true},
		}
		frames = append(frames, f)
	}
	m := meta{"reason": string(d.Reason)}.with("execution_time_ms", d.DurationMS)
	m.with("code", string(d.Code)).with("truncated", enc.truncated).with("message", d.Message)
	if d.Usage != nil {
		m["tokens_used"] = *d.Usage
	}
	f := frame{Meta: m, Content: d.Message}
	switch d.Reason {
	case protocol.ReasonCompleted:
		answer := enc.finalAnswer()
		f.Event, f.Content, f.Show = agentFinalAnswer, answer, answer
		if len(answer) > maxShown {
			f.Show = shorten(answer)
		}
	case protocol.ReasonInterrupted, protocol.ReasonDenied:
		f.Event, f.Show = agentInterrupted, showInterrupted
		if d.Message == "" {
			f.Content = "Execution interrupted"
		}
	case protocol.ReasonTimeout:
		f.Event, f.Show = agentTimeout, showTimeout
		m["duration_seconds"], m["stage"] = seconds(d.DurationMS), enc.stage()
		if d.Message == "" {
			f.Content = "Execution timed out"
		}
	default:
		f.Event, f.Show = agentError, showError
		m["error_type"], m["context"] = string(d.Reason), meta{"stage": enc.stage()}
		if d.Code != "" {
			m["error_type"] = string(d.Code)
		}
		if d.Message == "" {
			f.Content = "The turn ended: " + string(d.Reason)
		}
	}
	enc.serverTurn = serverTurn{}
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
