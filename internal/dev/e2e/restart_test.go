package e2e

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

func TestAnAgentThatResumesGoesOnWithItsTurnOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(
			t,
			`{"resumes":true}`,
			`{"on":"*"}`,
			`{"burst":400,"delay":"10ms"}`,
			`{"tool":"shell","output":"a b c d e f g h","delay":"1s"}`,
			`{"ask":"command","command":"make","then":[{"say":"yes: {by}"}],"else":[{"say":"no"}]}`,
			`{"say":"the end"}`,
		)
		ann := w.client("ann")
		id := w.create(ann)
		sent := w.send(ann, id, "go")
		w.send(ann, id, "next")
		bob := w.client("bob")
		all := async(func() *observer {
			return observe(t.Context(), bob, id, wsclient.SubscribeOptions{Since: logStart(), Raw: true}, turnsEnded(1))
		})
		restart := func() {
			w.stop()
			w.start()
		}
		time.Sleep(1234 * time.Millisecond) // during the burst
		restart()
		time.Sleep(7 * time.Second) // during the tool
		restart()
		asked := mustObserve(t, w.client("eve"), id, wsclient.SubscribeOptions{},
			eventOfType(protocol.ApprovalRequested)).state.Approvals[0]
		restart() // while the approval is pending
		if got := do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, id, nil); got.Status != protocol.Waiting ||
			got.Snapshot.State.Approvals[0].Request != asked.Request {
			t.Errorf("after a restart: %s, %+v", got.Status, got.Snapshot.State.Approvals)
		}
		do[protocol.ApproveResult](
			t, ann, protocol.DoApprove, id, protocol.ApproveData{Request: asked.Request, Decision: protocol.AllowOnce},
		)
		got := <-all
		if got.err != nil {
			t.Fatal(got.err)
		}
		turn := got.transcript.Turns[0]
		if turn.Turn != sent.Turn || turn.End.Reason != protocol.ReasonCompleted ||
			!strings.HasSuffix(got.text(), "yes: annthe end") {
			t.Errorf("turn %s of %s ended with %+v: %q", turn.Turn, sent.Turn, turn.End, got.text())
		}
		var want strings.Builder
		for i := range 400 {
			fmt.Fprintf(&want, "%d ", i)
		}
		if !strings.HasPrefix(got.text(), want.String()+"yes") {
			t.Errorf("the burst reads %q", got.text())
		}
		var tools []protocol.ToolStatus
		for _, it := range turn.Items {
			if it.Kind == protocol.ItemTool {
				tools = append(tools, it.Tool.End.Status)
			}
		}
		if len(tools) != 1 || tools[0] != protocol.ToolUnknown {
			t.Errorf("the aborted tool: %v", tools)
		}
		if len(got.attached) < 3 {
			t.Errorf("attached %d times", len(got.attached))
		}
	})
}
