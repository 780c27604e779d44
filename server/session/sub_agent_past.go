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
	"agentctl/server/session/confinement"
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

// newSubAgents returns the sessions of the sub-agents below a new root.
func newSubAgents(h *Hub, root string) archive.NewSessions {
	return archive.NewSessions{
		ID: func(id string) string { return subagent.SessionID(root, id) }, Most: h.settings().Limits.SubAgents,
	}
}

// createWithSubAgents makes a session with a past and an id, after the sessions of the sub-agents of the
// past. When the server is killed before the session is made, the next start removes them: they have no
// parent.
func createWithSubAgents(h *Hub, spec agent.Spec, c creation) error {
	if len(c.past.SubAgents) == 0 {
		return h.createSession(spec, c)
	}
	if err := confinement.Choose(h.cfg.Agents, &spec, c.stored, h.list.Summary); err != nil {
		return err
	}
	h.agents.Go(func() {
		err := makeSubAgents(h, &spec, c)
		cmd := *c.cmd
		c.cmd = &cmd
		reply := cmd.Answer
		cmd.Answer = func(body json.RawMessage, err error) {
			if err != nil { // it is called on a goroutine that must not wait
				h.agents.Go(func() {
					together(c.past.SubAgents, func(s archive.SubAgentPast) {
						closeSubAgent(h, s.Session, cmd.By, &protocol.CloseData{Delete: true})
					})
					reply(nil, err)
				})
				return
			}
			reply(body, nil)
		}
		if err == nil {
			err = h.createSession(spec, c)
		}
		if err != nil {
			cmd.Answer(nil, err)
		}
	})
	return nil
}

// makeSubAgents makes the sessions of the sub-agents of a new session with a past.
func makeSubAgents(h *Hub, root *agent.Spec, c creation) error {
	errs := make(chan error, len(c.past.SubAgents))
	together(c.past.SubAgents, func(s archive.SubAgentPast) {
		spec := agent.Spec{
			Agent: root.Agent, CWD: root.CWD, Sandbox: root.Sandbox, Parent: cmp.Or(s.Parent, c.id), SubAgent: s.Agent,
		}
		one := creation{id: s.Session, title: truncateTitle(s.Title), past: &s.Past}
		errs <- makeSubAgent(h, spec, one, c.cmd.By)
	})
	for range c.past.SubAgents {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// makeSubAgent makes the session of a sub-agent below its parent, and returns when it is visible.
func makeSubAgent(h *Hub, spec agent.Spec, c creation, by protocol.Actor) error {
	if err := h.subAgents.Add(c.id, spec.Parent, h.settings().Limits.SubAgents); err != nil {
		return err
	}
	made := make(chan error, 1)
	c.cmd = ownCommand(protocol.DoCreate, nil, by, func(err error) { made <- err })
	c.cmd.Agent = spec.Parent
	err := h.createSession(spec, c)
	if err == nil {
		err = <-made
	}
	if err != nil {
		h.subAgents.Remove(c.id)
	}
	return err
}
