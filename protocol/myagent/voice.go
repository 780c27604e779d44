package myagent

import (
	"time"

	"agentctl/protocol"
)

// maxAnswer bounds the final answer's text, in bytes: MyAgent's clients take messages of 1 MiB.
const maxAnswer = 256 << 10

// A voice is what a turn has said so far, as far as MyAgent wants it again at the end.
type voice struct {
	answer    []byte // the text outside of tasks
	last      string // its last part
	cut       bool   // the answer is longer
	aggregate string
	parts     map[string]*partVoice
	tools     map[string]*toolVoice
	tasks     map[string]time.Time // when each began
}

// A partVoice is an open part.
type partVoice struct {
	agent string
	bytes int
}

// maxOpen bounds the open parts and tools whose details are remembered.
const maxOpen = 512

func (v *voice) part(id string) *partVoice {
	if p := v.parts[id]; p != nil {
		return p
	}
	if v.parts == nil || len(v.parts) >= maxOpen {
		v.parts = map[string]*partVoice{}
	}
	p := new(partVoice)
	v.parts[id] = p
	return p
}

// says adds a top-level text to the answer.
func (v *voice) says(part, text string) {
	if len(v.answer) > 0 && v.last != part {
		text = "\n\n" + text
	}
	v.last = part
	if room := maxAnswer - len(v.answer); len(text) > room {
		v.cut = true
		if room < 4 {
			return
		}
		text = protocol.SplitText(text, room)[0]
	}
	v.answer = append(v.answer, text...)
}

// final is the whole answer.
func (v *voice) final() string {
	if len(v.answer) == 0 {
		return v.aggregate
	}
	return string(v.answer)
}

// partStart tells a part that holds nothing yet, so that parts keep their order.
func (t *teller) partStart(e *protocol.Event, d *protocol.PartStartData) []frame {
	t.part(d.Part).agent = d.Agent
	f := frame{Event: agentPartialAnswer, Content: "", Meta: meta{"is_streaming": true, "is_final": false, "part": d.Part}}
	if e.Type == protocol.ReasoningStart {
		f = frame{Event: agentThinking, Content: "", Meta: meta{"streaming": true, "part": d.Part}, Show: showThinking}
	}
	f.Meta.with("agent_name", d.Agent)
	return one(f)
}

func (t *teller) textDelta(e *protocol.Event, d *protocol.PartDeltaData) []frame {
	p := t.part(d.Part)
	p.bytes += len(d.Text)
	if e.Task == "" && e.Parent == "" {
		t.says(d.Part, d.Text)
	}
	return one(frame{
		Event: agentPartialAnswer, Content: d.Text,
		Meta: meta{"is_streaming": true, "is_final": false, "part": d.Part}.with("agent_name", p.agent),
	})
}

func (t *teller) textEnd(_ *protocol.Event, d *protocol.PartEndData) []frame {
	p := t.part(d.Part)
	delete(t.parts, d.Part)
	return one(frame{
		Event: agentPartialAnswer, Content: "",
		Meta: meta{"is_streaming": true, "is_final": true, "part": d.Part, "total_length": p.bytes}.with("execution_time_ms", d.DurationMS),
	})
}

func (t *teller) reasoningDelta(_ *protocol.Event, d *protocol.PartDeltaData) []frame {
	p := t.part(d.Part)
	m := meta{"streaming": true, "part": d.Part}.with("agent_name", p.agent)
	if t.state.Usage != nil {
		m.with("model", t.state.Usage.Model)
	}
	return one(frame{Event: agentThinking, Content: d.Text, Meta: m, Show: showThinking})
}

func (t *teller) reasoningEnd(_ *protocol.Event, d *protocol.PartEndData) []frame {
	delete(t.parts, d.Part)
	return one(frame{
		Event: agentThinking, Content: "",
		Meta: meta{"streaming": true, "is_final": true, "part": d.Part}.with("execution_time_ms", d.DurationMS),
	})
}

// folded tells a run of deltas part by part.
func (t *teller) folded(e *protocol.Event, d *protocol.JoinedData) []frame {
	var frames []frame
	for _, p := range d.Parts {
		of := *e
		of.Task, of.Parent = p.Task, p.Parent
		var told []frame
		switch p.Kind {
		case protocol.KindText:
			told = t.textDelta(&of, &protocol.PartDeltaData{Part: p.Part, Text: p.Text})
		case protocol.KindReasoning:
			told = t.reasoningDelta(&of, &protocol.PartDeltaData{Part: p.Part, Text: p.Text})
		case protocol.KindInput:
			told = t.toolInput(&of, &protocol.ToolInputData{Tool: p.Part, Text: p.Text})
		case protocol.KindOutput:
			told = t.toolOutput(&of, &protocol.ToolOutputData{Tool: p.Part, Text: p.Text})
		}
		for _, f := range told {
			if p.Task != "" {
				f.Meta["task_id"] = taskID(p.Task)
			}
			f.Meta.with("parent_id", p.Parent)
			frames = append(frames, f)
		}
	}
	return frames
}

func (t *teller) turnStarted(e *protocol.Event, d *protocol.TurnStartedData) []frame {
	if d.Resumed {
		return noted(e)
	}
	t.voice = voice{}
	return nil
}

// turnEnded tells the end in the word that fits its reason.
func (t *teller) turnEnded(e *protocol.Event, d *protocol.TurnEndedData) []frame {
	frames := t.unfinished()
	m := meta{"reason": string(d.Reason)}.with("execution_time_ms", d.DurationMS).with("code", string(d.Code)).with("truncated", t.cut).with("message", d.Message)
	if d.Usage != nil {
		m["tokens_used"] = *d.Usage
	}
	f := frame{Meta: m, Content: d.Message}
	switch d.Reason {
	case protocol.ReasonCompleted:
		f.Event, f.Content = agentFinalAnswer, t.final()
	case protocol.ReasonInterrupted, protocol.ReasonDenied:
		f.Event, f.Show = agentInterrupted, showInterrupted
		if d.Message == "" {
			f.Content = "Execution interrupted"
		}
	case protocol.ReasonTimeout:
		f.Event, f.Show = agentTimeout, showTimeout
		m["duration_seconds"], m["stage"] = seconds(d.DurationMS), t.stage()
		if d.Message == "" {
			f.Content = "Execution timed out"
		}
	default:
		f.Event, f.Show = agentError, showError
		m["error_type"], m["context"] = string(d.Reason), meta{"stage": t.stage()}
		if d.Code != "" {
			m["error_type"] = string(d.Code)
		}
		if d.Message == "" {
			f.Content = "The turn ended: " + string(d.Reason)
		}
	}
	t.voice = voice{}
	return append(frames, f)
}

// stage says what the turn was doing.
func (t *teller) stage() string {
	switch p := t.state.Plan; {
	case p == nil:
		return "agent"
	case p.Status == protocol.StatusRunning:
		return "plan"
	}
	return "solve"
}
