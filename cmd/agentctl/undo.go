package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

type undoOptions struct {
	app *app

	Session string
	Key     string
}

func newUndo(a *app, run func(context.Context, *undoOptions) error) *cobra.Command {
	o := &undoOptions{app: a}
	cmd := &cobra.Command{
		Use:   "undo SESSION",
		Short: "Let the agent forget its last turn, and restore its files",
		Long: `Let the agent forget its last turn, and restore the files that its tools changed in it. A file
that was changed since stays as it is and is named. Effects of commands stay. The transcript keeps
the turn.`,
		Example: "  agentctl undo fix",
		Args:    rangeArgs(1, 1), ValidArgsFunction: a.completeSessions,
		RunE: runE(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
	addKeyFlag(cmd, &o.Key)
	return cmd
}

func runUndo(ctx context.Context, o *undoOptions) error {
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	res, err := callWithKey[protocol.UndoResult](c, protocol.DoUndo, o.Session, o.Key, protocol.Empty{})
	if err != nil {
		return err
	}
	return o.app.print(res, func(w io.Writer) {
		fmt.Fprintf(w, "forgot  %s\n", ui.OneLine(transcript.Clean(res.Message.Text)))
		for _, path := range res.Restored {
			fmt.Fprintf(w, "restored  %s\n", transcript.Clean(path))
		}
		for _, path := range res.Kept {
			fmt.Fprintf(w, "kept, changed since  %s\n", transcript.Clean(path))
		}
	})
}
