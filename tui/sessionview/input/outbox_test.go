package input

import (
	"slices"
	"testing"

	"agentctl/internal/attachment"
	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/tui/sessionview/panel"
)

func TestRecallOnlyRefusedMessages(t *testing.T) {
	r := paneltest.New(t, &tuitest.Journal{})
	restored := ""
	o := &Outbox{
		Base:    panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now},
		Restore: func(text string, _ []attachment.File) { restored = text },
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		o.Send(id, "text "+id, "", nil, nil)
	}
	for _, id := range []string{"b", "c"} {
		o.change(id, func(m *unsentMessage) { m.err = "no" })
	}
	r.Replica.State.Seq = 6
	o.change("d", func(m *unsentMessage) { m.accepted, m.seq = true, 7 })
	if got, _ := o.Unaccepted(); !slices.Equal(got, []string{"text a", "text b", "text c"}) {
		t.Errorf("got %q", got)
	}
	o.removeReported()
	for _, want := range []string{"text c", "text b", ""} {
		restored = ""
		if o.TakeBack(); restored != want {
			t.Errorf("got %q taken back, want %q", restored, want)
		}
	}
	if len(o.messages) != 2 {
		t.Errorf("got messages left %+v, want two", o.messages)
	}
	r.Replica.State.Seq = 7
	o.removeReported()
	if len(o.messages) != 1 || o.messages[0].id != "a" {
		t.Errorf("got messages left %+v, want none", o.messages)
	}
}
