package panel

import (
	"slices"
	"testing"

	"agentctl/internal/attachment"
	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
)

func TestRecallOnlyRefusedMessages(t *testing.T) {
	r := paneltest.New(t, &tuitest.Journal{})
	o := &Outbox{
		Base:    Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now},
		Restore: func(string, []attachment.File) {},
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		o.Send(id, "text "+id, "", nil, nil)
	}
	o.fail("b", "no")
	o.fail("c", "no")
	r.Replica.State.Seq = 6
	o.accept("d", 7)
	if got, _ := o.Unaccepted(); !slices.Equal(got, []string{"text a", "text b", "text c"}) {
		t.Errorf("got %q", got)
	}
	o.removeReported()
	for _, want := range []string{"text c", "text b", ""} {
		if got, ok := o.takeRefused(); got.text != want || ok != (want != "") {
			t.Errorf("got %q taken back, want %q", got.text, want)
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
