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
func (a *fakeAgents) CheckSandbox(protocol.Sandbox) error  { return a.check }
func (*fakeAgents) SandboxRefuses(_ *agent.Spec, e *policy.Effect) error {
	return errors.New("no change of " + e.Files[0])
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
	read := protocol.Approval{Kind: protocol.ApproveCommand, Command: "cat /a || touch /a", CWD: "/", Paths: []string{"/a"}}
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
