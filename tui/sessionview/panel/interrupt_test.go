package panel

import (
	"testing"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
)

func TestInterruptWhenIdle(t *testing.T) {
	r := paneltest.New(t, tuitest.LongSession(1))
	r.ApplyJournal()
	i := NewInterrupt(r.Styles, r.Replica, r.Commands)
	r.Run(i.Start())
	r.MustReport("no turn is running")
	if i.turn != "" || i.sent {
		t.Errorf("got interrupt %+v", i)
	}
	if got := r.TakeCommands(); len(got) != 0 {
		t.Errorf("got commands %v, want none", got)
	}
}
