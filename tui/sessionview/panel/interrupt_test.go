package panel

import (
	"testing"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
)

func TestInterruptWhenIdle(t *testing.T) {
	r := paneltest.New(t, tuitest.LongSession(1))
	r.ApplyJournal()
	i := &Interrupt{Base: Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now}}
	r.Run(i.Start())
	r.MustReport("no turn is running")
	if i.turn != "" {
		t.Errorf("got interrupt %+v", i)
	}
	if got := r.TakeCommands(); len(got) != 0 {
		t.Errorf("got commands %v, want none", got)
	}
}
