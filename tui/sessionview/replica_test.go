package sessionview

import (
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// An attachment comes over a connection, also when the connection's own update is later.
func TestAnAttachmentIsAConnection(t *testing.T) {
	r := newReplica()
	r.attach(&protocol.SubscribeResult{Session: "s", Mode: protocol.ModeResume})
	if !r.connected() {
		t.Errorf("the connection is %s", r.conn.State)
	}
	r.setConn(remote.Conn{State: remote.Reconnecting}, time.Now())
	if r.connected() {
		t.Error("the connection that was lost is open")
	}
	recording := newReplica()
	recording.recorded = true
	recording.attach(&protocol.SubscribeResult{Session: "s", Mode: protocol.ModeResume})
	if recording.connected() {
		t.Error("a recording is connected")
	}
}
