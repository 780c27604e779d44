package record

import (
	"time"

	"agentctl/protocol"
)

// An Event is an event that a session makes itself and has not recorded yet. Data has the type
// listed in protocol.EventTypes.
type Event struct {
	Type   protocol.Type
	Task   string          // of the plan; empty: of none
	Parent string          // the tool call that it belongs to; empty: none
	By     *protocol.Actor // nil: no user caused it
	Data   any
}

// Time returns a time as stored in the log: UTC, in milliseconds.
func Time(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Ephemeral encodes an event without a seq.
func Ephemeral(typ protocol.Type, session string, data any) []byte {
	e := protocol.Event{Session: session, Type: typ, Time: time.Now(), Data: protocol.MustEncode(data)}
	return e.AppendJSON(nil)
}
