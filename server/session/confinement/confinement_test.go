package confinement

import (
	"errors"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// fakeAgents confines as check says, and refuses every change.
type fakeAgents struct{ check error }

func (*fakeAgents) DefaultSandbox(string) protocol.Sandbox { return protocol.Sandbox{} }
func (a *fakeAgents) HasSandboxes() bool                   { return a.check == nil }
func (a *fakeAgents) CheckSandbox(protocol.Sandbox) error  { return a.check }
func (*fakeAgents) SandboxRefuses(_ *agent.Spec, e *policy.Effect) error {
	return errors.New("no change of " + e.Files[0])
}

func TestUsersAreOfferedSandboxesWhereThereAreSome(t *testing.T) {
	if s := Offer(&fakeAgents{}); s == nil || *s != (protocol.Sandbox{Mode: protocol.SandboxOff}) {
		t.Errorf("offered %v", s)
	}
	for _, agents := range []any{struct{}{}, &fakeAgents{errors.New("no")}} {
		if s := Offer(agents); s != nil {
			t.Errorf("%T offers %v", agents, s)
		}
	}
}

var confined = agent.Spec{Sandbox: protocol.Sandbox{Mode: protocol.SandboxWorkspace}}

func TestASandboxThatCannotBeSetUpIsRefused(t *testing.T) {
	refused := protocol.Errorf(protocol.CodeUnsupported, "no")
	prepare := func(string) (string, func(), error) { return "/sandbox", func() {}, nil }
	fail := func(string) (string, func(), error) { return "", nil, refused }
	for name, c := range map[string]Confinement{
		"agents that are never confined": New(struct{}{}, prepare),
		"a server without sandboxes":     New(&fakeAgents{}, nil),
		"a machine without sandboxes":    New(&fakeAgents{refused}, prepare),
		"a directory that fails":         New(&fakeAgents{}, fail),
	} {
		if _, err := c.Open("s_1", confined); protocol.CodeOf(err) != protocol.CodeUnsupported {
			t.Errorf("%s: %v", name, err)
		}
		c.Take()()
		if spec, err := c.Open("s_1", agent.Spec{}); err != nil || spec.SandboxDir != "" {
			t.Errorf("%s: without a sandbox: %q, %v", name, spec.SandboxDir, err)
		}
	}
}

func TestASandboxIsReleasedOnceForEachAgent(t *testing.T) {
	made, released := 0, 0
	c := New(&fakeAgents{}, func(session string) (string, func(), error) {
		made++
		return "/" + session, func() { released++ }, nil
	})
	for n := 1; n <= 2; n++ {
		spec, err := c.Open("s_1", confined)
		if err != nil || spec.SandboxDir != "/s_1" || made != n || released != n-1 {
			t.Fatalf("%q, %v; made %d, released %d", spec.SandboxDir, err, made, released)
		}
		c.Take()()
		c.Take()()
		if released != n {
			t.Errorf("released %d of %d", released, n)
		}
	}
}

func TestOnlyACertainEffectIsRefused(t *testing.T) {
	patch := protocol.Approval{Kind: protocol.ApprovePatch, Paths: []string{"/a"}}
	command := protocol.Approval{Kind: protocol.ApproveCommand, Command: "touch /a", CWD: "/"}
	read := protocol.Approval{
		Kind: protocol.ApproveCommand, Command: "cat /a || touch /a", CWD: "/", Paths: []string{"/a"},
	}
	with, without := New(&fakeAgents{}, nil), New(struct{}{}, nil)
	for _, a := range []*protocol.Approval{&patch, &command} {
		if got := with.Refusal(&confined, a); got != "no change of /a" {
			t.Errorf("%q", got)
		}
	}
	for _, got := range []string{
		with.Refusal(&agent.Spec{}, &patch), with.Refusal(&confined, &read), without.Refusal(&confined, &patch),
	} {
		if got != "" {
			t.Errorf("refused: %q", got)
		}
	}
}

// farAgents run on another machine if their name says so.
type farAgents struct{ fakeAgents }

func (*farAgents) DefaultSandbox(string) protocol.Sandbox {
	return protocol.Sandbox{Mode: protocol.SandboxWorkspace}
}
func (*farAgents) RunsElsewhere(agent string) bool { return agent == "far" }

func TestOnlyAUserChoosesAnAgentElsewhere(t *testing.T) {
	parent := func(string) (protocol.Summary, bool) { return protocol.Summary{}, true }
	remote := protocol.Sandbox{Mode: protocol.SandboxRemote}
	for name, c := range map[string]struct {
		spec   agent.Spec
		stored bool
		want   protocol.Sandbox
		code   protocol.Code
	}{
		"a user": {agent.Spec{Agent: "far"}, false, remote, ""},
		"a user, off": {
			agent.Spec{Agent: "far", Sandbox: protocol.Sandbox{Mode: protocol.SandboxOff}}, false, remote, "",
		},
		"a user, in a sandbox": {
			agent.Spec{Agent: "far", Sandbox: confined.Sandbox}, false, protocol.Sandbox{}, protocol.CodeUnsupported,
		},
		"a user, by its name": {
			agent.Spec{Agent: "near", Sandbox: remote}, false, protocol.Sandbox{}, protocol.CodeInvalidMessage,
		},
		"an agent": {
			agent.Spec{Agent: "far", Parent: "p"}, false, protocol.Sandbox{}, protocol.CodeForbidden,
		},
		"an agent, restored": {
			agent.Spec{Agent: "far", Parent: "p", Sandbox: remote}, true, protocol.Sandbox{}, protocol.CodeForbidden,
		},
		"restored":              {agent.Spec{Agent: "far", Sandbox: remote}, true, remote, ""},
		"restored from a local": {agent.Spec{Agent: "far", Sandbox: confined.Sandbox}, true, remote, ""},
		"restored as a local":   {agent.Spec{Agent: "near", Sandbox: remote}, true, confined.Sandbox, ""},
	} {
		err := Choose(&farAgents{}, &c.spec, c.stored, parent)
		if protocol.CodeOf(err) != c.code || err == nil && c.spec.Sandbox != c.want {
			t.Errorf("%s: %s, %v", name, c.spec.Sandbox, err)
		}
		dir := LocalDir(&agent.Spec{CWD: "/w", Sandbox: c.spec.Sandbox})
		if err == nil && (dir == "") != (c.want == remote) {
			t.Errorf("%s: directory %q", name, dir)
		}
	}
	if remote.Confines() || !remote.Shown() || remote.String() != "remote" {
		t.Errorf("%s confines %t, is shown %t", remote, remote.Confines(), remote.Shown())
	}
}
