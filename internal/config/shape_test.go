package config

import (
	"strings"
	"testing"
)

// An error has the line, the key and, for an unknown key, a suggestion. A bar is a line break.
func TestAnErrorOfTheConfigurationHasLineAndKey(t *testing.T) {
	for _, c := range [][2]string{
		{
			`{|"agents": {|"coder": {|"model": "gpt-5.5",|"efort": "low"}}}`,
			`line 5: agents.coder: unknown field "efort": did you mean "effort"?`,
		},
		{`{|"Agents": {}}`, `line 2: unknown field "Agents": did you mean "agents"?`},
		{`{||"zzzzzzzz": 1}`, `line 3: unknown field "zzzzzzzz": want one of agent_idle, agents, `},
		{`{"limits":|{"rate":|"fast"}}`, `line 3: limits.rate: want a whole number, not a JSON string`},
		{`{|"agents":|[]}`, `line 3: agents: want an object, not a JSON array`},
		{`{|"edit_hold":|"soon"}`, `line 3: edit_hold: time: invalid duration "soon"`},
		{`{|"mcp": {"x": {"command": "c",|"call_timeout": "-1s"}}}`, `line 3: mcp.x.call_timeout: timeout -1s is`},
		{`{"agents": {|"a": {"model": "gpt-5.5",|"effort": "x"}}}`, `line 3: agents.a: effort: invalid value "x"`},
		{`{"providers": {|"p": {|"api": "x"}}}`, `line 3: providers.p.api: invalid value "x"`},
		{`{"mcp": {|"x": {}}}`, `line 2: mcp.x: want either a command or a url`},
		{`{|"limits": {"rate": -1}}`, `line 2: limits must be positive`},
		{`{|"sync": "x"}`, `line 2: sync: invalid value "x"`},
		{`{|"window": 1,|"window": 2}`, `line 3: window: the key is there twice`},
		{`{|"window": 1,|}`, `line 3: invalid character '}'`},
		{`{|"window"`, `line 2: unexpected end of the file`},
		{`{|}|{}`, `line 3: more than one JSON value`},
		{
			`{"agents":{"a.b":{"model":"gpt-5.5",|"policy":"x"}}}`,
			`line 2: agents.a.b: policy: invalid value "x"`,
		},
		{
			`{"providers":{"p":{"models":{"m":|{"price":{|"inptu":1}}}}}}`,
			`line 3: providers.p.models.m.price: unknown field "inptu": did you mean "input"?`,
		},
	} {
		_, err := parseServer([]byte(strings.ReplaceAll(c[0], "|", "\n")))
		if err == nil || !strings.HasPrefix(err.Error(), c[1]) {
			t.Errorf("%s:\n%v\nwant %s", c[0], err, c[1])
		}
	}
	if _, err := parseServer([]byte(`{"$schema": "https://example.com/config.schema.json"}`)); err != nil {
		t.Error(err)
	}
}
