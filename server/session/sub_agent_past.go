package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
	"agentctl/server/eventlog"
	"agentctl/server/session/stored"
	"agentctl/server/session/subagent"
)

// storedSubAgents returns the sub-agents below a session, each after its parent, without their turns.
func storedSubAgents(ctx context.Context, h *Hub, session string) ([]archive.SubAgent, error) {
	var list []archive.SubAgent
	for _, id := range h.subAgents.Below(session) {
		sum, listed := h.list.Summary(id)
		rec, err := h.cfg.Store.Session(ctx, id)
		if errors.Is(err, eventlog.ErrNotFound) || !listed { // removed since then
			continue
		}
		var spec agent.Spec
		if err == nil {
			spec, err = stored.DecodeSpec(rec)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, archive.SubAgent{
			Session: id, Parent: spec.Parent, Agent: spec.SubAgent, Title: sum.Title, Turns: sum.Turns,
		})
	}
	return list, nil
}

// exportSubAgents adds the sub-agents of an exported session to its state.
func exportSubAgents(ctx context.Context, h *Hub, x *archive.State) error {
	of, err := storedSubAgents(ctx, h, x.Session)
	if err == nil {
		err = x.AddSubAgents(ctx, h.cfg.Store, h.log, of)
	}
	if err != nil {
		return readError(h.log, x.Session, err)
	}
	return nil
}

// newSubAgentID returns what names the sessions of the sub-agents below a root.
func newSubAgentID(root string) archive.NewSession {
	return func(id string) string { return subagent.SessionID(root, id) }
}

// createWithSubAgents makes a session with a past and an id, and then the sessions of the sub-agents of
// the past. Those that cannot be made are logged: the session is whole without them.
func createWithSubAgents(h *Hub, spec agent.Spec, c creation) error {
	cmd := *c.cmd
	c.cmd = &cmd
	reply := cmd.reply
	cmd.reply = func(body json.RawMessage, err error) {
		if err != nil || len(c.past.SubAgents) == 0 {
			reply(body, err)
			return
		}
		h.agents.Go(func() {
			for i := range c.past.SubAgents {
				s := &c.past.SubAgents[i]
				of := agent.Spec{Agent: spec.Agent, CWD: spec.CWD, Parent: cmp.Or(s.Parent, c.id), SubAgent: s.Agent}
				one := creation{id: s.Session, title: truncateTitle(s.Title), past: &s.Past}
				if err := makeSubAgent(h, of, one, cmd.by); err != nil {
					h.log.Error("make a carried sub-agent", "session", c.id, "sub_agent", s.Session, "err", err)
				}
			}
			reply(body, nil)
		})
	}
	return h.createSession(spec, c)
}

// makeSubAgent makes the session of a sub-agent below its parent, and returns when it is visible.
func makeSubAgent(h *Hub, spec agent.Spec, c creation, by protocol.Actor) error {
	if err := h.subAgents.Add(c.id, spec.Parent, h.settings().Limits.SubAgents); err != nil {
		return err
	}
	made := make(chan error, 1)
	c.cmd = &command{
		verb: protocol.DoCreate, by: by, agent: spec.Parent, reply: func(_ json.RawMessage, err error) { made <- err },
	}
	err := h.createSession(spec, c)
	if err == nil {
		err = <-made
	}
	if err != nil {
		h.subAgents.Remove(c.id)
	}
	return err
}
