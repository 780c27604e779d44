package script

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// maxTimes is the maximum of times, and of the deltas of a burst.
const maxTimes = 10_000_000

// textOptions are the options of a step that streams text.
type textOptions struct {
	Part   string `json:"part"`
	Agent  string `json:"agent"`
	Task   string `json:"task"`
	Parent string `json:"parent"`
	Times  int    `json:"times"` // repeat the text
	Open   bool   `json:"open"`
	rate
}

func (s *textOptions) check() error {
	if s.Times < 0 || s.Times > maxTimes {
		return fmt.Errorf("times: from 1 to %d", maxTimes)
	}
	return s.rate.check()
}

type say struct {
	Text string `json:"say"`
	textOptions
}

type think struct {
	Text string `json:"think"`
	textOptions
}

// rawBytes streams bytes that may be invalid UTF-8.
type rawBytes struct {
	Bytes []byte `json:"bytes"`
	textOptions
}

func (s *say) run(ctx context.Context, r *runner) error {
	return s.streamText(ctx, r, protocol.KindText, r.expand(s.Text))
}

func (s *think) run(ctx context.Context, r *runner) error {
	return s.streamText(ctx, r, protocol.KindReasoning, r.expand(s.Text))
}

func (s *rawBytes) run(ctx context.Context, r *runner) error {
	whole := s.textOptions
	whole.Words, whole.Runes = 0, max(1, len(s.Bytes))
	return whole.streamText(ctx, r, protocol.KindText, string(s.Bytes))
}

func (s *textOptions) streamText(ctx context.Context, r *runner, kind protocol.Kind, text string) error {
	part := r.partID(s.Part)
	start, delta, end := partTypes(kind)
	event := func(t protocol.Type, data any) timedEvent {
		return timedEvent{event: agent.Event{Type: t, Task: s.Task, Parent: s.Parent, Data: data}}
	}
	if err := r.emitTimed(ctx, event(start, protocol.PartStartData{Part: part, Agent: s.Agent})); err != nil {
		return err
	}
	for chunk, delay := range s.withDefaults(r.agent.script.rate).stream(text, s.Times) {
		e := event(delta, protocol.PartDeltaData{Part: part, Text: chunk})
		e.delay = delay
		if err := r.emitTimed(ctx, e); err != nil {
			return err
		}
	}
	if s.Open {
		return nil
	}
	return r.emitTimed(ctx, event(end, protocol.PartEndData{Part: part}))
}

// burst emits many deltas of one size. The text of each includes its number, so order and loss are
// visible.
type burst struct {
	Deltas int      `json:"burst"`
	Size   int      `json:"size"`
	Parts  int      `json:"parts"`
	Kind   string   `json:"kind"`
	Delay  duration `json:"delay"`
}

func (b *burst) check() error {
	switch {
	case b.Deltas < 1 || b.Deltas > maxTimes:
		return fmt.Errorf("from 1 to %d deltas", maxTimes)
	case b.Size < 0 || b.Size > protocol.MaxText:
		return fmt.Errorf("size: from 0 to %d bytes", protocol.MaxText)
	case b.Parts < 0 || b.Parts > 1000:
		return errors.New("parts: from 1 to 1000")
	case b.Kind != "" && b.Kind != string(protocol.KindText) && b.Kind != string(protocol.KindReasoning):
		return errors.New("kind: text or reasoning")
	}
	return nil
}

func (b *burst) run(ctx context.Context, r *runner) error {
	parts := make([]string, max(1, b.Parts))
	for i := range parts {
		parts[i] = r.partID("")
	}
	return r.emitAll(ctx, b.events(parts))
}

func (b *burst) events(parts []string) iter.Seq[timedEvent] {
	start, delta, end := partTypes(protocol.Kind(b.Kind))
	return func(yield func(timedEvent) bool) {
		for _, p := range parts {
			if !yield(timedEvent{event: agent.Event{Type: start, Data: protocol.PartStartData{Part: p}}}) {
				return
			}
		}
		for i := range b.Deltas {
			text := fmt.Sprintf("%d ", i)
			text += strings.Repeat(".", max(0, b.Size-len(text)))
			data := protocol.PartDeltaData{Part: parts[i%len(parts)], Text: text}
			if !yield(timedEvent{delay: time.Duration(b.Delay), event: agent.Event{Type: delta, Data: data}}) {
				return
			}
		}
		for _, p := range parts {
			if !yield(timedEvent{event: agent.Event{Type: end, Data: protocol.PartEndData{Part: p}}}) {
				return
			}
		}
	}
}

func partTypes(kind protocol.Kind) (start, delta, end protocol.Type) {
	if kind == protocol.KindReasoning {
		return protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd
	}
	return protocol.TextStart, protocol.TextDelta, protocol.TextEnd
}
