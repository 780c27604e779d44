package session

import (
	"bytes"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestAnEnvironmentIsStoredEncrypted(t *testing.T) {
	bubble(t, Config{Files: Files{EnvKey: []byte("key")}}, func(t *testing.T, r *testHub) {
		created := r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{
			Env: map[string]string{"TOKEN": "hunter2"},
		}))
		id := must[protocol.CreateResult](r, created).Session
		r.send(id, "one")
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		r.restart()
		r.send(id, "two")
		run := r.agents.run()
		if got := run.agent.spec.Env["TOKEN"]; got != "hunter2" {
			t.Errorf("the agent has %q", got)
		}
		run.finish(agent.End{}, nil)
		r.waitIdle()
		stored := r.store.sessions[id].rec.Spec
		if bytes.Contains(stored, []byte("hunter2")) || !bytes.Contains(stored, []byte("sealed_env")) {
			t.Errorf("stored: %s", stored)
		}
		r.cfg.EnvKey = []byte("another key")
		r.restart()
		r.send(id, "three")
		run = r.agents.run()
		if run.agent.spec.Env != nil {
			t.Errorf("with another key: %v", run.agent.spec.Env)
		}
		run.finish(agent.End{}, nil)
		r.waitIdle()
		noticed := false
		for _, e := range r.events(id, false) {
			noticed = noticed || e.Type == protocol.Notice && strings.Contains(string(e.Data), "cannot be decrypted")
		}
		if !noticed {
			t.Error("the session does not say that its variables are lost")
		}
		r.cfg.EnvKey = []byte("key")
		r.restart()
		r.send(id, "four")
		if got := r.agents.run().agent.spec.Env["TOKEN"]; got != "hunter2" {
			t.Errorf("with the key again: %q", got)
		}
	})
}
