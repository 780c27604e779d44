package historygen

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// Every durable event type is generated, and every generated event can be recorded.
func TestEveryTypeOfEventHappens(t *testing.T) {
	seen := map[protocol.Type]bool{protocol.SessionCreated: true}
	rapid.Check(t, func(r *rapid.T) {
		log := codec.NewLog("s", "e")
		g := &Generator{T: r, Now: start}
		log.Add(
			&codec.Output{}, start,
			codec.Entry{Type: protocol.SessionCreated, Data: protocol.SessionCreatedData{Agent: "a"}},
		)
		for range rapid.SampledFrom([]int{10, 100, 400}).Draw(r, "events") {
			g.State = log.State
			en := g.Next()
			before := log.State.Seq
			if log.Add(&codec.Output{}, start, en); log.State.Seq != before+1 {
				r.Fatalf("not recorded: %+v", en)
			}
			seen[en.Type] = true
			if s := log.State; s.Turn == nil && len(s.Approvals) > 0 {
				r.Fatalf("a request outlives its turn: %+v", s.Approvals)
			}
		}
	})
	for _, typ := range protocol.EventTypes {
		if !typ.Ephemeral && !seen[typ.Type] {
			t.Errorf(
				"internal/dev/historygen: no %s is generated: give its row a Sample, or add it to duringTurn, betweenTurns or anywhere (generator.go)",
				typ.Type,
			)
		}
	}
}
