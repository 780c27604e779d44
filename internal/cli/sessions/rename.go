package sessions

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

type renameOptions struct {
	cli *verb.Context

	Session string
	Name    *string
	Title   *string
}

var renameVerb = verb.Verb{
	Name: "rename", Group: verb.GroupSession,
	Build: func(cli *verb.Context) *cobra.Command { return newRename(cli, runRename) },
	Sends: protocol.DoRename,
	Trial: "fix fix",
}

func newRename(cli *verb.Context, run func(context.Context, *renameOptions) error) *cobra.Command {
	o := &renameOptions{cli: cli}
	var title string
	cmd := &cobra.Command{
		Use:   "rename SESSION [NAME]",
		Short: "Rename a session",
		Long: "Set the name of a session, which must be unique, or its title. An empty NAME " +
			"removes the name.",
		Example:           "  agentctl rename 01j9 fix\n  agentctl rename fix --title \"Login fails on Safari\"",
		Args:              verb.RangeArgs(1, 2),
		ValidArgsFunction: completion.Sessions(cli),
	}
	cmd.Flags().StringVar(&title, "title", "", "new title `TEXT`")
	cmd.RunE = verb.RunE(cli, o, func(args []string) error {
		o.Session = args[0]
		if len(args) > 1 {
			o.Name = &args[1]
		}
		if cmd.Flags().Changed("title") {
			o.Title = &title
		}
		if o.Name == nil && o.Title == nil {
			return exit.Usagef("no change: pass NAME or --title")
		}
		return nil
	}, run)
	return cmd
}

func runRename(ctx context.Context, o *renameOptions) error {
	_, err := connection.CallOnce[protocol.Empty](ctx, o.cli, protocol.DoRename, o.Session,
		protocol.RenameData{Name: o.Name, Title: o.Title})
	return err
}
