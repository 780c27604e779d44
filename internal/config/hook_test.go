package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestHooksThatCannotWorkAreRefused(t *testing.T) {
	const url = `"url": "https://x.example/h", "secret_file": "s"`
	for _, c := range []struct{ hook, want string }{
		{`"a": {` + url + `}`, ""},
		{`"a": {"url": "http://127.0.0.1:8/h", "secret_env": "S"}`, ""},
		{`"a": {"url": "http://[::1]:8/h", "secret_env": "S"}`, ""},
		{`"a": {"command": ["true"], "deny_after": "1m"}`, ""},
		{`"a": {}`, "either url or command"},
		{`"a": {` + url + `, "command": ["true"]}`, "either url or command"},
		{`"a": {"command": [""]}`, "the program is missing"},
		{`"A": {"command": ["true"]}`, "invalid name"},
		{`"../a": {"command": ["true"]}`, "invalid name"},
		{`"": {"command": ["true"]}`, "invalid name"},
		{`"-a": {"command": ["true"]}`, "invalid name"},
		{`"a": {"url": "http://x.example/h", "secret_file": "s"}`, "use https"},
		{`"a": {"url": "http://127.0.0.1.x.example/", "secret_env": "S"}`, "use https"},
		{`"a": {"url": "ftp://x.example/h", "secret_file": "s"}`, "want https"},
		{`"a": {"url": "https://u:secret@x.example", "secret_env": "S"}`, "without a user"},
		{`"a": {"url": "https://x.example/h"}`, "needs secret_file or secret_env"},
		{`"a": {` + url + `, "secret_env": "S"}`, "either secret_file or secret_env"},
		{`"a": {"command": ["true"], "secret_env": "S"}`, "nothing is signed"},
		{`"a": {"command": ["true"], "events": ["turn"]}`, "unknown event"},
		{`"a": {"command": ["true"], "name": "[a"}`, "invalid pattern"},
		{`"a": {"command": ["true"], "agent": "nobody"}`, "nobody"},
		{`"a": {"command": ["true"], "attempts": -1}`, "must be positive"},
		{`"a": {"command": ["true"], "backlog": 1000000}`, "at most"},
		{`"a": {"command": ["true"], "timeout": "1h"}`, "timeout: at most"},
		{`"a": {` + url + `, "decide_urls": {}}`, "base is missing"},
		{`"a": {` + url + `, "decide_urls": {"base": "http://x.example"}}`, "use https"},
		{
			`"a": {` + url + `, "decide_urls": {"base": "https://x.example", "expires": "1000h"}}`,
			"expires: at most",
		},
		{`"a": {"command": ["true"], "events": ["error"], "deny_after": "1m"}`, "need the event"},
	} {
		_, err := parseServer([]byte(`{"hooks": {` + c.hook + `}}`))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.hook, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("the error repeats the URL: %v", err)
		}
	}
}

func TestPathsOfHooksAreThoseOfTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "server.json")
	if err := os.WriteFile(file, []byte(`{"hooks": {
		"a": {"url": "https://x.example/h", "secret_file": "s"}, "b": {"command": ["bin/b", "x/y"]},
		"c": {"command": ["c"]}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ReadServer(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Hooks["a"].SecretFile; got != filepath.Join(dir, "s") {
		t.Error(got)
	}
	if got := c.Hooks["b"].Command; got[0] != filepath.Join(dir, "bin/b") || got[1] != "x/y" {
		t.Error(got)
	}
	if got := c.Hooks["c"].Command; got[0] != "c" {
		t.Error(got)
	}
}

func TestTheExampleOfTheManualOfHooksIsValid(t *testing.T) {
	b, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(b, -1)
	if len(examples) == 0 {
		t.Error("no example")
	}
	for _, e := range examples {
		if _, err := parseServer(e[1]); err != nil {
			t.Errorf("%s: %v", e[1], err)
		}
	}
}
