package session

import (
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/upkeep"
)

func TestRetentionRunsByItself(t *testing.T) {
	bubble(t, Config{Retention: upkeep.Retention{Age: time.Hour}}, func(t *testing.T, r *testHub) {
		used := r.create()
		r.create()
		r.send(used, "work")
		time.Sleep(time.Hour + time.Minute)
		r.hub.removeUnused(t.Context(), used) // as if it was listed before the turn
		r.waitIdle()
		if list := r.hub.Sessions().List(true); len(list) != 1 || list[0].Session != used ||
			list[0].Status == protocol.Closed || r.state(used).Turn == nil {
			t.Errorf("kept %+v, want the session with a turn", list)
		}
		r.agents.run().finish(agent.End{}, nil)
	})
}
