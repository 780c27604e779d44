package llm

import (
	"context"
	"slices"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/compaction"
	"agentctl/server/agent/llm/model"
)

// Fork implements agent.Forker. Of a turn that was summarized, the new session gets the
// transcript as text.
func (a *Agent) Fork(ctx context.Context, turn string) ([]byte, []agent.Blob, error) {
	fork := a.forked(turn)
	blobs, err := fork.loadBlobs(ctx, a.host)
	if err != nil {
		return nil, nil, err
	}
	b, _, err := fork.encode()
	return b, blobs, err
}

// forked returns the state of a fork through a turn; empty: before the first.
func (a *Agent) forked(turn string) state {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.state
	fork := state{Format: stateFormat, Model: s.Model, Effort: s.Effort, Policy: s.Policy}
	fork.Strategy = s.Strategy
	i := slices.IndexFunc(s.Turns, func(m turnMark) bool { return m.Turn == turn })
	switch {
	case turn == "":
	case i < 0:
		fork.Transcript = true
	default:
		fork.Conversation, fork.Turns = s.through(i), slices.Clone(s.Turns[:i+1])
		fork.Files, fork.Steps, fork.Asked = slices.Clone(s.Files), slices.Clone(s.Steps), slices.Clone(s.Asked)
	}
	return fork
}

// through returns the conversation through the i-th turn that it has a mark of.
func (s *state) through(i int) []model.Message {
	if i+1 < len(s.Turns) {
		return s.before(s.Turns[i+1])
	}
	messages := slices.Clone(s.Conversation)
	if s.Turn != nil && len(s.Turn.Calls) > 0 {
		messages = append(messages, results(s.Turn.Calls, notRun))
	}
	return messages
}

// before returns the conversation before a turn.
func (s *state) before(m turnMark) []model.Message {
	messages := slices.Clone(s.Conversation[:m.At])
	if m.Part > 0 {
		last := s.Conversation[m.At]
		last.Parts = slices.Clone(last.Parts[:m.Part])
		messages = append(messages, last)
	}
	return messages
}

// Undo implements agent.Undoer.
func (a *Agent) Undo(ctx context.Context, files bool) (agent.Undone, error) {
	var none agent.Undone
	_, toolbox, err := a.open(ctx)
	if err != nil {
		return none, err
	}
	a.compactMu.Lock()
	defer a.compactMu.Unlock()
	a.mu.Lock()
	running, turns := a.running, slices.Clone(a.state.Turns)
	a.mu.Unlock()
	switch {
	case running:
		return none, protocol.Errorf(protocol.CodeConflict, "a turn is running: interrupt it first")
	case len(turns) == 0:
		return none, protocol.Errorf(protocol.CodeConflict,
			"the agent has no turn to undo: earlier ones are only in its summary, if there are any")
	}
	last := turns[len(turns)-1]
	done := agent.Undone{Turn: last.Turn}
	if files && toolbox != nil {
		if done.Restored, done.Kept, err = toolbox.Undo(last.Turn); err != nil {
			return none, err
		}
	}
	forgot := false
	err = a.update(a.host, func(s *state) {
		if n := len(s.Turns); n == 0 || s.Turns[n-1] != last {
			return // a turn has begun since: it stays
		}
		forgot = true
		s.Conversation, s.Turn = s.before(last), nil
		s.Turns = s.Turns[:len(s.Turns)-1]
		size := a.measure(s, toolbox).size()
		s.setContext(s.tokens(size), size)
	})
	if err == nil && !forgot {
		err = protocol.Errorf(protocol.CodeConflict, "a turn has begun: interrupt it first")
	}
	return done, err
}

// transcriptNote is followed by the transcript of a conversation.
const transcriptNote = "[The conversation before this point, as text:]\n\n"

// addTranscript adds the transcript of the session to the conversation of a fork that has none.
func (t *turnRun) addTranscript(ctx context.Context) error {
	a := t.agent
	a.mu.Lock()
	missing := a.state.Transcript
	a.mu.Unlock()
	if !missing {
		return nil
	}
	backend, _, err := a.open(ctx)
	if err != nil {
		return err
	}
	text, err := a.host.Transcript(ctx, int(min(1<<20, max(32<<10, backend.Window*bytesPerToken/2))))
	if err != nil {
		return err
	}
	return a.update(t.out, func(s *state) {
		if s.Transcript = false; text != "" {
			note := model.Texts(model.User, transcriptNote+text)
			s.Conversation = slices.Insert(s.Conversation, 0, note)
			s.setContext(s.tokens(compaction.Size(s.Conversation)), compaction.Size(s.Conversation))
		}
	})
}
