package llm

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
)

// A livePart is a part of a response as events of the session.
type livePart struct {
	id    string
	kind  model.PartType
	began time.Time
	shown int // bytes of its text in the log
}

// A liveResponse emits the deltas of one attempt as events. One text or reasoning is open at a
// time.
type liveResponse struct {
	turn  *turnRun
	step  int
	parts map[int]*livePart
	open  *livePart // text or reasoning
	text  bool      // a text came: the attempt made progress
}

// emit emits a delta.
func (l *liveResponse) emit(d model.Delta) error {
	p := l.parts[d.Part]
	if p == nil {
		var err error
		if p, err = l.start(d); err != nil {
			return err
		}
	}
	if d.Text == "" {
		return nil
	}
	switch p.kind {
	case model.Text:
		l.text = true
		p.shown += len(d.Text)
		return l.turn.emit(protocol.TextDelta, protocol.PartDeltaData{Part: p.id, Text: d.Text})
	case model.Reasoning:
		return l.turn.emit(protocol.ReasoningDelta, protocol.PartDeltaData{Part: p.id, Text: d.Text})
	case model.ToolCall:
		return l.turn.emit(protocol.ToolInput, protocol.ToolInputData{Tool: p.id, Text: d.Text})
	}
	return nil
}

// start starts a part. A text continues the text that a cut attempt left open.
func (l *liveResponse) start(d model.Delta) (*livePart, error) {
	if l.open != nil && len(l.parts) == 0 && d.Type == model.Text && l.open.kind == model.Text {
		l.parts[d.Part] = l.open
		return l.open, nil
	}
	if err := l.end(); err != nil {
		return nil, err
	}
	p := &livePart{id: fmt.Sprintf("%d.%d", l.step, d.Part), kind: d.Type, began: time.Now()}
	l.parts[d.Part] = p
	switch d.Type {
	case model.Text:
		l.open = p
		return p, l.turn.emit(protocol.TextStart, protocol.PartStartData{Part: p.id})
	case model.Reasoning:
		l.open = p
		return p, l.turn.emit(protocol.ReasoningStart, protocol.PartStartData{Part: p.id})
	case model.ToolCall:
		p.id = l.turn.turn.ID + "." + p.id
		kind := l.turn.tools.named(d.Name).Kind
		return p, l.turn.emit(protocol.ToolStarted, protocol.ToolStartedData{Tool: p.id, Name: d.Name, Kind: kind})
	}
	return p, nil
}

// end ends the open text or reasoning.
func (l *liveResponse) end() error {
	if l.open == nil {
		return nil
	}
	return l.turn.out.Emit(l.ending())
}

// ending returns the event that ends the open text or reasoning.
func (l *liveResponse) ending() agent.Event {
	p := l.open
	l.open = nil
	typ := protocol.TextEnd
	if p.kind == model.Reasoning {
		typ = protocol.ReasoningEnd
	}
	return agent.Event{Type: typ, Data: protocol.PartEndData{
		Part: p.id, DurationMS: time.Since(p.began).Milliseconds(),
	}}
}

// tools returns the ids of the calls, in the order of the response.
func (l *liveResponse) tools() (ids []string) {
	for _, i := range slices.Sorted(maps.Keys(l.parts)) {
		if p := l.parts[i]; p.kind == model.ToolCall {
			ids = append(ids, p.id)
		}
	}
	return ids
}

// abandon ends the open items of an interrupted attempt: its calls never run. An open text stays
// open, to be continued by the next attempt.
func (l *liveResponse) abandon() error {
	for _, id := range l.tools() {
		err := l.turn.emit(protocol.ToolEnded, protocol.ToolEndedData{
			Tool: id, Status: protocol.ToolCancelled, Error: "the answer was cut before the call was complete",
		})
		if err != nil {
			return err
		}
	}
	if l.open != nil && l.open.kind == model.Text {
		return nil
	}
	return l.end()
}
