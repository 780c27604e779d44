package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"agentctl/internal/agents"
	"agentctl/server/agent/acp"
)

func TestAConfigurationIsReadStrictly(t *testing.T) {
	got, err := parseServer([]byte(`{"agents":{"a":{"command":"x","args":["--acp"],"env":{"K":"V"}},"b":{"script":"dir/b.script"}},
		"default_agent":"a","approval_timeout":"5m","edit_hold":"1s","agent_idle":"6h","continue_after_limit":3,"state_ttl":"168h","state_secret":"s","state_keys":["other.pem","/x.pem"],"sync":"full",
		"mcp":{"c":{"command":"bin/c","args":["-x"],"env":{"K":"${V}"},"agents":["a","claude"]},
			"d":{"command":"npx"},"u":{"type":"sse","url":"https://x/${V}","headers":{"A":"${V}"},"agents":[]}},
		"window":1024,"retention":{"age":"1h","sessions":5,"bytes":9},"origins":["https://box.example:8443"],"limits":{"message":2048,"inflight":3,"rate":7},
		"dialects":{"myagent":{"agents":{"foreign":"a"},"options":{"heartbeat":"1s"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got.resolvePaths("/etc/agentctl")
	want := &Server{
		Agents: map[string]agents.Config{
			"a": {Command: "x", Args: []string{"--acp"}, Env: map[string]string{"K": "V"}},
			"b": {Script: "/etc/agentctl/dir/b.script"},
		},
		MCP: map[string]agents.MCPServer{
			"c": {
				MCPServer: acp.MCPServer{
					Command: "/etc/agentctl/bin/c", Args: []string{"-x"}, Env: map[string]string{"K": "${V}"},
				},
				Agents: []string{"a", "claude"},
			},
			"d": {MCPServer: acp.MCPServer{Command: "npx"}},
			"u": {
				MCPServer: acp.MCPServer{
					Type: acp.MCPSSE, URL: "https://x/${V}", Headers: map[string]string{"A": "${V}"},
				},
				Agents: []string{},
			},
		},
		DefaultAgent: "a", ContinueAfterLimit: 3,
		ApprovalTimeout: Duration(5 * time.Minute), EditHold: Duration(time.Second),
		AgentIdle: Duration(6 * time.Hour), StateTTL: Duration(168 * time.Hour),
		StateKeys: []string{"/etc/agentctl/other.pem", "/x.pem"}, StateSecret: "s",
		Sync: "full", Window: 1024, Limits: Limits{Message: 2048, InFlight: 3, Rate: 7},
		Origins:   []string{"https://box.example:8443"},
		Retention: Retention{Age: Duration(time.Hour), Sessions: 5, Bytes: 9},
		Dialects: map[string]Dialect{"myagent": {
			Agents:  map[string]string{"foreign": "a"},
			Options: map[string]string{"heartbeat": "1s"},
		}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestAnInvalidConfigurationIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                       "EOF",
		`[]`:                     "line 1: the file: want an object, not a JSON array",
		`{"limits":{"rate":-1}}`: "limits must be positive",
		`{"dialects":{"myagent":{"options":{"heartbeat":"often"}}}}`: `invalid value "often" for option heartbeat`,
		`{"dialects":{"effectiveagent":{"options":{"quiet":"5s"}}}}`: `no server option "quiet"`,
		`{"dialects":{"sandcastle":{"options":{"tags":"chat"}}}}`:    "has no server options",
		`{"agent":{}}`:        `unknown field "agent"`,
		`{"agents":{"a":{}}}`: `agents.a: want one of command, url, script`,
		`{"agents":{"a":{"command":"x","script":"y"}}}`:                         `agents.a: want one of command, url, script`,
		`{"agents":{"a":{"script":"y","args":["z"]}}}`:                          "only a command takes args",
		`{"approval_timeout":"soon"}`:                                           "invalid duration",
		`{"edit_hold":"-3s"}`:                                                   "negative",
		`{"dialects":{"x":{}}}`:                                                 `unknown dialect "x"`,
		`{"sandbox_allow":["@","x"]}`:                                           `sandbox_allow: invalid path "x"`,
		`{"sandbox_hide":["@"]}`:                                                `sandbox_hide: invalid path "@"`,
		`{"sandbox_write":["./x"]}`:                                             `sandbox_write: invalid path "./x"`,
		`{"sync":"sometimes"}`:                                                  "sync: invalid value",
		`{"retention":{"sessions":-1}}`:                                         "retention.sessions",
		`{"continue_after_limit":-1}`:                                           "continue_after_limit: want 0",
		`{"window":-1}`:                                                         "positive",
		`{} {}`:                                                                 "more than one",
		`{"agents":{"a":{"model":"x","script":"y"}}}`:                           `agents.a: want one of command, url, script`,
		`{"agents":{"a":{"model":"y"}}}`:                                        `agents.a: unknown model "y"`,
		`{"agents":{"a":{"model":"gpt-5.5","effort":"x"}}}`:                     `agents.a: effort: invalid value "x"`,
		`{"agents":{"a":{"model":"gpt-5.5","models":["z"]}}}`:                   `agents.a: unknown model "z"`,
		`{"agents":{"a":{"model":"gpt-5.5","args":["z"]}}}`:                     "only a command takes args",
		`{"agents":{"a":{"command":"x","effort":"low"}}}`:                       "need a model",
		`{"agents":{"a":{"model":"o3","budget":{"turn":{"cost":-1}}}}}`:         "agents.a: budget.turn: must be positive",
		`{"providers":{"p":{}}}`:                                                "providers.p.api: want openai",
		`{"providers":{"p":{"api":"x"}}}`:                                       `providers.p.api: invalid value "x"`,
		`{"providers":{"p":{"api":"chat"}}}`:                                    "providers.p.base_url: ",
		`{"providers":{"p":{"api":"chat","base_url":"ftp://x"}}}`:               "providers.p.base_url: want https://",
		`{"providers":{"openai":{"key":"sk-1"}}}`:                               `unknown field "key"`,
		`{"providers":{"openai":{"key_env":"A=B"}}}`:                            "providers.openai.key_env: want the name",
		`{"providers":{"openai":{"key_command":[]}}}`:                           "providers.openai.key_command: ",
		`{"providers":{"openai":{"headers":{"A b":"c"}}}}`:                      "providers.openai.headers: ",
		`{"providers":{"openai":{"models":{"m":{"window":-1}}}}}`:               "providers.openai.models.m: ",
		`{"agents":{"a":{"command":"x","acp":3}}}`:                              "agents.a.acp: want 1 or 2",
		`{"agents":{"a":{"url":"http://far/acp"}}}`:                             "agents.a.url: want https or wss",
		`{"agents":{"a":{"url":"https://u:p@far/acp"}}}`:                        "agents.a.url: a password",
		`{"agents":{"a":{"url":"https://far/acp","command":"x"}}}`:              "agents.a: want one of command, url",
		`{"agents":{"a":{"url":"https://far","headers":{"A":"${"}}}}`:           "agents.a.headers.A: invalid variable",
		`{"agents":{"a":{"command":"x","headers":{"A":"b"}}}}`:                  "agents.a.headers: only a url",
		`{"agents":{"a":{"url":"https://far","sandbox":{"mode":"workspace"}}}}`: "agents.a.sandbox: no sandbox",
		`{"agents":{"a":{"script":"x","acp":2}}}`:                               "agents.a.acp: want 1 or 2",
		`{"mcp":{"":{"command":"x"}}}`:                                          "needs a name",
		`{"mcp":{"x":{}}}`:                                                      "mcp.x: want either a command or a url",
		`{"mcp":{"x":{"command":"c","url":"http://x"}}}`:                        "mcp.x: want either",
		`{"mcp":{"x":{"cmd":"c"}}}`:                                             `unknown field "cmd"`,
		`{"mcp":{"x":{"command":"c","headers":{}}}}`:                            "a command takes no type and no headers",
		`{"mcp":{"x":{"url":"http://x","args":[]}}}`:                            "a url takes no args",
		`{"mcp":{"x":{"url":"http://x","type":"ws"}}}`:                          `invalid type "ws"`,
		`{"mcp":{"x":{"url":"ftp://x"}}}`:                                       `invalid url "ftp://x"`,
		`{"mcp":{"x":{"command":"c","args":["${"]}}}`:                           "mcp.x: invalid variable: want ${NAME}",
		`{"mcp":{"x":{"command":"c","env":{"K":"${A"}}}}`:                       "mcp.x: K: invalid variable",
		`{"mcp":{"x":{"command":"c","env":{"K=":"v"}}}}`:                        `invalid name "K="`,
		`{"mcp":{"x":{"command":"c","agents":["min"]}}}`:                        `mcp.x: no agent is called "min"`,
		`{"origins":["*"]}`:                                                     `invalid origin "*"`,
		`{"origins":["http://localhost/"]}`:                                     "invalid origin",
		`{"origins":["localhost:5173"]}`:                                        "invalid origin",
	} {
		if _, err := parseServer([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// The error about an unknown agent has the key that names it, and the agents that exist.
func TestAConfigurationNamesOnlyExistingAgents(t *testing.T) {
	for _, c := range []struct{ text, key, problem string }{
		{
			`{"dialects":{"myagent":{"agents":{"foreign":"min"}}},"agents":{"mine":{"command":"x"}}}`,
			`dialects.myagent.agents.foreign: `, `"min": want one of mine, `,
		},
		{`{"dialects":{"multiagent":{"agents":{"foreign":"acp:"}}}}`, `dialects.multiagent.agents.foreign: `, `"acp:"`},
		{`{"dialects":{"agentloop":{"agents":{"foreign":""}}}}`, `dialects.agentloop.agents.foreign: `, `""`},
		{`{"default_agent":"min"}`, `default_agent: `, `"min"`},
	} {
		if _, err := parseServer([]byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), "line 1: "+c.key) ||
			!strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %s%s", c.text, err, c.key, c.problem)
		}
	}
}

func FuzzParseServer(f *testing.F) {
	f.Add([]byte(`{"agents":{"a":{"command":"x"}},"approval_timeout":"5m","limits":{"message":1}}`))
	f.Add([]byte(`{"agents":{"":{"script":"x"}}}`))
	f.Add([]byte(`{"mcp":{"a":{"command":"x","env":{"K":"${V}"}},"b":{"url":"${U}","agents":[]}}}`))
	f.Add([]byte(`{"window":9223372036854775808}`))
	f.Add([]byte(`{"providers":{"p":{"api":"chat","base_url":"http://x"}},"agents":{"a":{"model":"p/m"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseServer(b)
		if err != nil {
			return
		}
		if c.ApprovalTimeout < 0 || c.EditHold < 0 || c.StateTTL < 0 || c.Window < 0 || c.Limits.Message < 0 ||
			c.Limits.InFlight < 0 {
			t.Errorf("%s: negative: %+v", b, c)
		}
		for name, a := range c.Agents {
			if name == "" || a.Model == "" && (a.Command == "") == (a.Script == "") {
				t.Errorf("%s: agent %q: %+v", b, name, a)
			}
		}
	})
}

func TestProvidersAndModelsAreRead(t *testing.T) {
	c, err := parseServer([]byte(`{"providers":{
		"local":{"api":"chat","base_url":"http://localhost:8000/v1","headers":{"X-Team":"${TEAM}"},
			"models":{"m1":{"window":32000,"max_output":4000,"price":{"input":1,"cached":0.1,"written":1.25,"output":5,"currency":"EUR"}}}},
		"openai":{"key_command":["pass","openai"]}},
		"agents":{"coder":{"model":"m1","models":["gpt-5.5","local/m2"],"effort":"high","instructions":"Be brief.",
			"budget":{"turn":{"requests":50,"cost":1.5},"session":{"tokens":1000000}},"env":{"A":"b"}}},
		"default_agent":"coder"}`))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Agents["coder"]
	if a.Model != "m1" || len(a.Models) != 2 || a.Effort != "high" || a.Budget.Turn.Cost != 1.5 ||
		a.Budget.Session.Tokens != 1_000_000 {
		t.Errorf("%+v", a)
	}
	if m := c.Providers["local"].Models["m1"]; m.Window != 32000 || m.Price.Currency != "EUR" {
		t.Errorf("%+v", m)
	}
}
