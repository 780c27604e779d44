package main

import (
	"context"

	"github.com/spf13/cobra"

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
		Use:               "rename SESSION [NAME]",
		Short:             "Change a session's name or title",
		Long:              "Change a session's name, which is unique among sessions, or its title, which is free. An empty name removes it.",
		Example:           "  agentctl rename 01j9 fix\n  agentctl rename fix --title \"Login fails on Safari\"",
		Args:              takes(1, 2),
		ValidArgsFunction: a.sessions,
	}
	cmd.Flags().StringVar(&title, "title", "", "new title `TEXT`")
	cmd.RunE = does(a, o, func(args []string) error {
		o.Session = args[0]
		if len(args) > 1 {
			o.Name = &args[1]
		}
		if cmd.Flags().Changed("title") {
			o.Title = &title
		}
		if o.Name == nil && o.Title == nil {
			return usagef("rename to what? give a NAME or --title")
		}
		return nil
	}, run)
	return cmd
}

func runRename(ctx context.Context, o *renameOptions) error {
	_, err := once[protocol.Empty](ctx, o.app, protocol.DoRename, o.Session, protocol.RenameData{Name: o.Name, Title: o.Title})
	return err
}
