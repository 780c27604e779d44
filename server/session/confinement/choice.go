package confinement

import (
	"cmp"
	"os"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// Agents is implemented by what opens agents if it can confine their processes. Without it, sessions
// with a sandbox are refused.
type Agents interface {
	// DefaultSandbox returns the configured sandbox of an agent's new sessions, as Sandbox.Or returns it.
	DefaultSandbox(agent string) protocol.Sandbox

	// HasSandboxes reports whether this machine has what sets up sandboxes, so that users may be asked for
	// one. CheckSandbox may fail nevertheless. It starts no process.
	HasSandboxes() bool

	// CheckSandbox returns why a sandbox cannot be set up here, with the code unsupported, or nil.
	CheckSandbox(s protocol.Sandbox) error

	// SandboxRefuses returns why no process of a session's agent can have an effect, or nil.
	SandboxRefuses(spec *agent.Spec, e *policy.Effect) error
}

// Elsewhere is implemented by what opens agents if some run on other machines.
type Elsewhere interface {
	// RunsElsewhere reports whether an agent runs on another machine.
	RunsElsewhere(agent string) bool
}

// Offer returns the sandbox of a session for which a user chooses neither an agent nor a sandbox, or nil
// if users can choose none. agents may be Agents.
func Offer(agents any) *protocol.Sandbox {
	a, ok := agents.(Agents)
	if !ok || !a.HasSandboxes() {
		return nil
	}
	s := a.DefaultSandbox("")
	s.Mode = cmp.Or(s.Mode, protocol.SandboxOff)
	return &s
}

// Choose sets the sandbox of a new session. The one in spec is a user's choice; what it leaves open is
// the configuration's of the agent, then of the server, else off. stored: it is of an earlier session,
// and the stronger of it and the configured one is taken. A session that an agent creates is confined
// as its parent, which find returns, and the configuration at least, and a weaker wish has the code
// forbidden. agents may be Agents.
func Choose(agents any, spec *agent.Spec, stored bool, find func(session string) (protocol.Summary, bool)) error {
	if x, ok := agents.(Elsewhere); ok && x.RunsElsewhere(spec.Agent) {
		return elsewhere(spec, stored)
	}
	if spec.Sandbox.Mode == protocol.SandboxRemote && !stored {
		return protocol.Errorf(protocol.CodeInvalidMessage,
			"only an agent on another machine has the sandbox remote: choose another")
	}
	var least protocol.Sandbox
	if x, ok := agents.(Agents); ok {
		least = x.DefaultSandbox(spec.Agent)
	}
	byAgent := spec.Parent != ""
	var parent protocol.Summary
	if byAgent {
		var ok bool
		if parent, ok = find(spec.Parent); !ok {
			return protocol.Errorf(protocol.CodeNoSession, "the session %s of the agent was removed", spec.Parent)
		}
		least = least.Within(parent.Sandbox)
	}
	chosen := spec.Sandbox.Or(least)
	if err := chosen.Check(); err != nil {
		return err
	}
	spec.Sandbox = chosen
	if stored || byAgent {
		spec.Sandbox = chosen.Within(least)
	}
	switch {
	case !byAgent:
		return nil
	case !stored && spec.Sandbox != chosen:
		return protocol.Errorf(protocol.CodeForbidden,
			"an agent may not choose the sandbox %q, which is weaker than %q: a user does", chosen, least)
	}
	return inDirectory(spec, &parent)
}

// elsewhere sets the sandbox of a session whose agent runs on another machine. Only a user may choose
// such an agent: it gets what a session says, and no sandbox confines it.
func elsewhere(spec *agent.Spec, stored bool) error {
	switch {
	case spec.Parent != "":
		return protocol.Errorf(protocol.CodeForbidden,
			"an agent may not choose an agent on another machine: a user does")
	case spec.Sandbox.Confines() && !stored:
		return protocol.Errorf(protocol.CodeUnsupported,
			"no sandbox confines %.80s: it runs on another machine", spec.Agent)
	}
	spec.Sandbox = protocol.Sandbox{Mode: protocol.SandboxRemote}
	return nil
}

// LocalDir returns the directory of a session on this machine, or "" if its agent runs on another one:
// the files and links of that are not known here.
func LocalDir(spec *agent.Spec) string {
	if spec.Sandbox.Mode == protocol.SandboxRemote {
		return ""
	}
	return spec.CWD
}

// inDirectory makes a session work in the directory of its parent if that is in a sandbox. Any other
// directory is refused: the parent could replace one below its own by a link while a sandbox is set up.
func inDirectory(spec *agent.Spec, parent *protocol.Summary) error {
	if !parent.Sandbox.Confines() || spec.CWD == parent.CWD {
		return nil
	}
	if spec.CWD != "" {
		of, err := os.Stat(parent.CWD)
		its, err2 := os.Stat(spec.CWD)
		if err != nil || err2 != nil || !os.SameFile(of, its) {
			return protocol.Errorf(protocol.CodeForbidden,
				"an agent in a sandbox may create sessions only in its directory %.200q: omit the directory", parent.CWD)
		}
	}
	spec.CWD = parent.CWD
	return nil
}
