package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/compaction"
	"agentctl/server/agent/llm/model"
)

// The values of ContextCompactedData.Strategy.
const (
	droppedResults = "tool_results" // large results of tools were left out
	summarized     = "summary"      // of the older messages
	excerpted      = "excerpt"      // as a summary, but without the model: the rest did not fit its context
)

// A compacted context, not applied yet.
type compacted struct {
	messages []model.Message // the replacement of the first length messages
	length   int             // of the conversation that was compacted
	parts    int             // of its last message
	cut      int             // messages that a summary replaces; 0: none
	asked    []string        // messages of the user in these and in those before
	strategy string
}

// errSmall is the error of a conversation with nothing to compact.
var errSmall = protocol.Errorf(protocol.CodeConflict, "the context has nothing to compact yet")

// A compactor makes the context of an agent smaller once. The compactMu of the agent is held.
type compactor struct {
	agent   *Agent
	backend *model.Backend
	toolbox Toolbox
	forced  bool // the provider refused the context, or a user asked

	// failed reports a failed request that is tried again after a delay.
	failed func(r *retryPolicy, e *model.Error, delay time.Duration) error
}

// Compact implements agent.Compactor.
func (a *Agent) Compact(ctx context.Context) (protocol.ContextCompactedData, error) {
	var none protocol.ContextCompactedData
	backend, toolbox, err := a.open(ctx)
	if err != nil {
		return none, err
	}
	a.compactMu.Lock()
	defer a.compactMu.Unlock()
	c := &compactor{agent: a, backend: backend, toolbox: toolbox, forced: true}
	c.failed = func(*retryPolicy, *model.Error, time.Duration) error { return nil }
	plan, err := c.plan(ctx)
	if err != nil {
		return none, err
	}
	var d protocol.ContextCompactedData
	err = a.update(a.host, func(s *state) { d = c.apply(s, plan) })
	if err != nil {
		return none, err
	}
	return d, a.host.Emit(agent.Event{Type: protocol.ContextUpdated, Data: a.contextInfo(backend)})
}

// minSummarized is the size of messages that are not worth a summary.
const minSummarized = 1 << 10

// plan returns a smaller conversation. It changes nothing.
func (c *compactor) plan(ctx context.Context) (*compacted, error) {
	a := c.agent
	a.mu.Lock()
	messages := append([]model.Message(nil), a.state.Conversation...)
	m := a.measure(&a.state, c.toolbox)
	room, limit := m.room(c.backend.Window), m.room(m.limit(c.backend))
	a.mu.Unlock()
	size := compaction.Size(messages)
	goal := size / 2
	if room > 0 && (goal > room/2 || !c.forced) {
		goal = room / 2
	}
	if len(messages) == 0 || size < minSummarized {
		return nil, errSmall
	}
	p := &compacted{length: len(messages), parts: len(messages[len(messages)-1].Parts), strategy: droppedResults}
	var saved int64
	p.messages, saved = compaction.DropResults(messages, goal/2)
	if saved > 0 && !c.forced && size-saved <= goal {
		return p, nil
	}
	if p.cut = compaction.Split(p.messages, goal/2); compaction.Size(p.messages[:p.cut]) < minSummarized {
		p.cut = 0
	} else if err := c.replace(ctx, p, goal); err != nil {
		return nil, err
	}
	if p.cut == 0 && saved == 0 && c.forced {
		limit = goal
	}
	if limit > 0 {
		p.messages = compaction.Fit(p.messages, limit)
	}
	if compaction.Size(p.messages) >= size {
		return nil, errSmall
	}
	return p, nil
}

// replace replaces the first messages of a plan by their summary.
func (c *compactor) replace(ctx context.Context, p *compacted, goal int64) error {
	replaced := p.messages[:p.cut]
	text, strategy, err := c.summarize(ctx, replaced)
	if err != nil {
		return err
	}
	c.agent.mu.Lock()
	kept := c.agent.state.kept(p.cut, int(goal/4))
	c.agent.mu.Unlock()
	summary := compaction.Message(text, &kept)
	if got, had := int64(len(text)), compaction.Size(replaced); got > had {
		return protocol.Errorf(protocol.CodeAgentFailed, "the summary has %d bytes and replaces %d", got, had)
	}
	p.messages = append([]model.Message{summary}, p.messages[p.cut:]...)
	p.strategy, p.asked = strategy, kept.Asked
	return nil
}

// maxFailedSummaries are the failed requests for a summary after which an excerpt replaces it.
const maxFailedSummaries = 2

// summarize requests a summary of messages. If they do not fit the context of the model, it
// requests one of their shortened text. If the requests fail, it takes this text.
func (c *compactor) summarize(ctx context.Context, messages []model.Message) (text, strategy string, err error) {
	most := int(compaction.Size(messages)) / 2
	asked := compaction.Ask(messages)
	for failed := 0; failed < maxFailedSummaries; {
		text, err = c.request(ctx, asked, failed > 0)
		if err == nil {
			return text, summarized, nil
		}
		if ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		e, ok := errors.AsType[*model.Error](err)
		if !ok {
			return "", "", err
		}
		switch e.Class {
		case model.Auth, model.Quota, model.NoModel:
			return "", "", requestError(c.backend.Origin(), e)
		case model.Context:
			asked = compaction.AskText(messages, most)
			if most /= 2; most < minSummarized {
				failed = maxFailedSummaries
			}
		case model.Invalid:
			failed = maxFailedSummaries
		default:
			failed++
		}
	}
	return compaction.Text(messages, int(compaction.Size(messages))/4), excerpted, nil
}

// request requests the text of a summary. While the provider takes no requests, it asks again. noCalls
// forbids calls: not the first time, because providers that cache the conversation then read it again. Calls
// are dropped anyway.
func (c *compactor) request(ctx context.Context, messages []model.Message, noCalls bool) (string, error) {
	var retries retryPolicy
	for {
		r := c.agent.newRequest(c.backend, c.toolbox)
		r.Messages, r.NoCalls = messages, noCalls
		response, err := c.agent.requestAside(ctx, c.backend, r)
		if err == nil {
			return summaryOf(response)
		}
		e, ok := errors.AsType[*model.Error](err)
		if !ok {
			return "", err
		}
		delay, again := retries.next(e, false)
		if !again || e.Class != model.RateLimit && e.Class != model.Overloaded {
			return "", e
		}
		if err := c.failed(&retries, e, delay); err != nil {
			return "", err
		}
		if err := wait(ctx, delay); err != nil {
			return "", err
		}
	}
}

// summaryOf returns the text of a response.
func summaryOf(r *model.Response) (string, error) {
	text := r.Message.Text()
	switch {
	case r.Stop == model.StopContext:
		return "", model.Errorf(model.Context, "the context is full")
	case r.Stop == model.StopRefusal, text == "":
		return "", model.Errorf(model.Malformed, "the model gave no summary")
	}
	return text, nil
}

// apply puts a plan into effect. Messages that came after the plan was made stay.
func (c *compactor) apply(s *state, p *compacted) protocol.ContextCompactedData {
	before := s.tokens(c.agent.measure(s, c.toolbox).size())
	grown, rest := s.Conversation[p.length-1].Parts[p.parts:], s.Conversation[p.length:]
	s.Conversation = nil
	for _, m := range p.messages {
		s.add(m)
	}
	s.add(model.Message{Role: model.User, Parts: grown}) // only a message of the user grows
	for _, m := range rest {
		s.add(m)
	}
	if s.shiftTurns(p.cut); p.cut > 0 {
		s.Asked = p.asked
	}
	size := c.agent.measure(s, c.toolbox).size()
	after := s.tokens(size)
	s.setContext(after, size)
	s.Compacted = size
	d := protocol.ContextCompactedData{Before: before, After: after, Strategy: p.strategy}
	d.Percent = max(0, 100*float64(before-after)/float64(max(1, before)))
	return d
}

// fitContext compacts the context before a request that would fill too much of it, or does not fit.
func (t *turnRun) fitContext(ctx context.Context) error {
	t.agent.mu.Lock()
	m := t.agent.measure(&t.agent.state, t.toolbox)
	percent, full := m.full(t.backend)
	size := m.size()
	t.agent.mu.Unlock()
	forced := percent > 100
	if !full && !forced || size < t.unfit+t.unfit/4 {
		return nil
	}
	err := t.compact(ctx, forced, fmt.Sprintf("the context is %.0f%% full: compacting it", percent))
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	t.unfit = size
	if errors.Is(err, errSmall) {
		return nil
	}
	return t.notice(protocol.LevelWarning, "the context was not compacted: "+err.Error())
}

// compact compacts the context within a turn.
func (t *turnRun) compact(ctx context.Context, forced bool, why string) error {
	a := t.agent
	a.compactMu.Lock()
	defer a.compactMu.Unlock()
	if err := t.notice(protocol.LevelInfo, why); err != nil {
		return err
	}
	c := &compactor{agent: a, backend: t.backend, toolbox: t.toolbox, forced: forced, failed: t.showRetry}
	p, err := c.plan(ctx)
	if err != nil {
		return err
	}
	var d protocol.ContextCompactedData
	err = a.change(func(s *state) { d = c.apply(s, p); d.Automatic = true }, func(saved []byte) error {
		return t.out.Emit(agent.Event{Type: protocol.ContextCompacted, Data: d, Save: saved})
	})
	if err != nil {
		return err
	}
	return t.emit(protocol.ContextUpdated, a.contextInfo(t.backend))
}

// overflow makes room after the provider refused the context. It reports whether to try again.
func (t *turnRun) overflow(ctx context.Context, attempt int) (bool, error) {
	const attempts = 6 // each halves the context
	if attempt >= attempts {
		return false, nil
	}
	err := t.compact(ctx, true, "the context of the model is full: compacting it")
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, errSmall):
		return false, nil
	}
	return false, err
}

// makeRoom lets the model continue after its answer has filled the context.
func (t *turnRun) makeRoom(ctx context.Context) error {
	if _, err := t.overflow(ctx, 0); err != nil {
		return err
	}
	return t.note(cutNote)
}
