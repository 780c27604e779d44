package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
)

// newHelp returns the verb that prints the help of another one. cobra's own takes an unknown verb
// for success.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:               "help [VERB]…",
		Short:             "Show the help of a verb",
		Long:              "Show the help of a verb, as its --help does. Without one, show all verbs.",
		Example:           "  agentctl help send\n  agentctl help queue edit",
		GroupID:           string(verb.GroupServer),
		ValidArgsFunction: completeVerbs,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 && about.HasSubCommands() {
				return unknownCommand(about, rest[0])
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// unknownTopic returns an error if --help follows a word that is no verb.
func unknownTopic(cmd *cobra.Command) error {
	args := cmd.Flags().Args()
	if len(args) == 0 || !cmd.HasSubCommands() {
		return nil
	}
	return cmd.ValidateArgs(args)
}

// completeVerbs completes the path of a verb.
func completeVerbs(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	parent, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, verb.NoFiles
	}
	for _, sub := range parent.Commands() {
		if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), typed) {
			list = append(list, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	return list, verb.NoFiles
}
