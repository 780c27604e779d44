package script

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/session"
)

// maxTimes bounds how often a step repeats its text, and the deltas of a burst.
const maxTimes = 10_000_000

// A speech is how a text is said.
type speech struct {
	Part   string `json:"part"`
	Agent  string `json:"agent"`
	Task   string `json:"task"`
	Parent string `json:"parent"`
	Times  int    `json:"times"` // the text is said that often, one after the other
	Open   bool   `json:"open"`
	pace
}

func (s *speech) check() error {
	if s.Times < 0 || s.Times > maxTimes {
		return fmt.Errorf("times: from 1 to %d", maxTimes)
	}
	return s.pace.check()
}

type say struct {
	Text string `json:"say"`
	speech
}

type think struct {
	Text string `json:"think"`
	speech
}

// rawBytes says what a broken agent might.
type rawBytes struct {
	Bytes []byte `json:"bytes"`
	speech
}

func (s *say) run(ctx context.Context, l *lane) error {
	return s.speak(ctx, l, protocol.KindText, l.fill(s.Text))
}

func (s *think) run(ctx context.Context, l *lane) error {
	return s.speak(ctx, l, protocol.KindReasoning, l.fill(s.Text))
}

func (s *rawBytes) run(ctx context.Context, l *lane) error {
	whole := s.speech
	whole.Words, whole.Runes = 0, max(1, len(s.Bytes))
	return whole.speak(ctx, l, protocol.KindText, string(s.Bytes))
}

func (s *speech) speak(ctx context.Context, l *lane, kind protocol.Kind, text string) error {
	part := l.part(s.Part)
	start, delta, end := partTypes(kind)
	event := func(t protocol.Type, data any) beat {
		return beat{event: session.Event{Type: t, Task: s.Task, Parent: s.Parent, Data: data}}
	}
	if err := l.play(ctx, event(start, protocol.PartStartData{Part: part, Agent: s.Agent})); err != nil {
		return err
	}
	for chunk, delay := range s.or(l.agent.script.pace).stream(text, s.Times) {
		b := event(delta, protocol.PartDeltaData{Part: part, Text: chunk})
		b.delay = delay
		if err := l.play(ctx, b); err != nil {
			return err
		}
	}
	if s.Open {
		return nil
	}
	return l.play(ctx, event(end, protocol.PartEndData{Part: part}))
}

// burst is load: many deltas of one size. Each tells its number, so that order and loss can be seen.
type burst struct {
	Deltas int    `json:"burst"`
	Size   int    `json:"size"`
	Parts  int    `json:"parts"`
	Kind   string `json:"kind"`
	Delay  span   `json:"delay"`
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

func (b *burst) run(ctx context.Context, l *lane) error {
	parts := make([]string, max(1, b.Parts))
	for i := range parts {
		parts[i] = l.part("")
	}
	return l.playAll(ctx, b.beats(parts))
}

func (b *burst) beats(parts []string) iter.Seq[beat] {
	start, delta, end := partTypes(protocol.Kind(b.Kind))
	return func(yield func(beat) bool) {
		for _, p := range parts {
			if !yield(beat{event: session.Event{Type: start, Data: protocol.PartStartData{Part: p}}}) {
				return
			}
		}
		for i := range b.Deltas {
			text := fmt.Sprintf("%d ", i)
			text += strings.Repeat(".", max(0, b.Size-len(text)))
			data := protocol.PartDeltaData{Part: parts[i%len(parts)], Text: text}
			if !yield(beat{delay: time.Duration(b.Delay), event: session.Event{Type: delta, Data: data}}) {
				return
			}
		}
		for _, p := range parts {
			if !yield(beat{event: session.Event{Type: end, Data: protocol.PartEndData{Part: p}}}) {
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
