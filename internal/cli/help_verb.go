package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
)

// topics are what help shows in addition to verbs.
var topics = []struct {
	name, about string
	write       func(w io.Writer, root *cobra.Command)
}{
	{"flags", "Flags of all verbs", func(w io.Writer, root *cobra.Command) {
		fmt.Fprintf(w, "Flags of all verbs:\n%s", root.PersistentFlags().FlagUsages())
	}},
	{"verbs", "All verbs, described", func(w io.Writer, root *cobra.Command) {
		for _, g := range root.Groups() {
			if verbs := verbsOf(root, g.ID); len(verbs) > 0 {
				fmt.Fprintf(w, "%s\n", g.Title)
				writeVerbs(w, verbs)
			}
		}
	}},
}

// newHelp returns the verb that prints the help of another one, or a topic. cobra's own takes an
// unknown verb for success.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]…",
		Short: "Show the help of a verb",
		Long: "Show the help of a verb, as its --help does. The topic verbs describes all verbs in\n" +
			"a line each, the topic flags the flags of all verbs.",
		Example:           "  agentctl help send\n  agentctl help queue edit\n  agentctl help flags",
		GroupID:           string(verb.GroupServer),
		ValidArgsFunction: completeVerbs,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, t := range topics {
				if len(args) == 1 && args[0] == t.name {
					t.write(cmd.OutOrStdout(), cmd.Root())
					return nil
				}
			}
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
	for _, t := range topics {
		if len(args) == 0 && strings.HasPrefix(t.name, typed) {
			list = append(list, cobra.CompletionWithDesc(t.name, t.about))
		}
	}
	return list, verb.NoFiles
}
