package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

func newState(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:     "state",
		Short:   "Carry a session away and back",
		Long:    "Export a session as one signed line that only its server can read back, and make a new session of it later.",
		Example: "  agentctl state export fix >fix.state\n  agentctl state restore fix.state --name fix-again",
	}, newStateExport(a, runStateExport), newStateRestore(a, runStateRestore))
}

type stateExportOptions struct {
	app *app

	Session string
}

func newStateExport(a *app, run func(context.Context, *stateExportOptions) error) *cobra.Command {
	o := &stateExportOptions{app: a}
	return &cobra.Command{
		Use:               "export SESSION",
		Short:             "Print a session's signed state",
		Example:           "  agentctl state export fix >fix.state",
		Args:              takes(1, 1),
		ValidArgsFunction: a.sessions,
		RunE:              does(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runStateExport(ctx context.Context, o *stateExportOptions) error {
	res, err := once[protocol.ExportResult](ctx, o.app, protocol.DoExport, o.Session, nil)
	if err != nil {
		return err
	}
	if !o.app.json() {
		o.app.note("can be restored until %s", res.Expires.Local().Format(time.DateTime))
	}
	return o.app.emitJSON(res.State)
}

type stateRestoreOptions struct {
	app *app

	File string
	Name string
	Key  string
}

func newStateRestore(a *app, run func(context.Context, *stateRestoreOptions) error) *cobra.Command {
	o := &stateRestoreOptions{app: a, File: "-"}
	cmd := &cobra.Command{
		Use:     "restore [FILE|-]",
		Short:   "Make a new session of an exported one",
		Example: "  agentctl state restore fix.state --name fix-again",
		Args:    takes(0, 1),
		RunE: does(a, o, func(args []string) error {
			if len(args) > 0 {
				o.File = args[0]
			}
			return nil
		}, run),
	}
	cmd.Flags().StringVar(&o.Name, "name", "", "unique `NAME` of the new session")
	cmd.Flags().StringVar(&o.Key, "id", "", "`KEY`: however often tried, it happens once")
	return cmd
}

func runStateRestore(ctx context.Context, o *stateRestoreOptions) error {
	b, err := o.app.readFile(o.File)
	if err != nil {
		return fmt.Errorf("exported state: %w", err)
	}
	data := protocol.RestoreData{Name: o.Name}
	if err := protocol.DecodeStrict(b, &data.State); err != nil {
		return protocol.Errorf(protocol.CodeInvalidState, "%s holds no exported state: %s", o.File, err)
	}
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	res, err := askWithKey[protocol.CreateResult](l, protocol.DoRestore, "", o.Key, data)
	if err != nil {
		return err
	}
	return o.app.emit(res, func(w io.Writer) { fmt.Fprintln(w, res.Session) })
}
