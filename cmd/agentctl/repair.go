package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

type repairOptions struct{ app *app }

func newRepair(a *app, run func(context.Context, *repairOptions) error) *cobra.Command {
	o := &repairOptions{app: a}
	return &cobra.Command{
		Use:   "repair",
		Short: "Keep what can be read of damaged sessions",
		Long: `Write everything that can be read of the data directory's sessions to a new database,
which takes the place of the damaged one. No server may run. The damaged database is kept in a file
beside the new one, whose name is printed.

Lost events are replaced by a notice that says which they were, and every session gets a new epoch,
so that clients start over. It also gives back the space of sessions that earlier releases removed.`,
		Example: "  agentctl stop\n  agentctl repair",
		Args:    rangeArgs(0, 0),
		RunE:    runE(a, o, nil, run),
	}
}

func runRepair(ctx context.Context, o *repairOptions) error {
	dir, err := o.app.dataDir()
	if err != nil {
		return err
	}
	report, end := o.app.printer().Progress("repair")
	found, kept, err := sqlite.Repair(ctx, string(dir), sqlite.RepairOptions{
		Lost: session.LostEvents, Record: session.RecordFromEvent, Report: report,
		Damage: func(d sqlite.Damage) error {
			end()
			return o.app.printDamage(d)
		},
	})
	end()
	if errors.Is(err, eventlog.ErrCorrupt) {
		return exit.Errorf(exit.Failure, protocol.CodeCorrupt, "%w", err).WithHint("nothing of it can be read: " +
			"restore a backup: agentctl restore FILE --replace; " +
			"to begin without sessions, remove the files \"agentctl.db\" and \"generation\" there")
	}
	if err != nil {
		return storeError(err)
	}
	if err := o.app.printReport(found); err != nil {
		return err
	}
	return o.app.print(keptResult{kept}, func(w io.Writer) { fmt.Fprintf(w, "the former database is in %s\n", kept) })
}
