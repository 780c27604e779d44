package protocol

import (
	"cmp"
	"slices"
)

// A Sandbox confines the processes of a session's agent. A user chooses it; an agent never does, and
// the sessions that it creates are confined at least as much as its own. The zero value is no
// sandbox: a process of the agent can act as its user.
type Sandbox struct {
	Mode    SandboxMode    `json:"mode,omitempty"`    // off, workspace or read-only; default off; remote, never chosen
	Network SandboxNetwork `json:"network,omitempty"` // on, or off with workspace or read-only; default on
}

// A SandboxMode is what a process in a sandbox may write. Every mode but SandboxOff hides the server's
// data, credentials and the other processes.
type SandboxMode string

// The modes, the weakest first. The empty mode is SandboxOff.
const (
	SandboxOff       SandboxMode = "off"
	SandboxWorkspace SandboxMode = "workspace" // writes the session's directories, caches, and state of the agent
	SandboxReadOnly  SandboxMode = "read-only" // writes nothing of the user
)

// SandboxRemote is the mode of a session whose agent runs on another machine. No one chooses it, and
// this server confines nothing.
const SandboxRemote SandboxMode = "remote"

// SandboxModes lists the modes, the weakest first.
var SandboxModes = []SandboxMode{SandboxOff, SandboxWorkspace, SandboxReadOnly}

// A SandboxNetwork is whether a process in a sandbox reaches the network. The empty value is
// SandboxNetworkOn.
type SandboxNetwork string

// The values of SandboxNetwork.
const (
	SandboxNetworkOn  SandboxNetwork = "on"
	SandboxNetworkOff SandboxNetwork = "off"
)

// Confines reports whether there is a sandbox.
func (s Sandbox) Confines() bool { return s.Mode != SandboxRemote && s.Shown() }

// Shown reports whether users are shown the sandbox: it is one, or the agent runs elsewhere.
func (s Sandbox) Shown() bool { return s.Mode != "" && s.Mode != SandboxOff }

// Check returns an error with CodeInvalidMessage for an unknown mode, and for a network that is off
// without a sandbox.
func (s Sandbox) Check() error {
	switch {
	case s.Mode != "" && !slices.Contains(SandboxModes, s.Mode):
		return Errorf(CodeInvalidMessage, "unknown sandbox %.80q: want off, workspace or read-only", s.Mode)
	case s.Network != "" && s.Network != SandboxNetworkOn && s.Network != SandboxNetworkOff:
		return Errorf(CodeInvalidMessage, "unknown network of a sandbox %.80q: want on or off", s.Network)
	case s.Network == SandboxNetworkOff && !s.Confines():
		return Errorf(CodeInvalidMessage, "the network is closed only in a sandbox: want workspace or read-only")
	}
	return nil
}

// Or returns the sandbox with what it leaves open taken from defaults, the first of them that says it.
// The result is in its short form: the zero value without a sandbox, no network unless it is off. A
// network that is off without a sandbox stays, for Check.
func (s Sandbox) Or(defaults ...Sandbox) Sandbox {
	for _, d := range defaults {
		s.Mode = cmp.Or(s.Mode, d.Mode)
	}
	if s.Confines() {
		for _, d := range defaults {
			s.Network = cmp.Or(s.Network, d.Network)
		}
	} else {
		s.Mode = ""
	}
	if s.Network == SandboxNetworkOn {
		s.Network = ""
	}
	return s
}

// String returns the sandbox for people, such as "workspace, network off".
func (s Sandbox) String() string {
	if s.Network == SandboxNetworkOff {
		return string(s.Mode) + ", network off"
	}
	return cmp.Or(string(s.Mode), string(SandboxOff))
}

// Within returns the sandbox of a session that an agent in the outer sandbox creates: the stronger of
// both modes, with a network only if both have one.
func (s Sandbox) Within(outer Sandbox) Sandbox {
	if slices.Index(SandboxModes, outer.Mode) > slices.Index(SandboxModes, s.Mode) {
		s.Mode = outer.Mode
	}
	if outer.Network == SandboxNetworkOff {
		s.Network = SandboxNetworkOff
	}
	return s
}
