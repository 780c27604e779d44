package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/access"
	"agentctl/internal/cli/acp"
	"agentctl/internal/cli/agents"
	"agentctl/internal/cli/attach"
	"agentctl/internal/cli/create"
	"agentctl/internal/cli/doctor"
	"agentctl/internal/cli/mcp"
	"agentctl/internal/cli/read"
	"agentctl/internal/cli/serve"
	"agentctl/internal/cli/sessions"
	"agentctl/internal/cli/steer"
	"agentctl/internal/cli/store"
	"agentctl/internal/cli/tour"
	"agentctl/internal/cli/verb"
)

// Verbs returns the verbs of the program.
func Verbs() []*verb.Verb {
	return slices.Concat(
		sessions.Verbs,
		create.Verbs,
		attach.Verbs,
		tour.Verbs,
		steer.Verbs,
		read.Verbs,
		serve.Verbs,
		store.Verbs,
		agents.Verbs,
		doctor.Verbs,
		mcp.Verbs,
		acp.Verbs,
		access.Verbs,
		programVerbs,
	)
}

// addVerbs adds the wanted verbs to root.
func addVerbs(root *cobra.Command, cli *verb.Context, wanted func(name string) bool) {
	for _, v := range Verbs() {
		if wanted(v.Name()) {
			root.AddCommand(buildVerb(cli, v))
		}
	}
}

// buildVerb returns the command of a verb, with the verbs below it.
func buildVerb(cli *verb.Context, v *verb.Verb) *cobra.Command {
	cmd := v.Command(cli, nil)
	for _, below := range v.Below {
		cmd.AddCommand(buildVerb(cli, below))
	}
	if len(v.Below) > 0 && cmd.Args == nil {
		cmd.Args = noArgument
	}
	return cmd
}

// noArgument is the Args of a command with verbs below it: an argument is a verb that it lacks.
func noArgument(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return nil
}

var programVerbs = []*verb.Verb{&versionVerb}
