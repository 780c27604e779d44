package session

import (
	"context"
	"errors"
	"testing"

	"agentctl/protocol"
)

// sandboxes is a Config.Confine that counts.
type sandboxes struct {
	made, released int
	fail           error
}

func (s *sandboxes) confine(string) (string, func(), error) {
	if s.fail != nil {
		return "", nil, s.fail
	}
	s.made++
	return "/sandbox", func() { s.released++ }, nil
}

func TestTheSandboxOfASessionLastsAsLongAsItsAgent(t *testing.T) {
	boxes := &sandboxes{}
	bubble(t, Config{System: System{Confine: boxes.confine}}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.confine(id)
		r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "hi"}))
		if a := r.agents.opened[0]; a.spec.SandboxDir != "/sandbox" || boxes.made != 1 || boxes.released != 0 {
			t.Errorf("the agent got %q; made %d, released %d", a.spec.SandboxDir, boxes.made, boxes.released)
		}
		r.close()
		if boxes.released != 1 {
			t.Errorf("released %d after the end", boxes.released)
		}
		r.open()
	})
}

func TestNoAgentOpensWithoutItsSandbox(t *testing.T) {
	for name, cfg := range map[string]Config{
		"a server without sandboxes": {},
		"a sandbox that fails":       {System: System{Confine: (&sandboxes{fail: errors.New("no")}).confine}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, cfg, func(t *testing.T, r *testHub) {
				id := r.create()
				r.confine(id)
				r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "hi"}))
				if n := len(r.agents.opened); n != 0 {
					t.Errorf("%d agents were opened", n)
				}
			})
		})
	}
}

// confine gives a session a sandbox, and starts the server again without agents.
func (r *testHub) confine(id string) {
	r.t.Helper()
	err := r.hub.ask(context.Background(), id, func(s *Session) {
		s.spec.Sandbox = protocol.Sandbox{Mode: protocol.SandboxWorkspace}
		s.storeSpec()
	}, func(error) {})
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	r.waitIdle()
	r.restart()
	r.agents.opened = nil
}
