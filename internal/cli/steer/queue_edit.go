package steer

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

type queueEditOptions struct {
	cli *verb.Context

	Session string
	Message string
	Text    []string
}

var queueEditVerb = verb.Verb{
	Name:  "edit",
	Build: func(cli *verb.Context) *cobra.Command { return newQueueEdit(cli, runQueueEdit) },
	Sends: protocol.DoQueueEdit,
	Trial: "fix m1 text",
}

func newQueueEdit(cli *verb.Context, run func(context.Context, *queueEditOptions) error) *cobra.Command {
	o := &queueEditOptions{cli: cli}
	return &cobra.Command{
		Use:   "edit SESSION MESSAGE [TEXT|-]",
		Short: "Replace the text of a queued message",
		Long: "Replace the text of a queued message. Without TEXT, or with -, the text is read " +
			"from stdin.",
		Example:           "  agentctl queue edit fix m_12 \"and add a test\"",
		Args:              verb.RangeArgs(2, 3),
		ValidArgsFunction: completion.InSession(cli, completion.Messages),
		RunE: verb.RunE(cli, o, func(args []string) error {
			o.Session, o.Message, o.Text = args[0], args[1], args[2:]
			return nil
		}, run),
	}
}

func runQueueEdit(ctx context.Context, o *queueEditOptions) error {
	text, err := o.cli.ReadText(ctx, o.Text)
	if err != nil {
		return err
	}
	_, err = connection.CallOnce[protocol.Empty](ctx, o.cli, protocol.DoQueueEdit, o.Session,
		protocol.QueueEditData{MessageID: o.Message, Text: text})
	return err
}
