package session

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"agentctl/protocol"
)

// sandboxes is a Config.Confine that counts.
type sandboxes struct {
	made, released atomic.Int32
	fail           error
}

func (s *sandboxes) confine(string) (string, func(), error) {
	if s.fail != nil {
		return "", nil, s.fail
	}
	s.made.Add(1)
	return "/sandbox", func() { s.released.Add(1) }, nil
}

func TestTheSandboxOfASessionLastsAsLongAsItsAgent(t *testing.T) {
	boxes := &sandboxes{}
	bubble(t, Config{System: System{Confine: boxes.confine}}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.confine(id)
		r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "hi"}))
		dir, made, released := r.agents.opened[0].spec.SandboxDir, boxes.made.Load(), boxes.released.Load()
		if dir != "/sandbox" || made != 1 || released != 0 {
			t.Errorf("the agent got %q; made %d, released %d", dir, made, released)
		}
		r.close()
		if n := boxes.released.Load(); n != 1 {
			t.Errorf("released %d after the end", n)
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
