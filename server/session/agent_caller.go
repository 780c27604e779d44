package session

import (
	"slices"
	"strings"

	"agentctl/protocol"
)

// modelSetting is the only setting that an agent may choose for another: modes, and settings of an
// agent's own, decide what it asks for.
const modelSetting = "model"

// AgentActor returns the actor of what the agent of a session does.
func (x *index) AgentActor(session string) protocol.Actor {
	x.mu.Lock()
	defer x.mu.Unlock()
	name := ""
	if r := x.rows[session]; r != nil {
		name = r.summary.Name
	}
	return protocol.AgentActor(session, name)
}

// AgentOfProcess returns the session whose agent started a process, known by its number and start
// time or by the number of its process group; empty: none.
func (x *index) AgentOfProcess(pid int, start string, group int) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	for g := range x.processes {
		if g.PID == group || g.PID == pid && g.Start == start {
			return g.Session
		}
	}
	return ""
}

// Exists reports whether there is a session with an id.
func (x *index) Exists(id string) bool { return x.row(id) != nil }

// descends reports whether the agent of a session, or one that descends from it, created another.
func (x *index) descends(id, ancestor string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for r := x.rows[id]; r != nil && r.summary.Parent != ""; r = x.rows[r.summary.Parent] {
		if r.summary.Parent == ancestor {
			return true
		}
	}
	return false
}

// checkAgent returns an error unless the agent of a session may send a command: no agent decides
// what an agent may do, neither itself nor by a session that it creates.
func (h *Hub) checkAgent(agent string, c *protocol.Command, data any) error {
	switch protocol.RoleAgent.Scope(c.Command) {
	case protocol.ScopeNone:
		return protocol.RoleAgent.Refusal(c.Command)
	case protocol.ScopeEvery:
		return nil
	}
	if protocol.CommandOf(c.Command).Session {
		id, err := h.Resolve(c.Session)
		if err != nil {
			return err
		}
		if !h.descends(id, agent) {
			return protocol.Errorf(
				protocol.CodeForbidden, "an agent may %s only in sessions that it created, not in %s", c.Command, id,
			)
		}
	}
	switch d := data.(type) {
	case *protocol.CreateData:
		return h.checkChild(agent, d)
	case *protocol.ImportData:
		return h.checkChild(agent, &d.CreateData)
	case *protocol.ConfigureData:
		if d.Setting != modelSetting {
			return errAgentSetting(d.Setting)
		}
	case *protocol.RestoreData:
		x, err := h.cfg.Open(&d.State, h.settings().StateTTL)
		if err != nil {
			return err
		}
		return h.checkChildAgent(agent, x.Agent)
	}
	return nil
}

// checkChild returns an error unless the agent of a session may create another with that data.
func (h *Hub) checkChild(agent string, d *protocol.CreateData) error {
	if d.Policy != nil {
		return errAgentSetting(protocol.PolicySetting)
	}
	for name := range d.Settings {
		if name != modelSetting {
			return errAgentSetting(name)
		}
	}
	return h.checkChildAgent(agent, d.Agent)
}

// checkChildAgent returns an error unless the agent of a session may run another: a named one, or
// one like itself. Any other name is a command, which would run without an approval.
func (h *Hub) checkChildAgent(agent, child string) error {
	if child == "" || slices.Contains(h.cfg.Agents.Names(), child) {
		return nil
	}
	if r := h.row(agent); r != nil && h.agentName(r) == child {
		return nil
	}
	return protocol.Errorf(
		protocol.CodeForbidden, "an agent may create sessions of these agents only: %s; or of its own",
		strings.Join(h.cfg.Agents.Names(), ", "),
	)
}

// agentName returns the name of a session's agent.
func (x *index) agentName(r *row) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return r.summary.Agent
}

func errAgentSetting(name string) error {
	return protocol.Errorf(
		protocol.CodeForbidden, "an agent may not choose %.80q for a session, only its model: a user does", name,
	)
}
