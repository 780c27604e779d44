package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/internal/retired"
)

// otherWords are verbs of other programs, and what does the same here. An answer that names a verb
// that ends or removes something says so.
var otherWords = map[string]string{
	"kill":    "agentctl interrupt SESSION ends the current turn; agentctl rm SESSION removes the session",
	"delete":  "agentctl rm SESSION removes a session with its transcript; with --keep it stays readable",
	"remove":  "agentctl rm SESSION removes a session with its transcript; with --keep it stays readable",
	"cancel":  "agentctl interrupt SESSION ends the current turn; agentctl task cancel ends a task of a plan",
	"abort":   "agentctl interrupt SESSION ends the current turn",
	"exec":    "agentctl new --prompt TEXT --wait creates a session and waits for the answer",
	"prompt":  "agentctl send SESSION TEXT",
	"detach":  "Ctrl-C twice on the screen of agentctl attach; the session continues",
	"exit":    "Ctrl-C twice on the screen of agentctl attach; the session continues",
	"list":    "agentctl ls",
	"ps":      "agentctl ls",
	"show":    "agentctl status SESSION, or agentctl history SESSION",
	"inspect": "agentctl status SESSION -o json",
	"log":     "agentctl history SESSION for what was said, agentctl events SESSION for every event",
	"start":   "agentctl new creates a session, agentctl serve runs a server",
	"create":  "agentctl new",
	"open":    "agentctl attach SESSION",
	"resume":  "agentctl attach SESSION",
	"reject":  "agentctl deny SESSION REQUEST",
	"update":  "agentctl set SESSION NAME VALUE changes a setting of the agent",
}

// destructive are the verbs that are never the correction of a misspelled word.
var destructive = []string{"rm", "stop", "restore", "repair", "interrupt", "deny", "approve"}

// unknownCommand returns the error for a word that is no verb.
func unknownCommand(cmd *cobra.Command, name string) error {
	e := exit.Usagef("unknown command %q for %q", name, cmd.CommandPath())
	verb := strings.TrimPrefix(cmd.CommandPath()+" "+name, "agentctl ")
	if n, ok := retired.Verb.Find(verb); ok {
		return e.WithHint("%s", n)
	}
	if words, ok := otherWords[strings.ToLower(name)]; ok && !cmd.HasParent() {
		return e.WithHint("run instead: %s", words)
	}
	near := slices.DeleteFunc(cmd.SuggestionsFor(name), func(verb string) bool {
		return slices.Contains(destructive, verb) && !strings.HasPrefix(verb, strings.ToLower(name))
	})
	if len(near) == 0 || name == "" {
		return e.WithHint("see: %s --help", cmd.CommandPath())
	}
	for i := range near {
		near[i] = cmd.CommandPath() + " " + near[i]
	}
	return e.WithHint("did you mean: %s", strings.Join(near, " or "))
}
