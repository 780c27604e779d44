package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/sqlite"
)

type storeCheckOptions struct {
	app *app

	File  string
	Quick bool
}

func newCheck(a *app, run func(context.Context, *storeCheckOptions) error) *cobra.Command {
	o := &storeCheckOptions{app: a}
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Verify the stored sessions, or a backup",
		Long: `Verify every checksum of the stored sessions, and that no event is missing. Without
FILE, those of the data directory; its server may run. It prints what is damaged, one line each, and
then what can be read, and exits 1 if something is damaged. With --quick the contents of events,
folds and blobs are not read.`,
		Example: "  agentctl check\n  agentctl check sessions.db",
		Args:    rangeArgs(0, 1),
		RunE: runE(a, o, func(args []string) error {
			if len(args) > 0 {
				o.File = args[0]
			}
			return nil
		}, run),
	}
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "do not read the contents of events, folds and blobs")
	return cmd
}

func runCheck(ctx context.Context, o *storeCheckOptions) error {
	dir, err := o.app.dataDir()
	if err != nil {
		return err
	}
	path, hint := o.File, "use another backup; agentctl restore takes none that is damaged"
	if path == "" {
		path, hint = sqlite.Path(string(dir)), "keep what can be read: agentctl stop, then agentctl repair"
	}
	report, end := o.app.printer().Progress("check")
	found, err := sqlite.Check(ctx, path, sqlite.CheckOptions{
		Quick: o.Quick, Report: report,
		Damage: func(d sqlite.Damage) error {
			end()
			return o.app.printDamage(d)
		},
	})
	end()
	if err != nil {
		return storeError(err)
	}
	if err := o.app.printReport(found); err != nil {
		return err
	}
	if found.Damages > 0 {
		problem := exit.Errorf(exit.Failure, protocol.CodeCorrupt, "%d damages in %s", found.Damages, path)
		return problem.WithHint("%s", hint)
	}
	return nil
}

// printDamage prints a damage as a line.
func (a *app) printDamage(d sqlite.Damage) error {
	return a.print(struct {
		Damage sqlite.Damage `json:"damage"`
	}{d}, func(w io.Writer) { fmt.Fprintf(w, "damaged: %s\n", d) })
}

// printReport prints what can be read.
func (a *app) printReport(r sqlite.Report) error {
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "readable: %d sessions, %d turns, %d events, %d blobs\n",
			r.Sessions, r.Turns, r.Events, r.Blobs)
	})
}
