package main

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type queueEditOptions struct {
	app *app

	Session string
	Message string
	Text    []string
}

func newQueueEdit(a *app, run func(context.Context, *queueEditOptions) error) *cobra.Command {
	o := &queueEditOptions{app: a}
	return &cobra.Command{
		Use:   "edit SESSION MESSAGE [TEXT|-]",
		Short: "Replace the text of a queued message",
		Long: "Replace the text of a queued message. Without TEXT, or with -, the text is read " +
			"from stdin.",
		Example:           "  agentctl queue edit fix m_12 \"and add a test\"",
		Args:              rangeArgs(2, 3),
		ValidArgsFunction: a.completeInSession(messageCompletions),
		RunE: runE(a, o, func(args []string) error {
			o.Session, o.Message, o.Text = args[0], args[1], args[2:]
			return nil
		}, run),
	}
}

func runQueueEdit(ctx context.Context, o *queueEditOptions) error {
	text, err := o.app.readText(ctx, o.Text)
	if err != nil {
		return err
	}
	_, err = callOnce[protocol.Empty](ctx, o.app, protocol.DoQueueEdit, o.Session,
		protocol.QueueEditData{MessageID: o.Message, Text: text})
	return err
}
