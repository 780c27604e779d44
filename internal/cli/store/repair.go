package store

import (
	"context"
	"errors"
	"fmt"
	"io"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/stored"
	"agentctl/server/sqlite"
)

type repairOptions struct{ verb.Options }

var repairVerb = verb.Verb{
	Use:   "repair",
	Short: "Keep what can be read of damaged sessions",
	Long: `Write everything that can be read of the data directory's sessions to a new database,
which takes the place of the damaged one. No server may run. The damaged database is kept in a file
beside the new one, whose name is printed.

Lost events are replaced by a notice that says which they were, and every session gets a new epoch,
so that clients start over. It also gives back the space of sessions that earlier releases removed.`,
	Example: "  agentctl stop\n  agentctl repair",
	Group:   verb.GroupServer, Place: verb.DataDirectory,

	Do: &verb.Steps[repairOptions]{Run: runRepair},
}

func runRepair(ctx context.Context, o *repairOptions) error {
	dir, err := o.CLI.DataDir()
	if err != nil {
		return err
	}
	report, end := o.CLI.Out.Progress("repair")
	found, kept, err := sqlite.Repair(ctx, string(dir), sqlite.RepairOptions{
		Lost: stored.LostEvents, Record: stored.RecordFromEvent, Report: report,
		Damage: func(d sqlite.Damage) error {
			end()
			return printDamage(o.CLI.Out, d)
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
	if err := printReport(o.CLI.Out, found); err != nil {
		return err
	}
	return o.CLI.Out.Print(keptResult{kept}, func(w io.Writer) { fmt.Fprintf(w, "the former database is in %s\n", kept) })
}
