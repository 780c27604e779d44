package llm

import (
	"context"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
)

// answerOf returns how a response ended.
func answerOf(r *model.Response) *lastAnswer {
	return &lastAnswer{Stop: r.Stop, Detail: r.Detail, Empty: len(r.Message.Parts) == 0}
}

// resumes reports whether the state has the turn, which then continues after a restart.
func (t *turnRun) resumes(s *state) bool {
	return t.turn.Resumed && s.Turn != nil && s.Turn.ID == t.turn.ID
}

// ended returns how a resumed turn ended if it had before the restart, or nil.
func (t *turnRun) ended() *agent.End {
	t.agent.mu.Lock()
	defer t.agent.mu.Unlock()
	if !t.resumes(&t.agent.state) {
		return nil
	}
	return t.agent.state.Turn.End
}

// last returns the answer that ends a resumed turn, or nil if the turn continues.
func (t *turnRun) last() *lastAnswer {
	t.agent.mu.Lock()
	defer t.agent.mu.Unlock()
	turn := t.agent.state.Turn
	if !t.resumes(&t.agent.state) || turn.Last == nil || len(turn.Calls) > 0 {
		return nil
	}
	switch turn.Last.Stop {
	case model.StopEnd, model.StopLength, model.StopRefusal:
		return turn.Last
	}
	return nil
}

// resume prepares the state for the rest of the turn. Text in the log but not in the conversation
// belongs to an answer that the server's stop cut off: the model continues it.
func (t *turnRun) resume(s *state) {
	text := t.unrecorded(s.Turn)
	s.Turn.Step += maxFailures // attempts since the state was stored
	if s.Turn.Open, s.Turn.Recorded = "", 0; t.open != nil {
		s.Turn.Open, s.Turn.Recorded = t.open.id, t.open.shown
	}
	switch {
	case text != "":
		s.add(model.Texts(model.Assistant, text))
		s.add(model.Texts(model.User, cutNote))
	case s.endsWith(interruptedNote):
		s.add(model.Texts(model.User, resumeNote))
	}
}

// unrecorded returns the text that the turn has shown and the conversation lacks. A text that is
// still open is the one to be continued.
func (t *turnRun) unrecorded(turn *turnState) string {
	var b strings.Builder
	for _, x := range t.turn.Shown {
		if x.Kind != protocol.KindText {
			continue
		}
		step, _, _ := strings.Cut(x.Part, ".")
		n, err := strconv.Atoi(step)
		switch {
		case err != nil:
			continue
		case x.Part == turn.Open:
			b.WriteString(x.Text[min(turn.Recorded, len(x.Text)):])
		case n > turn.Step:
			b.WriteString(x.Text)
		default:
			continue
		}
		if t.open = nil; x.Open {
			t.open = &livePart{id: x.Part, kind: model.Text, began: time.Now(), shown: len(x.Text)}
		}
	}
	return b.String()
}

// endReasoning ends the reasoning that a resumed turn left open: the model restarts it.
func (t *turnRun) endReasoning() error {
	for _, x := range t.turn.Shown {
		if x.Kind != protocol.KindReasoning || !x.Open {
			continue
		}
		if err := t.emit(protocol.ReasoningEnd, protocol.PartEndData{Part: x.Part}); err != nil {
			return err
		}
	}
	return nil
}

// isVoid reports whether the request for a call was made before a restart of the server, and the
// basis of the call has changed since. The first time it stores the basis, before users are asked.
func (t *turnRun) isVoid(i int, basis string) (bool, error) {
	t.agent.mu.Lock()
	asked := t.agent.state.Turn.Calls[i].Basis
	t.agent.mu.Unlock()
	if asked == basis || asked != "" {
		return asked != basis, nil
	}
	return false, t.agent.update(t.out, func(s *state) { s.Turn.Calls[i].Basis = basis })
}

// withdrawRequest cancels a request of the turn that was made before a restart, if it is still
// pending. A decision does not count.
func (t *turnRun) withdrawRequest(ctx context.Context, request string) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_, _ = t.out.Ask(ctx, protocol.Approval{Request: request, Kind: protocol.ApproveTool})
}
