package client

import (
	"testing"
	"time"

	"agentctl/internal/dev/agentlooptest"
	"agentctl/protocol"
)

func echoOf(text string) string {
	return agentlooptest.Response(`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`)
}

// working returns a client at a server without a queue, in a turn.
func working(t *testing.T) *agentlooptest.Client {
	g := newClientHarness(t, "ws://x", nil)
	g.Send(protocol.DoSend, protocol.SendData{Text: "one"})
	g.Receive(agentlooptest.Loads(true), echoOf("one"))
	return g
}

// A message during a turn is part of it as soon as the server shows that it has it: by the echo, or
// without one by loading true.
func TestAMessageJoinsTheTurn(t *testing.T) {
	for name, shown := range map[string]func(*agentlooptest.Client){
		"with an echo": func(g *agentlooptest.Client) { g.Receive(agentlooptest.Loads(true), echoOf("two")) },
		"without one": func(g *agentlooptest.Client) {
			g.Receive(agentlooptest.Loads(true))
			g.Advance(echoTimeout)
		},
		"with a late echo": func(g *agentlooptest.Client) {
			g.Receive(agentlooptest.Loads(true))
			g.Advance(echoTimeout)
			g.Receive(echoOf("two"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := working(t)
			turn := g.State.Turn.Turn
			g.Send(protocol.DoSend, protocol.SendData{Text: "two"})
			if g.Answer() != nil || len(g.State.Queue) > 0 {
				t.Fatalf("answered %+v before the server has it", g.Answer())
			}
			shown(g)
			r := agentlooptest.ResultOf[protocol.SendResult](g)
			if r.Status != protocol.SendStarted || r.Turn != turn || r.Seq != g.State.Seq {
				t.Errorf("send: %+v", r)
			}
			g.Receive(agentlooptest.Loads(false))
			g.ExpectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.Notice, protocol.TurnEnded)
			if d := agentlooptest.Find[protocol.NoticeData](g, protocol.Notice); d.Message != "ada: two" {
				t.Errorf("shown as %+v", d)
			}
		})
	}
}

// Two concurrent messages begin a turn together, also at a server that echoes neither.
func TestTwoMessagesAtOnceAreOneTurn(t *testing.T) {
	for name, frames := range map[string][]string{
		"with echoes": {agentlooptest.Loads(true), agentlooptest.Loads(true), echoOf("one"), echoOf("two")},
		"without":     {agentlooptest.Loads(true), agentlooptest.Loads(true)},
	} {
		t.Run(name, func(t *testing.T) {
			g := newClientHarness(t, "ws://x", nil)
			g.Send(protocol.DoSend, protocol.SendData{Text: "one"})
			g.Send(protocol.DoSend, protocol.SendData{Text: "two"})
			g.Receive(frames...)
			g.Advance(echoTimeout)
			g.Receive(agentlooptest.Loads(false))
			g.ExpectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.Notice, protocol.TurnEnded)
			if r := agentlooptest.ResultOf[protocol.SendResult](g); r.Status != protocol.SendStarted || r.Turn != "t1" {
				t.Errorf("send: %+v", r)
			}
		})
	}
}

// A message that the server does not show within 10 s is answered timeout, and is not shown.
func TestAMessageThatAnotherClientGetsIsNotShown(t *testing.T) {
	g := working(t)
	g.Send(protocol.DoSend, protocol.SendData{Text: "two"})
	g.Advance(startTimeout)
	if g.Code() != protocol.CodeTimeout {
		t.Errorf("answer %+v", g.Answer())
	}
	g.ExpectTypes(protocol.MessageUser, protocol.TurnStarted)
}

// A message would abort the pending request, so it is refused unless it is to go in front.
func TestAMessageDoesNotAbortARequestUnasked(t *testing.T) {
	g := working(t)
	g.Receive(agentlooptest.Request)
	g.Send(protocol.DoSend, protocol.SendData{Text: "two"})
	if g.Code() != protocol.CodeConflict || len(g.Sent) != 1 || len(g.State.Approvals) != 1 {
		t.Fatalf("answer %+v, sent %v", g.Answer(), g.Sent)
	}
	g.Send(protocol.DoSend, protocol.SendData{Text: "two", Front: true})
	g.Receive(agentlooptest.Loads(true), echoOf("two"))
	if r := agentlooptest.ResultOf[protocol.SendResult](g); r.Status != protocol.SendStarted {
		t.Errorf("send: %+v", r)
	}
	if d := agentlooptest.Find[protocol.ApprovalResolvedData](g, protocol.ApprovalResolved); d.Outcome != protocol.Cancelled {
		t.Errorf("resolved %+v", d)
	}
	g.Receive(agentlooptest.Request)
	g.Send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.AllowOnce})
	g.Send(protocol.DoSend, protocol.SendData{Text: "three"})
	if g.Answer() != nil {
		t.Errorf("after the decision: %+v", g.Answer())
	}
}

// A turn has failed if a warning is the agent's last word, even if its end is late.
func TestAWarningAtTheEndIsAFailure(t *testing.T) {
	more := agentlooptest.Response(`{"type":"reasoning"}`)
	warning := agentlooptest.Response(`{"id":"1","type":"message","role":"system","content":"⚠️  no luck"}`)
	for name, c := range map[string]struct {
		frames  []string
		late    time.Duration
		reason  protocol.Reason
		notices int
	}{
		"no delay":                {[]string{warning}, 0, protocol.ReasonError, 0},
		"late":                    {[]string{warning}, holdTimeout, protocol.ReasonError, 1},
		"not when more follows":   {[]string{warning, more}, 0, protocol.ReasonCompleted, 1},
		"not with agent_finished": {[]string{warning, agentlooptest.Finished}, 0, protocol.ReasonCompleted, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := working(t)
			g.Receive(c.frames...)
			g.Advance(c.late)
			g.Receive(agentlooptest.Loads(false))
			end := agentlooptest.Find[protocol.TurnEndedData](g, protocol.TurnEnded)
			if end.Reason != c.reason ||
				end.Failed() && (end.Message != "no luck" || end.Code != protocol.CodeAgentFailed) {
				t.Errorf("ended %+v", end)
			}
			notices := 0
			for _, typ := range g.Types() {
				if typ == protocol.Notice {
					notices++
				}
			}
			if notices != c.notices {
				t.Errorf("%d notices", notices)
			}
		})
	}
}
