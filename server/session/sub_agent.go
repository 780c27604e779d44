package session

import (
	"context"
	"encoding/json"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/output"
	"agentctl/server/session/subagent"
)

// A subAgentHost is the session of a sub-agent for the agent of its root. Of the session it knows
// the id only: the session may be unloaded between turns.
type subAgentHost struct {
	root *host
	id   string
}

var _ agent.SubAgentHost = (*subAgentHost)(nil)

// SubAgent implements agent.WorkHost.
func (h *host) SubAgent(s agent.SubAgent, title string) (agent.SubAgentHost, error) {
	return openSubAgent(h, h.s.id, s, title)
}

// SubAgent implements agent.SubAgentHost.
func (c *subAgentHost) SubAgent(s agent.SubAgent, title string) (agent.SubAgentHost, error) {
	return openSubAgent(c.root, c.id, s, title)
}

// openSubAgent returns the host of a sub-agent below a parent. It makes the session unless there is
// one.
func openSubAgent(root *host, parent string, s agent.SubAgent, title string) (agent.SubAgentHost, error) {
	h := root.s.hub
	c := &subAgentHost{root: root, id: subagent.SessionID(root.s.id, s.ID)}
	if sum, ok := h.list.Summary(c.id); ok {
		if sum.Status == protocol.Closed {
			return nil, protocol.Errorf(protocol.CodeSessionClosed, "session %s is closed", c.id)
		}
		return c, nil
	}
	of, ok := h.list.Summary(parent)
	if !ok {
		return nil, errTurnOver
	}
	by := protocol.AgentActor(root.s.id, "")
	spec := agent.Spec{Agent: of.Agent, CWD: of.CWD, Sandbox: of.Sandbox, Parent: parent, SubAgent: &s}
	if err := makeSubAgent(h, spec, creation{id: c.id, title: truncateTitle(title)}, by); err != nil {
		return nil, err
	}
	if of, ok = h.list.Summary(parent); !ok || of.Status == protocol.Closed { // since then
		closeSubAgent(h, c.id, by, &protocol.CloseData{Delete: !ok})
		return nil, errTurnOver
	}
	return c, nil
}

// Session implements agent.SubAgentHost.
func (c *subAgentHost) Session() string { return c.id }

// Begin implements agent.SubAgentHost.
func (c *subAgentHost) Begin(ctx context.Context, w agent.Work) error {
	return c.root.s.hub.await(ctx, c.id, func(s *Session, begun func(error)) {
		beginWork(ctx, s, w, c.root, begun)
	})
}

// Emit implements agent.SubAgentHost.
func (c *subAgentHost) Emit(e agent.Event) error {
	h := c.root.s.hub
	return h.await(c.root.s.background, c.id, func(s *Session, emitted func(error)) {
		if _, err := s.openAgent(); err != nil {
			emitted(err)
			return
		}
		of := s.host
		h.agents.Go(func() { emitted(of.Emit(e)) }) // it may wait for the session
	})
}

// askRoot requests a decision in the session of the root, and mirrors the request in the session of the
// sub-agent.
func (o *turnOutput) askRoot(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
	root := o.t.asks
	a.SubAgent = &protocol.SubAgent{Session: o.session, Title: o.title}
	w := approval.NewWaiter(a, &o.c)
	if err := root.s.mail.emit(&agentMessage{host: root, do: ask(w)}); err != nil {
		return agent.Verdict{}, err
	}
	stop := func() { _ = root.s.mail.emit(&agentMessage{host: root, do: withdraw(w)}) }     // fails when the root has ended
	mirror := func(do func(*Session)) { _ = o.mail.emit(&agentMessage{turn: o.t, do: do}) } // fails when the turn is over
	request := ""
	mirrorAsked := func(asked protocol.Approval) {
		request, asked.Tool = asked.Request, output.ID(a.Tool)
		_, blobs := output.Request(a)
		mirror(func(s *Session) { mirrorRequest(s, &asked, blobs) })
	}
	for {
		select {
		case asked := <-w.Asked:
			mirrorAsked(asked)
		case v := <-w.Verdict:
			select {
			case asked := <-w.Asked:
				mirrorAsked(asked)
			default:
			}
			r := w.Resolution
			r.Request = request
			mirror(func(s *Session) { mirrorResolution(s, r) })
			return v, nil
		case <-o.t.ctx.Done():
			stop()
			return agent.Verdict{Outcome: protocol.Cancelled}, nil
		case <-ctx.Done():
			stop()
			return agent.Verdict{}, ctx.Err()
		case <-root.s.mail.done:
			return agent.Verdict{}, errTurnOver
		}
	}
}

// mirrorRequest records a request of the session's sub-agent that is pending in the root.
func mirrorRequest(s *Session, a *protocol.Approval, blobs []eventlog.Blob) {
	en, err := requestEntry(s.recorder.Turn(), a, blobs)
	if err == nil {
		_, err = s.recorder.Append(&en)
	}
	if err != nil {
		s.logger().Error("record request", "err", err)
	}
}

// mirrorResolution records how a request of the session's sub-agent was resolved in the root, unless
// it has ended here.
func mirrorResolution(s *Session, r approval.Resolution) {
	a := s.state.PendingApproval(r.Request)
	if a == nil {
		return
	}
	r.Rule, r.Turn, r.Task = nil, a.Turn, a.Task // the rule is the root's
	s.resolve(r)
}

// rootVerbs are the commands on a sub-agent that its root carries out.
var rootVerbs = map[protocol.Verb]bool{
	protocol.DoApprove: true, protocol.DoOpenPage: true, protocol.DoRulesList: true, protocol.DoRulesRevoke: true,
}

// askRoot lets the root of a sub-agent carry out a command.
func askRoot(s *Session, cmd *command) error {
	sent := *cmd
	var request *string
	switch d := cmd.data.(type) {
	case *protocol.ApproveData:
		named := *d
		request, sent.data = &named.Request, &named
	case *protocol.OpenPageData:
		named := *d
		request, sent.data = &named.Request, &named
	}
	if request != nil && *request == "" {
		a, err := s.approvals.Pending(s.state, "")
		if err != nil {
			return err
		}
		*request = a.Request
	}
	return runAsync(s, cmd, nil, func(ctx context.Context) (json.RawMessage, error) {
		var answer json.RawMessage
		err := s.hub.await(ctx, s.hub.subAgents.Root(s.id), func(root *Session, done func(error)) {
			sent.Answer = func(body json.RawMessage, err error) { answer = body; done(err) }
			root.do(&sent)
		})
		if err != nil {
			return nil, err // the root may still answer
		}
		return answer, nil
	}, nil)
}

// stopSubAgent interrupts the turn of a sub-agent, if the agent can.
func stopSubAgent(h *Hub, session string, by protocol.Actor) {
	h.agents.Go(func() {
		err := h.await(context.Background(), session, func(s *Session, done func(error)) {
			s.do(ownCommand(protocol.DoInterrupt, &protocol.InterruptData{}, by, func(error) {}))
			done(nil)
		})
		if err != nil {
			h.log.Warn("stop a sub-agent", "session", session, "err", err)
		}
	})
}

// closeSubAgents closes the sub-agents of a session whose agent is closed, or removes them as d says.
// It calls then on the session's goroutine, or fails the command if the session ends before.
func closeSubAgents(s *Session, cmd *command, d *protocol.CloseData, then func()) {
	gone := s.slot.Former()
	if len(s.hub.subAgents.Children(s.id)) == 0 { // one that is being made sees that its parent was closed
		then()
		return
	}
	s.asyncCommands++
	s.hub.agents.Go(func() {
		if gone != nil {
			<-gone // it makes no further ones
		}
		together(s.hub.subAgents.Children(s.id), func(child string) { closeSubAgent(s.hub, child, cmd.By, d) })
		if !s.mail.post(func() { s.asyncCommands--; then() }) {
			cmd.Answer(nil, errShuttingDown())
		}
	})
}

// together calls f for each of a list, several at a time, so that they share commits. It returns after
// all calls.
func together[T any](list []T, f func(T)) {
	const most = 64
	var calls sync.WaitGroup
	free := make(chan struct{}, most)
	for _, x := range list {
		free <- struct{}{}
		calls.Go(func() { defer func() { <-free }(); f(x) })
	}
	calls.Wait()
}

// closeSubAgent closes or removes a sub-agent, and returns when that is done.
func closeSubAgent(h *Hub, child string, by protocol.Actor, d *protocol.CloseData) {
	err := h.await(context.Background(), child, func(s *Session, done func(error)) {
		one := &protocol.CloseData{Reason: d.Reason, Delete: d.Delete, KeepWorktree: true}
		s.do(ownCommand(protocol.DoClose, one, by, done))
	})
	if err != nil && protocol.CodeOf(err) != protocol.CodeNoSession {
		h.log.Error("close a sub-agent", "session", child, "err", err)
	}
}

// subAgentsWork reports whether a sub-agent of a session has a turn.
func subAgentsWork(h *Hub, session string) bool {
	return h.subAgents.Any(session, func(id string) bool {
		sum, ok := h.list.Summary(id)
		return ok && sum.Turn != ""
	})
}

// recoverSubAgents closes the sub-agents whose parent was closed, and removes those whose parent was
// removed, before the server was killed. It runs at the start.
func recoverSubAgents(h *Hub) {
	for child, parent := range h.subAgents.All() {
		sum, ok := h.list.Summary(parent)
		own, _ := h.list.Summary(child)
		if ok && (sum.Status != protocol.Closed || own.Status == protocol.Closed) {
			continue
		}
		by := protocol.Actor{Name: "recovery"}
		closeSubAgent(h, child, by, &protocol.CloseData{Reason: "its parent was closed", Delete: !ok})
	}
}
