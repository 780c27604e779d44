package remote

import (
	"testing"

	_ "agentctl/internal/dev/golden" // the flag -update
)

func TestWordsOfAgentctlAreNotMessages(t *testing.T) {
	for typed, want := range map[string]struct{ message, own string }{
		"hello":             {"hello", ""},
		"/review all":       {"/review all", ""},
		"/approve":          {"", "approve"},
		"/Approve a1":       {"", "Approve"},
		"/deny\nbecause":    {"", "deny"},
		"//approve a1":      {"/approve a1", ""},
		"//help":            {"/help", ""},
		"// a comment":      {"// a comment", ""},
		"//path/to":         {"//path/to", ""},
		"/":                 {"/", ""},
		"I said /approve":   {"I said /approve", ""},
		"/approve-all":      {"/approve-all", ""},
		"/usr/bin/help now": {"/usr/bin/help now", ""},
	} {
		if message, own := SlashMessage(typed); message != want.message || own != want.own {
			t.Errorf("%q is message %q, word %q", typed, message, own)
		}
	}
	for name, want := range map[string]string{
		"review": "/review", "/review": "/review", "help": "//help", "/Status": "//Status", "approve": "//approve",
	} {
		if got := SlashCommand(name); got != want {
			t.Errorf("%s is typed %s, want %s", name, got, want)
		}
	}
}
