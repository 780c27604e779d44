package sessiontable

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// A Detail is what columns show of a session and its summary lacks. Zero fields are unknown.
type Detail struct {
	TurnStarted *time.Time `json:"turn_started,omitempty"`
	LagBytes    int64      `json:"lag_bytes,omitempty"`         // of the slowest client
	TokenRate   float64    `json:"tokens_per_second,omitempty"` // over the last 30 s
}

// Columns with the detail of a session.
const (
	columnTurn = "turn"
	columnLag  = "lag"
	ColumnRate = "rate" // needs several readings
)

// HasColumn reports whether the column is one of the chosen ones.
func HasColumn(chosen []string, name string) bool {
	return slices.ContainsFunc(chosen, func(c string) bool { return strings.EqualFold(c, name) })
}

// HasDetail reports whether a chosen column shows what ReadDetail reads.
func HasDetail(chosen []string) bool {
	return HasColumn(chosen, columnTurn) || HasColumn(chosen, columnLag)
}

// ReadDetail sets turn and lag of a session that is on a server. Only sessions with a turn or with
// clients have them; it sends no request for others.
func (s *Row) ReadDetail(ctx context.Context, server remote.Server) error {
	if s.Turn == "" && s.Clients == 0 {
		return nil
	}
	var current protocol.SnapshotResult
	err := server.Session(s.Session).Do(ctx, protocol.DoSnapshot, protocol.Empty{}, &current)
	if protocol.CodeOf(err) == protocol.CodeNoSession { // removed since the list was made
		return nil
	}
	if err != nil {
		return fmt.Errorf("snapshot of %s: %w", s.Session, err)
	}
	if state := current.Snapshot.State; state != nil && state.Turn != nil {
		s.TurnStarted = &state.Turn.Started
	}
	for _, client := range current.Clients {
		s.LagBytes = max(s.LagBytes, client.LagBytes)
	}
	return nil
}
