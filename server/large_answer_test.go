package server

import (
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/session"
)

// A session whose state is too large for any client refuses snapshots and subscriptions, on a connection
// that stays open.
func TestASessionThatIsTooLargeRefusesSnapshotsAndSubscriptions(t *testing.T) {
	w := newTestServer(t, func(w *testServer) { w.bounds = session.Limits{Bytes: 64 << 20} })
	c := w.dial()
	id := c.create("")
	c.send(protocol.DoSend, id, protocol.SendData{Text: "hang"})
	fillQueue(c, id)
	c.refused(c.ask(protocol.DoSnapshot, id, nil), protocol.CodeTooLarge)
	ok[protocol.InterruptResult](c, protocol.DoInterrupt, id, protocol.InterruptData{Queue: protocol.QueueHold})
	c.refused(c.ask(protocol.DoSubscribe, id, protocol.SubscribeData{}), protocol.CodeTooLarge)
	ok[protocol.QueueReleaseResult](c, protocol.DoQueueRelease, id, nil)
}

// fillQueue queues messages that are together larger than an answer may be: JSON has six bytes for
// each of theirs.
func fillQueue(c *testClient, id string) {
	c.t.Helper()
	for range protocol.MaxResult/(240<<10) + 1 {
		ok[protocol.SendResult](c, protocol.DoSend, id, protocol.SendData{Text: strings.Repeat("\x01", 40<<10)})
	}
}
