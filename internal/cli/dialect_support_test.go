package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
)

// localVerbs send no command, or work with every server.
var localVerbs = []string{
	"tour", "attach", "state", "task", "serve", "stop", "connect", "agents", "agents login", "agents sessions",
	"doctor", "logs", "backup", "restore", "check", "repair",
	"login", "token", "token user", "token list", "token revoke", "token key", "token key add", "token key rm",
	"token key rotate", "keys", "version", "man", "mcp", "acp", "skill",
}

func TestEveryVerbSaysWhichCommandItSends(t *testing.T) {
	var check func(parent *cobra.Command)
	check = func(parent *cobra.Command) {
		for _, cmd := range parent.Commands() {
			path := verb.Path(cmd)
			v := verb.Find(Verbs(), path)
			if v == nil {
				if path != "man" {
					t.Errorf("there is no verb %q", path)
				}
				continue
			}
			if (v.Sends != "") == slices.Contains(localVerbs, path) {
				t.Errorf("%s: with a command of the protocol: %v; local: %v", path, v.Sends != "", v.Sends == "")
			}
			for _, n := range v.Needs {
				name, _, _ := strings.Cut(n.Flag, "=")
				if cmd.Flags().Lookup(name) == nil {
					t.Errorf("%s has no flag %q", path, name)
				}
			}
			check(cmd)
		}
	}
	check(NewRoot(&verb.Context{Env: func(string) string { return "" }}))
}
