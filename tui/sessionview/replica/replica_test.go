package replica

import (
	"testing"
	"time"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// An attachment comes over a connection, also when the connection's own update is later.
func TestAnAttachmentIsAConnection(t *testing.T) {
	r := New()
	r.Attach(&protocol.SubscribeResult{Session: "s", Mode: protocol.ModeResume})
	if !r.Connected() {
		t.Errorf("the connection is %s", r.Conn.State)
	}
	r.SetConn(remote.Conn{State: remote.Reconnecting}, time.Now())
	if r.Connected() {
		t.Error("the connection that was lost is open")
	}
	recording := New()
	recording.Recorded = true
	recording.Attach(&protocol.SubscribeResult{Session: "s", Mode: protocol.ModeResume})
	if recording.Connected() {
		t.Error("a recording is connected")
	}
}
