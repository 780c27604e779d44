package agentloop

import (
	"testing"
	"time"

	"agentctl/protocol"
)

func echoOf(text string) string {
	return response(`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`)
}

// working returns a client at a server without a queue, in a turn.
func working(t *testing.T) *clientHarness {
	g := newClientHarness(t, "ws://x", nil)
	g.send(protocol.DoSend, protocol.SendData{Text: "one"})
	g.receive(loads(true), echoOf("one"))
	return g
}

// A message during a turn is part of it as soon as the server shows that it has it: by the echo, or
// without one by loading true.
func TestAMessageJoinsTheTurn(t *testing.T) {
	for name, shown := range map[string]func(*clientHarness){
		"with an echo": func(g *clientHarness) { g.receive(loads(true), echoOf("two")) },
		"without one": func(g *clientHarness) {
			g.receive(loads(true))
			g.advance(echoTimeout)
		},
		"with a late echo": func(g *clientHarness) {
			g.receive(loads(true))
			g.advance(echoTimeout)
			g.receive(echoOf("two"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := working(t)
			turn := g.state.Turn.Turn
			g.send(protocol.DoSend, protocol.SendData{Text: "two"})
			if g.answer() != nil || len(g.state.Queue) > 0 {
				t.Fatalf("answered %+v before the server has it", g.answer())
			}
			shown(g)
			r := resultOf[protocol.SendResult](g)
			if r.Status != protocol.SendStarted || r.Turn != turn || r.Seq != g.state.Seq {
				t.Errorf("send: %+v", r)
			}
			g.receive(loads(false))
			g.expectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.Notice, protocol.TurnEnded)
			if d := find[protocol.NoticeData](g, protocol.Notice); d.Message != "ada: two" {
				t.Errorf("shown as %+v", d)
			}
		})
	}
}

// Two messages at once begin a turn together, also at a server that echoes neither.
func TestTwoMessagesAtOnceAreOneTurn(t *testing.T) {
	for name, frames := range map[string][]string{
		"with echoes": {loads(true), loads(true), echoOf("one"), echoOf("two")},
		"without":     {loads(true), loads(true)},
	} {
		t.Run(name, func(t *testing.T) {
			g := newClientHarness(t, "ws://x", nil)
			g.send(protocol.DoSend, protocol.SendData{Text: "one"})
			g.send(protocol.DoSend, protocol.SendData{Text: "two"})
			g.receive(frames...)
			g.advance(echoTimeout)
			g.receive(loads(false))
			g.expectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.Notice, protocol.TurnEnded)
			if r := resultOf[protocol.SendResult](g); r.Status != protocol.SendStarted || r.Turn != "t1" {
				t.Errorf("send: %+v", r)
			}
		})
	}
}

// A message that the server does not show within 10 s is answered timeout, and is not shown.
func TestAMessageThatAnotherClientGetsIsNotShown(t *testing.T) {
	g := working(t)
	g.send(protocol.DoSend, protocol.SendData{Text: "two"})
	g.advance(startTimeout)
	if g.code() != protocol.CodeTimeout {
		t.Errorf("answer %+v", g.answer())
	}
	g.expectTypes(protocol.MessageUser, protocol.TurnStarted)
}

// A message would abort the pending request, so it is refused unless it is to go in front.
func TestAMessageDoesNotAbortARequestUnasked(t *testing.T) {
	g := working(t)
	g.receive(request)
	g.send(protocol.DoSend, protocol.SendData{Text: "two"})
	if g.code() != protocol.CodeConflict || len(g.sent) != 1 || len(g.state.Approvals) != 1 {
		t.Fatalf("answer %+v, sent %v", g.answer(), g.sent)
	}
	g.send(protocol.DoSend, protocol.SendData{Text: "two", Front: true})
	g.receive(loads(true), echoOf("two"))
	if r := resultOf[protocol.SendResult](g); r.Status != protocol.SendStarted {
		t.Errorf("send: %+v", r)
	}
	if d := find[protocol.ApprovalResolvedData](g, protocol.ApprovalResolved); d.Outcome != protocol.Cancelled {
		t.Errorf("resolved %+v", d)
	}
	g.receive(request)
	g.send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.AllowOnce})
	g.send(protocol.DoSend, protocol.SendData{Text: "three"})
	if g.answer() != nil {
		t.Errorf("after the decision: %+v", g.answer())
	}
}

// A turn has failed if a warning is the agent's last word, even if its end is late.
func TestAWarningAtTheEndIsAFailure(t *testing.T) {
	more := response(`{"type":"reasoning"}`)
	warning := response(`{"id":"1","type":"message","role":"system","content":"⚠️  no luck"}`)
	for name, c := range map[string]struct {
		frames  []string
		late    time.Duration
		reason  protocol.Reason
		notices int
	}{
		"at once":                 {[]string{warning}, 0, protocol.ReasonError, 0},
		"late":                    {[]string{warning}, holdTimeout, protocol.ReasonError, 1},
		"not when more follows":   {[]string{warning, more}, 0, protocol.ReasonCompleted, 1},
		"not with agent_finished": {[]string{warning, finished}, 0, protocol.ReasonCompleted, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := working(t)
			g.receive(c.frames...)
			g.advance(c.late)
			g.receive(loads(false))
			end := find[protocol.TurnEndedData](g, protocol.TurnEnded)
			if end.Reason != c.reason ||
				end.Failed() && (end.Message != "no luck" || end.Code != protocol.CodeAgentFailed) {
				t.Errorf("ended %+v", end)
			}
			notices := 0
			for _, typ := range g.types() {
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
