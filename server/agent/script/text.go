package script

import (
	"context"
	"errors"
	"fmt"
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
	emit := func(t protocol.Type, data any) error {
		return r.emit(ctx, agent.Event{Type: t, Task: s.Task, Parent: s.Parent, Data: data})
	}
	if err := emit(start, protocol.PartStartData{Part: part, Agent: s.Agent}); err != nil {
		return err
	}
	for chunk, delay := range s.withDefaults(r.agent.script.rate).stream(text, s.Times) {
		if err := r.sleep(ctx, delay); err != nil {
			return err
		}
		if err := emit(delta, protocol.PartDeltaData{Part: part, Text: chunk}); err != nil {
			return err
		}
	}
	if s.Open {
		return nil
	}
	return emit(end, protocol.PartEndData{Part: part})
}

// burst emits many deltas of one size. The number in each text makes order and loss visible.
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
	start, delta, end := partTypes(protocol.Kind(b.Kind))
	for _, p := range parts {
		if err := r.emitData(ctx, start, protocol.PartStartData{Part: p}); err != nil {
			return err
		}
	}
	for i := range b.Deltas {
		if err := r.sleep(ctx, time.Duration(b.Delay)); err != nil {
			return err
		}
		text := fmt.Sprintf("%d ", i)
		text += strings.Repeat(".", max(0, b.Size-len(text)))
		if err := r.emitData(ctx, delta, protocol.PartDeltaData{Part: parts[i%len(parts)], Text: text}); err != nil {
			return err
		}
	}
	for _, p := range parts {
		if err := r.emitData(ctx, end, protocol.PartEndData{Part: p}); err != nil {
			return err
		}
	}
	return nil
}

func partTypes(kind protocol.Kind) (start, delta, end protocol.Type) {
	if kind == protocol.KindReasoning {
		return protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd
	}
	return protocol.TextStart, protocol.TextDelta, protocol.TextEnd
}
