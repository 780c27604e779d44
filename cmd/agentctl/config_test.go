package main

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAConfigurationIsReadStrictly(t *testing.T) {
	got, err := readConfig([]byte(`{"agents":{"a":{"command":"x","args":["--acp"],"env":{"K":"V"}},"b":{"script":"dir/b.script"}},
		"default_agent":"a","approval_timeout":"5m","edit_hold":"1s","state_ttl":"168h","state_secret":"s","sync":"full",
		"window":1024,"origins":["https://box.example:8443"],"limits":{"message":2048,"inflight":3,"rate":7},
		"dialects":{"myagent":{"agents":{"theirs":"a"},"options":{"heartbeat":"1s"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got.from("/etc/agentctl")
	want := &config{
		Agents: map[string]agentConfig{
			"a": {Command: "x", Args: []string{"--acp"}, Env: map[string]string{"K": "V"}},
			"b": {Script: "/etc/agentctl/dir/b.script"},
		},
		DefaultAgent: "a", ApprovalTimeout: duration(5 * time.Minute), EditHold: duration(time.Second), StateTTL: duration(168 * time.Hour),
		StateSecret: "s", Sync: "full", Window: 1024, Limits: limitsConfig{Message: 2048, InFlight: 3, Rate: 7},
		Origins:  []string{"https://box.example:8443"},
		Dialects: map[string]dialectConfig{"myagent": {Agents: map[string]string{"theirs": "a"}, Options: map[string]string{"heartbeat": "1s"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestAWrongConfigurationSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		``:                       "EOF",
		`[]`:                     "array",
		`{"limits":{"rate":-1}}`: "limits are positive",
		`{"dialects":{"myagent":{"options":{"heartbeat":"often"}}}}`: "for option heartbeat: want a duration",
		`{"dialects":{"effectiveagent":{"options":{"quiet":"5s"}}}}`: `no server option "quiet"`,
		`{"dialects":{"sandcastle":{"options":{"tags":"chat"}}}}`:    "has no server options",
		`{"agent":{}}`:        `unknown field "agent"`,
		`{"agents":{"a":{}}}`: `agent "a" has either a command or a script`,
		`{"agents":{"a":{"command":"x","script":"y"}}}`: `agent "a" has either a command or a script`,
		`{"agents":{"a":{"script":"y","args":["z"]}}}`:  "a script takes no args",
		`{"approval_timeout":"soon"}`:                   "invalid duration",
		`{"edit_hold":"-3s"}`:                           "below zero",
		`{"dialects":{"x":{}}}`:                         `"x" is not a dialect`,
		`{"sync":"sometimes"}`:                          "sync is normal or full",
		`{"window":-1}`:                                 "positive",
		`{} {}`:                                         "more than one",
		`{"origins":["*"]}`:                             `origins: "*" is not`,
		`{"origins":["http://localhost/"]}`:             "origins",
		`{"origins":["localhost:5173"]}`:                "origins",
	} {
		if _, err := readConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// An agent that there is not is named by the key that wants it, with those that there are.
func TestAConfigurationNamesOnlyAgentsThatThereAre(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{
			`{"dialects":{"myagent":{"agents":{"theirs":"min"}}},"agents":{"mine":{"command":"x"}}}`,
			`dialects.myagent.agents.theirs: no agent is called "min": there are mine, `,
		},
		{`{"dialects":{"multiagent":{"agents":{"theirs":"acp:"}}}}`, `dialects.multiagent.agents.theirs: "acp:" is not a command`},
		{`{"dialects":{"agentloop":{"agents":{"theirs":""}}}}`, `dialects.agentloop.agents.theirs: no agent is called ""`},
		{`{"default_agent":"min"}`, `default_agent: no agent is called "min"`},
	} {
		if _, err := readConfig([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte(`{"agents":{"a":{"command":"x"}},"approval_timeout":"5m","limits":{"message":1}}`))
	f.Add([]byte(`{"agents":{"":{"script":"x"}}}`))
	f.Add([]byte(`{"window":9223372036854775808}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readConfig(b)
		if err != nil {
			return
		}
		if c.ApprovalTimeout < 0 || c.EditHold < 0 || c.StateTTL < 0 || c.Window < 0 || c.Limits.Message < 0 || c.Limits.InFlight < 0 {
			t.Errorf("%s: below zero: %+v", b, c)
		}
		for name, a := range c.Agents {
			if name == "" || (a.Command == "") == (a.Script == "") {
				t.Errorf("%s: agent %q: %+v", b, name, a)
			}
		}
	})
}
