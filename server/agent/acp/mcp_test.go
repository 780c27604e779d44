package acp

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// withServers configures one MCP server of each kind.
func withServers(c *Config, s *agent.Spec) {
	s.Env["KEY"] = "secret"
	c.MCP = []MCPServer{
		{
			Name: "files", Command: "not-installed", Args: []string{"--root", "${KEY}/x$y"},
			Env: map[string]string{"B": "2", "A": "1"},
		},
		{Name: "web", URL: "https://example.com/${KEY}", Headers: map[string]string{"Authorization": "Bearer ${KEY}"}},
		{Name: "old", Type: MCPSSE, URL: "http://localhost:1/sse"},
	}
}

const (
	filesServer = `{"name":"files","command":"not-installed","args":["--root","secret/x$y"],` +
		`"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}`
	webServer = `{"type":"http","name":"web","url":"https://example.com/secret",` +
		`"headers":[{"name":"Authorization","value":"Bearer secret"}]}`
	oldServer = `{"type":"sse","name":"old","url":"http://localhost:1/sse","headers":[]}`
)

// wantServers compares the MCP servers that the agent got.
func (r *testAgent) wantServers(want ...string) {
	r.t.Helper()
	r.clear()
	r.run("mcp")
	var got, list any
	if err := json.Unmarshal([]byte(r.text()), &got); err != nil {
		r.t.Fatalf("%v: %s", err, r.text())
	}
	if err := json.Unmarshal([]byte("["+strings.Join(want, ",")+"]"), &list); err != nil {
		r.t.Fatal(err)
	}
	if !reflect.DeepEqual(got, list) {
		r.t.Errorf("servers %s\nwant %s", r.text(), want)
	}
}

func TestEverySessionOfAnAgentGetsTheMCPServersThatItTakes(t *testing.T) {
	t.Parallel()
	for traits, want := range map[string][]string{
		"plain":         {filesServer},
		"load,http":     {filesServer, webServer},
		"resume,sse":    {filesServer, oldServer},
		"load,http,sse": {filesServer, webServer, oldServer},
	} {
		t.Run(traits, func(t *testing.T) {
			t.Parallel()
			r := newTestAgent(t, traits, connected, withServers)
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			notices := r.notices()
			for name, server := range map[string]string{"web": webServer, "old": oldServer} {
				passed := strings.Contains(strings.Join(want, ""), server)
				if strings.Contains(notices, name+" (the agent takes no") == passed {
					t.Errorf("notices: %s; %s passed: %v", notices, name, passed)
				}
			}
			r.wantServers(want...)
			if traits == "plain" {
				return
			}
			next := newTestAgent(t, traits, connected, withServers, func(_ *Config, s *agent.Spec) {
				s.Env, s.CWD, s.State = r.spec.Env, r.spec.CWD, r.state
			})
			next.run("sessions")
			next.wantText("prompts: 2")
			if got := next.notices(); got != "" {
				t.Errorf("reported again: %s", got)
			}
			next.wantServers(want...)
		})
	}
}

// Values of a session's servers are literal, and a configured server has its name alone.
func TestMCPServersOfASession(t *testing.T) {
	r := newTestAgent(t, "plain", withServers, func(c *Config, s *agent.Spec) {
		c.MCP = c.MCP[:1]
		s.MCPServers = []protocol.MCPServer{
			{Name: "files", Command: "another"},
			{Name: "own", Command: "not-installed", Args: []string{"${KEY}", "${"}},
			{Name: "web", URL: "https://web"},
		}
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.notices(); !strings.Contains(got, "web (the agent takes no servers of type http)") {
		t.Errorf("notices: %s", got)
	}
	r.wantServers(filesServer, `{"name":"own","command":"not-installed","args":["${KEY}","${"],"env":[]}`)
}

func TestAnMCPServerWithoutItsVariableIsLeftOut(t *testing.T) {
	r := newTestAgent(t, "plain", withServers, func(c *Config, s *agent.Spec) {
		s.Env["KEY"], c.MCP = "", c.MCP[:1]
	})
	r.wantServers()
	next := r.restart("plain")
	next.config.MCP = []MCPServer{{Name: "new", URL: "http://${OTHER_KEY}"}}
	next.run("say x")
	if got := next.notices(); !strings.Contains(got, "new (the agent takes no servers of type http)") {
		t.Errorf("other servers are left out now: %s", got)
	}
	again := newTestAgent(t, "plain", withServers, func(c *Config, s *agent.Spec) {
		s.Env["KEY"], c.MCP = "", c.MCP[:1]
	})
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := again.notices(); !strings.Contains(got, "files (${KEY} is not set: pass it with agentctl new --env") {
		t.Errorf("notices: %s", got)
	}
}

func TestTheProgramOfAnMCPServerIsAbsoluteIfItIsFound(t *testing.T) {
	want, err := exec.LookPath("go")
	if err != nil || !filepath.IsAbs(want) {
		t.Fatal(want, err)
	}
	if got := programPath("go"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := programPath("not-installed"); got != "not-installed" {
		t.Errorf("%s", got)
	}
}

func TestCheckVariablesAcceptsReferencesOnly(t *testing.T) {
	for value, want := range map[string]bool{
		"": true, "${A}": true, "x${A_1}y${b}": true, "$A $ {x} $$": true,
		"${": false, "${}": false, "${1}": false, "${A-b}": false, "${A}${": false, "$${A}{": true,
	} {
		if err := CheckVariables(value); (err == nil) != want {
			t.Errorf("%q: %v", value, err)
		}
	}
}
