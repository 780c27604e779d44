package confinement

import (
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// A Confinement is the sandbox of a session's agent while that is open. It is owned by one goroutine.
type Confinement struct {
	agents  Agents // nil: no agent can be confined
	prepare func(session string) (dir string, release func(), err error)
	release func() // of the sandbox that is open; nil: none is
}

// New returns the confinement of a session without an open agent. agents may be Agents. prepare makes
// the directory of a sandbox, and release removes it; nil: sessions with a sandbox are refused.
func New(agents any, prepare func(session string) (dir string, release func(), err error)) Confinement {
	c := Confinement{prepare: prepare}
	c.agents, _ = agents.(Agents)
	return c
}

// Open returns the spec for an agent of a session, with what its sandbox needs. A sandbox that cannot be
// set up has the code unsupported; it is never replaced by a weaker one.
func (c *Confinement) Open(session string, spec agent.Spec) (agent.Spec, error) {
	if !spec.Sandbox.Confines() {
		return spec, nil
	}
	if c.agents == nil || c.prepare == nil {
		return spec, protocol.Errorf(protocol.CodeUnsupported,
			"this server cannot confine agents: choose the sandbox off")
	}
	err := c.agents.CheckSandbox(spec.Sandbox)
	if err == nil {
		spec.SandboxDir, c.release, err = c.prepare(session)
	}
	return spec, err
}

// Take returns what releases the sandbox that is open, for after the end of its agent. It may be called
// from any goroutine.
func (c *Confinement) Take() (release func()) {
	if release = c.release; release == nil {
		release = func() {}
	}
	c.release = nil
	return release
}

// Refusal returns why the sandbox certainly refuses a request, or "". The paths of a patch are absolute
// and without links, since the classifier resolved them.
func (c *Confinement) Refusal(spec *agent.Spec, a *protocol.Approval) string {
	if c.agents == nil || !spec.Sandbox.Confines() {
		return ""
	}
	effects := policy.Effects(a)
	for i := range effects {
		if err := c.agents.SandboxRefuses(spec, &effects[i]); err != nil {
			return err.Error()
		}
	}
	return ""
}
