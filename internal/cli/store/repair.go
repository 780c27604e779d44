package store

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/stored"
	"agentctl/server/sqlite"
)

type repairOptions struct{ cli *verb.Context }

var repairVerb = verb.Verb{
	Name: "repair", Group: verb.GroupServer,
	Build: func(cli *verb.Context) *cobra.Command { return newRepair(cli, runRepair) },
	Place: verb.DataDirectory,
}

func newRepair(cli *verb.Context, run func(context.Context, *repairOptions) error) *cobra.Command {
	o := &repairOptions{cli: cli}
	return &cobra.Command{
		Use:   "repair",
		Short: "Keep what can be read of damaged sessions",
		Long: `Write everything that can be read of the data directory's sessions to a new database,
which takes the place of the damaged one. No server may run. The damaged database is kept in a file
beside the new one, whose name is printed.

Lost events are replaced by a notice that says which they were, and every session gets a new epoch,
so that clients start over. It also gives back the space of sessions that earlier releases removed.`,
		Example: "  agentctl stop\n  agentctl repair",
		Args:    verb.RangeArgs(0, 0),
		RunE:    verb.RunE(cli, o, nil, run),
	}
}

func runRepair(ctx context.Context, o *repairOptions) error {
	dir, err := o.cli.DataDir()
	if err != nil {
		return err
	}
	report, end := o.cli.Printer().Progress("repair")
	found, kept, err := sqlite.Repair(ctx, string(dir), sqlite.RepairOptions{
		Lost: stored.LostEvents, Record: stored.RecordFromEvent, Report: report,
		Damage: func(d sqlite.Damage) error {
			end()
			return printDamage(o.cli, d)
		},
	})
	end()
	if errors.Is(err, eventlog.ErrCorrupt) {
		return exit.Errorf(exit.Failure, protocol.CodeCorrupt, "%w", err).WithHint("nothing of it can be read: " +
			"restore a backup: agentctl restore FILE --replace; " +
			"to begin without sessions, remove the files \"agentctl.db\" and \"generation\" there")
	}
	if err != nil {
		return localserver.StoreError(err)
	}
	if err := printReport(o.cli, found); err != nil {
		return err
	}
	return o.cli.Print(keptResult{kept}, func(w io.Writer) { fmt.Fprintf(w, "the former database is in %s\n", kept) })
}
