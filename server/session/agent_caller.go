package session

import (
	"slices"
	"strings"

	"agentctl/protocol"
)

// modelSetting is the only setting that an agent may choose for another: modes and other settings
// determine which approvals an agent requests.
const modelSetting = "model"

// An agentCaller is the agent of a session that sends commands. No agent sets permissions of an
// agent, neither directly nor through a session that it creates.
type agentCaller struct {
	hub     *Hub
	session string
}

// check returns an error unless the agent may send a command.
func (a *agentCaller) check(c *protocol.Command, data any) error {
	switch protocol.RoleAgent.Scope(c.Command) {
	case protocol.ScopeNone:
		return protocol.RoleAgent.Refusal(c.Command)
	case protocol.ScopeEvery:
		return nil
	}
	if protocol.CommandOf(c.Command).Session {
		id, err := a.hub.list.Resolve(c.Session)
		if err != nil {
			return err
		}
		if !a.hub.list.Descends(id, a.session) {
			return protocol.Errorf(protocol.CodeForbidden,
				"an agent may %s only in sessions that it created, not in %s", c.Command, id)
		}
	}
	switch d := data.(type) {
	case *protocol.CreateData:
		return a.checkChild(d)
	case *protocol.ImportData:
		return a.checkChild(&d.CreateData)
	case *protocol.ConfigureData:
		if d.Setting != modelSetting {
			return errAgentSetting(d.Setting)
		}
	case *protocol.RestoreData:
		x, err := a.hub.cfg.Open(&d.State, a.hub.settings().StateTTL)
		if err != nil {
			return err
		}
		return a.checkChildAgent(x.Agent)
	}
	return nil
}

// checkChild returns an error unless the agent may create a session with that data.
func (a *agentCaller) checkChild(d *protocol.CreateData) error {
	if d.Policy != nil {
		return errAgentSetting(protocol.PolicySetting)
	}
	if len(d.MCPServers) > 0 {
		return errAgentSetting("mcp_servers")
	}
	for name := range d.Settings {
		if name != modelSetting {
			return errAgentSetting(name)
		}
	}
	if err := a.checkChildEnvironment(d); err != nil {
		return err
	}
	return a.checkChildAgent(d.Agent)
}

// checkChildEnvironment returns an error unless the environment of a session has only keys of its
// agent. Other variables can run programs (BASH_ENV, NODE_OPTIONS, LD_PRELOAD, PATH), change what
// the agent may do, or send its key to another address.
func (a *agentCaller) checkChildEnvironment(d *protocol.CreateData) error {
	keys := keysOf(a.hub.cfg.Agents, d.Agent)
	var refused []string
	for name := range d.Env {
		if !slices.Contains(keys, name) {
			refused = append(refused, name)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	slices.Sort(refused)
	may := "this agent has no keys that are known"
	if len(keys) > 0 {
		may = "an agent may set only keys: " + strings.Join(keys, ", ")
	}
	return protocol.Errorf(protocol.CodeForbidden,
		"an agent may not set %.200q for a session: a user does, or the configuration of the server; %s",
		strings.Join(refused, ", "), may)
}

// checkChildAgent returns an error unless the agent may run another: a named one, or one like
// itself. Any other name is a command, which would run without an approval.
func (a *agentCaller) checkChildAgent(child string) error {
	names := a.hub.cfg.Agents.Names()
	if child == "" || slices.Contains(names, child) {
		return nil
	}
	if own, ok := a.hub.list.Summary(a.session); ok && own.Agent == child {
		return nil
	}
	return protocol.Errorf(protocol.CodeForbidden,
		"an agent may create sessions of its own agent and of these only: %s", strings.Join(names, ", "))
}

func errAgentSetting(name string) error {
	return protocol.Errorf(protocol.CodeForbidden,
		"an agent may not choose %.80q for a session, only its model: a user does", name)
}
