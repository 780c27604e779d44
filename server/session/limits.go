package session

import (
	"agentctl/server/session/approval"
	"agentctl/server/session/queue"
)

// Limits bound the sessions of a server and what each holds. Zero values mean the defaults given.
// Together with the bounds of events they keep every snapshot below protocol.MaxResult.
type Limits struct {
	Sessions int   // of the server, closed ones included; 20,000
	Agents   int   // processes of agents at once; 500
	Queue    int   // messages in the queue of a session; 1,000
	Requests int   // pending requests of a session; 100
	Rules    int   // of a session; 500
	Bytes    int64 // of a session's queue, of its pending requests, and of its rules, each encoded; 4 MiB
	Disk     int64 // bytes of the store beyond which no message and no session is accepted; unlimited

	// LogMemory bounds the older events in memory, those beyond the newest MiB of each session; 64
	// MiB for all sessions. It is read once.
	LogMemory int64
}

func (l *Limits) defaults() {
	for _, n := range []struct {
		field *int
		value int
	}{{&l.Sessions, 20_000}, {&l.Agents, 500}, {&l.Queue, 1000}, {&l.Requests, 100}, {&l.Rules, 500}} {
		if *n.field == 0 {
			*n.field = n.value
		}
	}
	if l.LogMemory == 0 {
		l.LogMemory = 64 << 20
	}
	if l.Bytes == 0 {
		l.Bytes = 4 << 20
	}
}

// queue returns the limits of a session's queue.
func (l *Limits) queue() queue.Limits { return queue.Limits{Messages: l.Queue, Bytes: l.Bytes} }

// approvals returns the limits of a session's requests and rules.
func (l *Limits) approvals() approval.Limits {
	return approval.Limits{Requests: l.Requests, Rules: l.Rules, Bytes: l.Bytes}
}
