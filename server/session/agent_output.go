package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"agentctl/internal/redact"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
	"agentctl/server/eventlog"
	"agentctl/server/policy"
	"agentctl/server/session/approval"
	"agentctl/server/session/item"
)

// handleAgentMessage records an event of an agent. A message of an ended turn, or outside a turn of
// an agent that was closed, is dropped.
func (s *Session) handleAgentMessage(m *agentMessage) {
	if m.turn != nil && m.turn != s.turn || m.turn == nil && m.host != s.host {
		return
	}
	id := ""
	if m.turn != nil {
		id = m.turn.id
	}
	for i := range m.event.Entries {
		en := &m.event.Entries[i]
		en.Turn = id
		if en.Type == protocol.AgentOptions {
			addSettingsTo(s, en)
		}
		if m.turn != nil {
			if start, missing := m.turn.items.MissingStart(s.state.Turn, item.Output{
				Type: en.Type, Task: en.Task, Parent: en.Parent,
				Part: m.event.Part, Kind: en.Delta.Kind, Tool: m.event.Tool,
			}); missing {
				s.recorder.RecordAll(start)
			}
		}
		used := s.state.Usage
		if err := s.recorder.AppendOutput(en); err != nil {
			s.logger().Error("record agent event", "type", en.Type, "err", err)
			continue
		}
		if m.turn != nil && en.Task == "" && en.Parent == "" {
			noteAnswer(&m.turn.denial, en)
		}
		if en.Type == protocol.UsageUpdated && s.state.Usage != nil {
			s.hub.Metrics().used(used, s.state.Usage)
		}
		if s.state.Turn != nil {
			s.recorder.RecordAll(item.EndSurplus(s.state.Turn)...)
		}
	}
	if m.blob != nil {
		b := s.journal.NextBatch()
		b.Blobs = append(b.Blobs, *m.blob)
	}
	if m.state != nil {
		s.spec.State = m.state
		s.storeSpec()
		if !s.state.Closed {
			s.hub.list.HoldConversation(conversation(s.hub.cfg.Agents, &s.spec), s.id)
		}
	}
	if m.do != nil {
		m.do(s)
	}
}

// noteAnswer notes what the agent says and the ends of its tools, for turns that a denial ends.
func noteAnswer(d *item.Denial, en *eventlog.Entry) {
	switch {
	case en.Delta.Kind == protocol.KindText && strings.TrimSpace(en.Delta.Text) != "", en.Type == protocol.TextContent:
		d.Said()
	case en.Type == protocol.ToolEnded:
		var e protocol.ToolEndedData
		if json.Unmarshal(en.Data, &e) == nil {
			d.ToolEnded(&e)
		}
	}
}

// storeSpec adds the spec to the next batch.
func (s *Session) storeSpec() {
	raw, err := s.hub.specs.Encode(s.spec)
	if err != nil {
		s.logger().Error("store spec", "err", err)
		return
	}
	s.journal.NextBatch().Spec = raw
}

// turnOutput is the Output of one turn.
type turnOutput struct {
	mail    *mailbox
	t       *turn
	session string
	title   string // of the session
	c       policy.Classifier
}

var _ agent.Output = (*turnOutput)(nil)

// Emit implements Output.
func (o *turnOutput) Emit(e agent.Event) error {
	return o.mail.emitEvent(o.t, nil, &e)
}

// Save implements Output.
func (o *turnOutput) Save(state []byte) error {
	return o.mail.emitState(&agentMessage{turn: o.t}, state)
}

// Ask implements Output.
func (o *turnOutput) Ask(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
	if o.t.asks != nil {
		return o.askRoot(ctx, a)
	}
	a.SubAgent = nil
	w := approval.NewWaiter(a, &o.c)
	if err := o.mail.emit(&agentMessage{turn: o.t, do: ask(w)}); err != nil {
		return agent.Verdict{}, err
	}
	canceled := ctx.Done()
	for {
		select {
		case v := <-w.Verdict:
			return v, nil
		case <-o.t.done:
			return agent.Verdict{}, errTurnOver
		case <-o.mail.done:
			return agent.Verdict{}, errTurnOver
		case <-canceled:
			if o.t.ctx.Err() == nil {
				_ = o.mail.emit(&agentMessage{turn: o.t, do: withdraw(w)}) // fails when the turn is over
				return agent.Verdict{}, ctx.Err()
			}
			canceled = nil // interrupted: the session resolves pending requests
		}
	}
}

// ask returns what requests a decision for a waiter.
func ask(w *approval.Waiter) func(*Session) { return func(s *Session) { s.handleApprovalRequest(w) } }

// withdraw returns what removes a waiter whose agent waits no more.
func withdraw(w *approval.Waiter) func(*Session) {
	return func(s *Session) { s.resolve(s.approvals.Withdraw(s.state, w)...) }
}

// host is the Host of a session's agent.
type host struct {
	s       *Session
	log     *slog.Logger
	secrets *redact.Values // which are not logged
}

var _ agent.Host = (*host)(nil)

// Emit implements Host.
func (h *host) Emit(e agent.Event) error {
	switch e.Type {
	case protocol.AgentOptions, protocol.ContextUpdated, protocol.UsageUpdated, protocol.LimitsUpdated, protocol.Notice,
		protocol.Raw:
	case protocol.SessionUpdated:
		d, ok := e.Data.(protocol.SessionUpdatedData)
		if ok && d.Title != nil && reflect.DeepEqual(d, protocol.SessionUpdatedData{Title: d.Title}) {
			return h.s.mail.emit(&agentMessage{host: h, do: func(s *Session) { s.setAgentTitle(*d.Title) }})
		}
		return protocol.Errorf(protocol.CodeUnsupported, "an agent can update the title of a session only")
	default:
		return protocol.Errorf(protocol.CodeUnsupported, "an agent cannot emit %s outside of a turn", e.Type)
	}
	return h.s.mail.emitEvent(nil, h, &e)
}

// Save implements Host.
func (h *host) Save(state []byte) error { return h.s.mail.emitState(&agentMessage{host: h}, state) }

// SaveBlob implements Host.
func (h *host) SaveBlob(b agent.Blob) error { return h.s.mail.emit(&agentMessage{host: h, blob: &b}) }

// Blob implements Host. A blob that is not stored may be in a commit to come.
func (h *host) Blob(ctx context.Context, id string) (agent.Blob, error) {
	b, err := h.s.hub.cfg.Store.Blob(ctx, h.s.id, id)
	if errors.Is(err, eventlog.ErrNotFound) {
		if err := h.Sync(ctx); err != nil {
			return agent.Blob{}, err
		}
		b, err = h.s.hub.cfg.Store.Blob(ctx, h.s.id, id)
	}
	if errors.Is(err, eventlog.ErrNotFound) {
		return agent.Blob{}, protocol.Errorf(protocol.CodeNotFound, "the session has no blob %.80q", id)
	}
	if err != nil && ctx.Err() == nil {
		err = readError(h.s.hub.log, h.s.id, err)
	}
	return b, err
}

// Sync implements Host.
func (h *host) Sync(ctx context.Context) error {
	return h.s.mail.await(ctx, func(stored func(error)) {
		h.s.handleEmitted()
		h.s.journal.AfterCommit(stored)
	})
}

// RecordProcessGroup implements Host. It commits past the session, which may have ended before the
// process.
func (h *host) RecordProcessGroup(g agent.ProcessGroup) error {
	g.Session = h.s.id
	err := h.s.hub.processes.Record(g, h.s.hub.settings().Limits.Agents)
	if !g.Ended && protocol.CodeOf(err) != protocol.CodeAgentLimit {
		h.s.hub.metrics.AgentStarts.Add(1)
	}
	return err //nolint:wrapcheck // of the same operation
}

// RecordConversation implements Host.
func (h *host) RecordConversation(message, text string) error {
	return h.s.mail.await(context.Background(), func(recorded func(error)) {
		h.s.recordConversation(message, text)
		recorded(nil)
	})
}

// Transcript implements Host.
func (h *host) Transcript(ctx context.Context, most int) (string, error) {
	return archive.Transcript(ctx, h.s.hub.cfg.Store, h.s.id, most)
}

// Logf implements Host.
func (h *host) Logf(format string, args ...any) {
	h.log.Info(h.secrets.Hide(fmt.Sprintf(format, args...)))
}
