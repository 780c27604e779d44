//go:build interop

package interop

import (
	"context"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
)

// steer sends a message into the turn that runs.
func (r *testSession) steer(text string) protocol.SendResult {
	r.t.Helper()
	var sent protocol.SendResult
	r.do(protocol.DoSend, protocol.SendData{Text: text, Delivery: protocol.DeliverSteer}, &sent)
	if sent.Status != protocol.SendSteering || sent.Turn == "" {
		r.t.Fatalf("sent: %+v", sent)
	}
	return sent
}

// waitSteered waits for the outcome of a message, and checks that it joined its turn.
func (r *testSession) waitSteered(sent protocol.SendResult, want protocol.SteerOutcome) {
	r.t.Helper()
	var d protocol.MessageResolvedData
	e := r.waitEventWhere("the outcome of a message", func(e *protocol.Event) bool {
		return e.Type == protocol.MessageResolved && e.Decode(&d) == nil && d.MessageID == sent.MessageID
	})
	if d.Outcome != want || e.Turn != sent.Turn {
		r.t.Errorf("the outcome is %+v in %s, sent %+v", d, e.Turn, sent)
	}
}

// A message that is sent while a request waits reaches the model with the result of the tool, or after it,
// in the same turn.
func messageJoinsTheTurn(t *testing.T, r *testSession) {
	r.send("run touch steered.txt")
	a := r.waitCommandApproval("touch steered.txt")
	sent := r.steer("mention the teapot")
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
	r.waitSteered(sent, protocol.SteerTakenIn)
	r.waitTurnEnd(protocol.ReasonCompleted)
	asked := r.conversation()
	last := string(asked[len(asked)-1].Body)
	if n := strings.Count(last, "mention the teapot"); n != 1 {
		t.Errorf("the model received the message %d times in %s", n, last)
	}
	r.checkContext("mention the teapot")
}

// messageJoinsNoTurn is about an agent that takes no message during a turn: it is the next one.
func messageJoinsNoTurn(t *testing.T, r *testSession) {
	r.send("run touch alone.txt")
	a := r.waitCommandApproval("touch alone.txt")
	var sent protocol.SendResult
	r.do(protocol.DoSend, protocol.SendData{Text: "mention the teapot", Delivery: protocol.DeliverSteer}, &sent)
	if sent.Status != protocol.SendQueued || sent.Reason != "the agent takes no messages during a turn" {
		t.Errorf("sent: %+v", sent)
	}
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
	r.waitTurnEnd(protocol.ReasonCompleted)
	r.waitTurnEnd(protocol.ReasonCompleted)
	if got := r.agentText(); got != "you said: mention the teapot" {
		t.Errorf("agent text %q", got)
	}
}

// A server that is killed after the agent took a message in shows it, and does not send it again.
func TestSteeringOutlivesAKilledServer(t *testing.T) {
	for _, a := range []realAgent{claudeAgent, codexAgent, qwenAgent} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			other := modelScript(&a)
			r := newTestSession(t, &a, func(ctx context.Context, req fakemodel.Request, out *fakemodel.Reply) {
				if strings.HasSuffix(req.LastUser(), "teapot") {
					out.Repeat(ctx, "drop ", 20*time.Millisecond)
					return
				}
				other(ctx, req, out)
			})
			r.send("run touch steered.txt")
			q := r.waitCommandApproval("touch steered.txt")
			sent := r.steer("mention the teapot")
			if a.name == qwenAgent.name { // it asks for messages after the call
				r.approve(protocol.ApproveData{Request: q.Request, Decision: protocol.AllowOnce})
			}
			r.waitSteered(sent, protocol.SteerTakenIn)
			r.kill()
			r.start()
			r.waitTurnEnd(protocol.ReasonError)
			var snap protocol.SnapshotResult
			r.do(protocol.DoSnapshot, protocol.Empty{}, &snap)
			if q := snap.Snapshot.State.Queue; len(q) != 0 {
				t.Errorf("queued: %+v", q)
			}
			r.backdate()
			r.send("who am I?")
			r.waitTurnEnd(protocol.ReasonCompleted)
			for _, q := range r.conversation() {
				if strings.Count(string(q.Body), "mention the teapot") > 1 {
					t.Errorf("the model received the message twice: %s", q.Body)
				}
			}
		})
	}
}

// A message to Claude while it writes ends that answer; the turn ends after the next one.
func TestClaudeAnswersAMessageWhileItWrites(t *testing.T) {
	r := newTestSession(t, &claudeAgent, modelScript(&claudeAgent))
	r.drip()
	sent := r.steer("who am I?")
	r.waitSteered(sent, protocol.SteerTakenIn)
	r.waitTurnEnd(protocol.ReasonCompleted)
	if got := r.agentText(); !strings.HasSuffix(got, "you said: who am I?") {
		t.Errorf("agent text %q", got)
	}
}
