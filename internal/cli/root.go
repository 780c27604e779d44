package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
)

const rootLong = `agentctl is tmux for AI agents. A server runs agent sessions; users and scripts attach to
them from any terminal: watch live, send, queue, interrupt, approve, detach and come back. SESSION
is an id, an exact name, or a unique prefix of an id. Without --server the local server is used, and
started if none runs. docs/scripts.md has the exit codes, docs/screen.md the configuration file.`

// NewRoot returns the command with all verbs.
func NewRoot(cli *verb.Context) *cobra.Command {
	root := newBareRoot(cli)
	root.Version = cli.Build.Version()
	root.SetVersionTemplate(cli.Build.Line() + "\n")
	addVerbs(root, cli, func(string) bool { return true })
	root.AddCommand(releaseVerbs(&cli.Build)...)
	wrapHelp(root)
	return root
}

// newRootFor returns the command with the verb that args name, or with all verbs if they name none:
// then help, completion or an error lists them. To build all verbs takes longer than most of them
// run.
func newRootFor(cli *verb.Context, args []string) *cobra.Command {
	if _, ok := findDialect(cli, args); ok { // its help depends on all verbs
		return NewRoot(cli)
	}
	root := newBareRoot(cli)
	addVerbs(root, cli, func(name string) bool { return slices.Contains(args, name) })
	if cmd, _, err := root.Find(args); err != nil || cmd == root {
		return NewRoot(cli)
	}
	wrapHelp(root)
	return root
}

// newBareRoot returns the command without verbs.
func newBareRoot(cli *verb.Context) *cobra.Command {
	root := &cobra.Command{
		Use:   "agentctl",
		Short: "tmux for AI agents",
		Long:  rootLong,
		Example: "  agentctl tour\n" +
			"  agentctl new --name fix --agent claude --prompt \"make the tests pass\"\n" +
			"  agentctl attach fix",
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,

		Args: noArgument,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := verb.CheckEmptyFlags(cmd); err != nil {
				return err
			}
			if err := cli.ReadEnvironment(); err != nil {
				return err
			}
			if err := cli.ReadFilter(cmd); err != nil {
				return err
			}
			cli.Call = verb.Invocation{Verb: verb.Path(cmd), Session: "SESSION"}
			if len(args) > 0 {
				cli.Call.Session = args[0]
			}
			v := verb.Find(Verbs(), cli.Call.Verb)
			if v == nil { // help or completion
				return nil
			}
			if err := v.CheckPlace(cli, cmd); err != nil {
				return err
			}
			v.StartsNoServer(&cli.Flags, cmd)
			return v.CheckSupport(&cli.Flags, cmd)
		},
	}
	root.Flags().Bool("version", false, "print the version")
	cli.AddGlobalFlags(root)
	root.AddGroup(
		&cobra.Group{ID: string(verb.GroupStart), Title: "Start here:"},
		&cobra.Group{ID: string(verb.GroupSession), Title: "Sessions:"},
		&cobra.Group{ID: string(verb.GroupSteer), Title: "Steer a session:"},
		&cobra.Group{ID: string(verb.GroupRead), Title: "Read a session:"},
		&cobra.Group{ID: string(verb.GroupServer), Title: "Server and program:"},
	)
	root.SetHelpCommand(newHelp())
	root.SetUsageFunc(printUsage)
	root.SetCompletionCommandGroupID(string(verb.GroupServer))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exit.Usagef("%w", err).WithHint("see: %s --help", cmd.CommandPath())
	})
	return root
}
