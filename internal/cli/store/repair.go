package store

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/localserver/instance"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/stored"
	"agentctl/server/sqlite"
)

type repairOptions struct {
	verb.Options

	WithoutLog bool
}

var repairVerb = verb.Verb{
	Use:   "repair",
	Short: "Keep what can be read of damaged sessions",
	Long: `Write all readable sessions of the data directory to a new database, which replaces the damaged one;
its old file is kept and named. No server may run. A notice replaces lost events, and clients start
over. It also gives back the space of removed sessions. After an unclean stop without a write-ahead
log, which a server refuses, --without-log keeps what the database has and prints the last position
of each session: later ones, and whole sessions, may be gone.`,
	Example: "  agentctl stop\n  agentctl repair",
	Group:   verb.GroupServer, Place: verb.DataDirectory,

	Do: &verb.Steps[repairOptions]{
		Flags: func(o *repairOptions, cmd *cobra.Command) {
			cmd.Flags().BoolVar(&o.WithoutLog, "without-log", false, "go on without a write-ahead log that is missing")
		},
		Run: runRepair,
	},
}

func runRepair(ctx context.Context, o *repairOptions) error {
	if err := connection.RequireUser(ctx, o.CLI, "repair the sessions of the server"); err != nil {
		return err
	}
	report, end := o.CLI.Out.Progress("repair")
	found, kept, err := sqlite.Repair(ctx, string(o.CLI.Dir), sqlite.RepairOptions{
		Lost: stored.LostEvents, Record: stored.RecordFromEvent, Report: report,
		Damage: func(d sqlite.Damage) error {
			end()
			return printDamage(o.CLI.Out, d)
		},
		WithoutLog: o.WithoutLog,
		Kept: func(session, epoch string, last uint64) error {
			end()
			return printEnd(o.CLI.Out, session, protocol.Position{Epoch: epoch, Seq: last})
		},
	})
	end()
	if errors.Is(err, eventlog.ErrCorrupt) {
		return exit.Errorf(exit.Failure, protocol.CodeCorrupt, "%w", err).WithHint("nothing of it can be read: " +
			"restore a backup: agentctl restore FILE --replace; " +
			"to begin without sessions, which are lost then, remove the files \"agentctl.db\" and \"generation\" there")
	}
	if err != nil {
		return instance.StoreError(err)
	}
	if err := printReport(o.CLI.Out, found); err != nil {
		return err
	}
	return o.CLI.Out.Print(keptResult{kept}, func(w io.Writer) {
		fmt.Fprintf(w, "the previous database is in %s\n", kept)
	})
}

// printEnd prints the last position of a session that was repaired without its log.
func printEnd(p output.Printer, session string, last protocol.Position) error {
	return p.Print(struct {
		Session string            `json:"session"`
		Last    protocol.Position `json:"last"`
	}{session, last}, func(w io.Writer) {
		fmt.Fprintf(w, "session %s: the last position is %s; later ones may be gone\n", session, last)
	})
}
