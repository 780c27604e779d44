package create

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/output"
	"agentctl/protocol"
)

// A start shows nothing for two seconds, then a line for each step; in JSON it shows nothing.
func TestASlowStartIsShownByItsSteps(t *testing.T) {
	for json, want := range map[bool]string{
		false: "agentctl: the agent starts: initialize 2s\nagentctl: the agent starts: session, 9s in all\n", true: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			s := newStartProgress(&output.Printer{Stderr: &out, JSON: json})
			begin := time.Now()
			p := protocol.AgentProcess{Phase: protocol.ProcessStarting, Since: &begin, Step: "initialize", StepAt: &begin}
			s.show(p)
			time.Sleep(slowStart - time.Millisecond)
			s.mu.Lock()
			if out.Len() > 0 {
				t.Errorf("shown before %s: %q", slowStart, out.String())
			}
			s.mu.Unlock()
			time.Sleep(7 * time.Second)
			next := time.Now().Add(time.Millisecond)
			time.Sleep(time.Until(next))
			p.Step, p.StepAt = "session", &next
			s.show(p)
			s.end()
			if got := out.String(); got != want {
				t.Errorf("JSON %t: %q, want %q", json, got, want)
			}
		})
	}
}
