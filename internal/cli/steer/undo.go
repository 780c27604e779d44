package steer

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

type undoOptions struct {
	cli *verb.Context

	Session string
	Key     string
}

var undoVerb = verb.Verb{
	Name: "undo", Group: verb.GroupSteer,
	Build: func(cli *verb.Context) *cobra.Command { return newUndo(cli, runUndo) },
	Sends: protocol.DoUndo,
	Trial: "fix",
}

func newUndo(cli *verb.Context, run func(context.Context, *undoOptions) error) *cobra.Command {
	o := &undoOptions{cli: cli}
	cmd := &cobra.Command{
		Use:   "undo SESSION",
		Short: "Let the agent forget its last turn, and restore its files",
		Long: `Let the agent forget its last turn, and restore the files that its tools changed in it. A file
that was changed since stays as it is and is named. Effects of commands stay. The transcript keeps
the turn.`,
		Example: "  agentctl undo fix",
		Args:    verb.RangeArgs(1, 1), ValidArgsFunction: completion.Sessions(cli),
		RunE: verb.RunE(cli, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
	verb.AddKeyFlag(cmd, &o.Key)
	return cmd
}

func runUndo(ctx context.Context, o *undoOptions) error {
	c, err := connection.Open(ctx, o.cli)
	if err != nil {
		return err
	}
	defer c.Close()
	res, err := connection.CallWithKey[protocol.UndoResult](c, protocol.DoUndo, o.Session, o.Key, protocol.Empty{})
	if err != nil {
		return err
	}
	return o.cli.Print(res, func(w io.Writer) {
		fmt.Fprintf(w, "forgot  %s\n", ui.OneLine(transcript.Clean(res.Message.Text)))
		for _, path := range res.Restored {
			fmt.Fprintf(w, "restored  %s\n", transcript.Clean(path))
		}
		for _, path := range res.Kept {
			fmt.Fprintf(w, "kept, changed since  %s\n", transcript.Clean(path))
		}
	})
}
