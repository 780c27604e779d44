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
			MCPServers: []protocol.MCPServer{
				{Name: "files", Command: "files", Env: map[string]string{"KEY": "hunter2"}},
				{Name: "web", URL: "https://web", Headers: map[string]string{"X-Key": "hunter2"}},
			},
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
		if s := run.agent.spec.MCPServers; len(s) != 2 || s[0].Env["KEY"] != "hunter2" || s[1].Headers["X-Key"] != "hunter2" {
			t.Errorf("the agent has %+v", s)
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
		if run.agent.spec.Env != nil || run.agent.spec.MCPServers != nil {
			t.Errorf("with another key: %+v", run.agent.spec)
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

func TestMCPServersOfASessionAreNamed(t *testing.T) {
	for _, takes := range []bool{true, false} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			r.agents.capabilities.TakesServers = takes
			id := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{
				MCPServers: []protocol.MCPServer{{Name: "files", Command: "files", Env: map[string]string{"KEY": "hunter2"}}},
			}))).Session
			var log strings.Builder
			for _, e := range r.events(id, false) {
				log.Write(e.Data)
			}
			want := `"mcp_servers":["files"]`
			if !takes {
				want = "it runs without files"
			}
			if !strings.Contains(log.String(), want) || strings.Contains(log.String(), "hunter2") {
				t.Errorf("takes %v: %s", takes, log.String())
			}
		})
	}
}

func TestInvalidMCPServersAreRefused(t *testing.T) {
	bubble(t, Config{}, func(_ *testing.T, r *testHub) {
		for _, list := range [][]protocol.MCPServer{
			{{Command: "x"}},
			{{Name: "x"}},
			{{Name: "x", Command: "x", URL: "http://x"}},
			{{Name: "x", URL: "file:///x"}},
			{{Name: "x", Command: "x"}, {Name: "x", Command: "y"}},
			{{Name: "x", URL: "http://x", Type: "ws"}},
			{{Name: "x", Command: "x", Env: map[string]string{"A=B": "x"}}},
			{{Name: "x", Command: "x\x00"}},
			{{Name: "x", URL: "http://x", Headers: map[string]string{"A": "x\r\nB: y"}}},
		} {
			refused(r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{MCPServers: list})), protocol.CodeInvalidMessage)
		}
		boss := r.createBy(anna, protocol.CreateData{})
		refused(r, r.do(r.agentOf(boss), newCommand(protocol.DoCreate, "", protocol.CreateData{
			MCPServers: []protocol.MCPServer{{Name: "x", Command: "x"}},
		})), protocol.CodeForbidden)
	})
}
