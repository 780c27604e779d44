package item

import (
	"testing"

	"agentctl/protocol"
)

func TestATurnWithoutAWordAfterADenialWasEndedByIt(t *testing.T) {
	deniedTool := protocol.ToolEndedData{Tool: "c", Status: protocol.ToolDenied}
	for name, c := range map[string]struct {
		steps func(*Denial)
		want  protocol.Reason
	}{
		"nothing denied": {func(*Denial) {}, protocol.ReasonCompleted},
		"allowed":        {func(d *Denial) { d.Resolved(protocol.Allowed, "c") }, protocol.ReasonCompleted},
		"denied":         {func(d *Denial) { d.Said(); d.Resolved(protocol.Denied, "c") }, protocol.ReasonDenied},
		"expired":        {func(d *Denial) { d.Resolved(protocol.Expired, "") }, protocol.ReasonDenied},
		"cancelled":      {func(d *Denial) { d.Resolved(protocol.Cancelled, "c") }, protocol.ReasonCompleted},
		"a word after":   {func(d *Denial) { d.Resolved(protocol.Denied, "c"); d.Said() }, protocol.ReasonCompleted},
		"its tool ends after the word": {
			func(d *Denial) { d.Resolved(protocol.Denied, "c"); d.Said(); d.ToolEnded(&deniedTool) }, protocol.ReasonCompleted,
		},
		"denied without a request": {func(d *Denial) { d.Said(); d.ToolEnded(&deniedTool) }, protocol.ReasonDenied},
		"denied again": {
			func(d *Denial) { d.Resolved(protocol.Denied, "a"); d.Said(); d.Resolved(protocol.Denied, "b") }, protocol.ReasonDenied,
		},
	} {
		var d Denial
		c.steps(&d)
		if got := d.End(protocol.ReasonCompleted); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := d.End(protocol.ReasonRefusal); got != protocol.ReasonRefusal {
			t.Errorf("%s: another reason becomes %s", name, got)
		}
	}
}
