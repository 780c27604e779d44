package main

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
)

type renameOptions struct {
	app *app

	Session string
	Name    *string
	Title   *string
}

func newRename(a *app, run func(context.Context, *renameOptions) error) *cobra.Command {
	o := &renameOptions{app: a}
	var title string
	cmd := &cobra.Command{
		Use:   "rename SESSION [NAME]",
		Short: "Rename a session",
		Long: "Set the name of a session, which must be unique, or its title. An empty NAME " +
			"removes the name.",
		Example:           "  agentctl rename 01j9 fix\n  agentctl rename fix --title \"Login fails on Safari\"",
		Args:              rangeArgs(1, 2),
		ValidArgsFunction: a.completeSessions,
	}
	cmd.Flags().StringVar(&title, "title", "", "new title `TEXT`")
	cmd.RunE = runE(a, o, func(args []string) error {
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
	_, err := callOnce[protocol.Empty](ctx, o.app, protocol.DoRename, o.Session,
		protocol.RenameData{Name: o.Name, Title: o.Title})
	return err
}
