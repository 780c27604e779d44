package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// localVerbs send no command, or work with every server.
var localVerbs = []string{
	"tour", "attach", "state", "task", "serve", "stop", "connect", "agents", "agents login", "agents sessions",
	"doctor", "logs", "backup", "restore", "check", "repair",
	"login", "token", "token user", "token list", "token revoke", "token key", "token key add", "token key rm",
	"token key rotate", "keys", "version", "man", "mcp", "skill",
}

func TestEveryVerbIsInTheTableOfItsCommand(t *testing.T) {
	verbs := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(parent *cobra.Command) {
		for _, cmd := range parent.Commands() {
			path := verbPath(cmd)
			verbs[path] = cmd
			if _, ok := verbCommands[path]; ok == slices.Contains(localVerbs, path) {
				t.Errorf("%s: with a command of the protocol: %v; local: %v", path, ok, !ok)
			}
			walk(cmd)
		}
	}
	walk(newRoot(&app{env: func(string) string { return "" }}))
	for path := range verbCommands {
		if verbs[path] == nil {
			t.Errorf("there is no verb %q", path)
		}
	}
	for path, flags := range flagFeatures {
		for flag := range flags {
			name, _, _ := strings.Cut(flag, "=")
			if verbs[path] == nil || verbs[path].Flags().Lookup(name) == nil {
				t.Errorf("%s has no flag %q", path, name)
			}
		}
	}
}
