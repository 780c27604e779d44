package server

import (
	"testing"

	"agentctl/protocol"
)

// Reconfigure changes the limits of later connections. An open connection keeps the limits from its
// hello.
func TestReconfigureChangesTheLimitsOfLaterConnections(t *testing.T) {
	w := newTestServer(t, withLimits(Limits{InFlight: 5, PerSender: 1}))
	before := w.dial()
	if l := before.hello(protocol.HelloData{}).Limits; l.InFlight != 5 || l.Message != protocol.MaxMessage {
		t.Errorf("%+v", l)
	}
	w.server.Reconfigure(Config{Limits: Limits{InFlight: 7, Message: 2 << 20}})
	if l := w.dial().hello(protocol.HelloData{Acks: true, Window: 1 << 20}).Limits; l.InFlight != 7 ||
		l.Message != 2<<20 {
		t.Errorf("later: %+v", l)
	}
	if n := w.server.admission.limits.PerSender; n != 1024 {
		t.Errorf("%d connections of a sender", n)
	}
	if m := before.ask(protocol.DoPing, "", nil); m.Error != nil {
		t.Errorf("%+v", m.Error)
	}
}
