package session

import (
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// Agents opens the agents of sessions.
type Agents interface {
	// Open makes an agent for a session. It does no slow work: a process starts with Start or Run.
	// For an unknown agent the error has the code no_agent.
	Open(spec agent.Spec, host agent.Host) (agent.Agent, error)

	// Names lists the configured agents, for hello and completion.
	Names() []string
}

// Conversations is implemented by Agents whose agents store conversations themselves.
type Conversations interface {
	// HasConversations reports whether an agent stores conversations. Else the state of its
	// sessions, which may be long, is not decoded at the start of the server.
	HasConversations(agent string) bool

	// Conversation identifies the agent's own conversation of a session, among all agents. It is
	// empty if the agent has none yet.
	Conversation(spec *agent.Spec) string
}

// conversation identifies the agent's own conversation of a session, or is "".
func conversation(agents Agents, spec *agent.Spec) string {
	if c, ok := agents.(Conversations); ok {
		return c.Conversation(spec)
	}
	return ""
}

// FileKeeper is implemented by Agents that keep files of sessions.
type FileKeeper interface {
	// RemoveFiles removes the files of sessions that no longer exist.
	RemoveFiles(exists func(session string) bool)
}

// removeFiles removes the files of sessions that do not exist.
func removeFiles(agents Agents, exists func(session string) bool) {
	if k, ok := agents.(FileKeeper); ok {
		k.RemoveFiles(exists)
	}
}

// Keys is implemented by Agents that know the variables of their agents' credentials.
type Keys interface {
	// Keys returns the variables that an agent may set for a session that it creates, of an agent.
	Keys(agent string) []string
}

// keysOf returns the variables that an agent may set for a session of an agent.
func keysOf(agents Agents, agent string) []string {
	if k, ok := agents.(Keys); ok {
		return k.Keys(agent)
	}
	return nil
}

// Policies is implemented by Agents whose configuration gives agents a policy.
type Policies interface {
	// Policy returns the policy of an agent's new sessions; empty: ask.
	Policy(agent string) policy.Policy
}
