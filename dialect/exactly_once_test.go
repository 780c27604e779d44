package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// A message from a client to agentctl's server gets one turn, and its command one answer, whenever
// connections end and whatever the order of arrival. A command answered with an error has at most
// one turn.
func TestAMessageGetsOneTurnOverLostConnections(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				p := newLossyPair(r, name)
				for range rapid.SampledFrom([]int{10, 50, 200}).Draw(r, "steps") {
					p.step()
				}
				p.settle()
				p.check()
			})
		})
	}
}

// step does one thing: most times a delivery.
func (p *lossyPair) step() {
	switch does := rapid.SampledFrom([]string{
		"deliver", "deliver", "deliver", "deliver", "deliver", "deliver", "deliver", "send", "lose", "wake",
	}).Draw(p.t, "does"); does {
	case "send":
		p.send()
	case "lose":
		p.lose()
	case "wake":
		if len(p.next()) == 0 || rapid.IntRange(0, 9).Draw(p.t, "stalled") == 0 {
			p.wake()
		}
	default:
		if next := p.next(); len(next) > 0 {
			next[rapid.IntRange(0, len(next)-1).Draw(p.t, "next")]()
		}
	}
}

// check compares the answers to commands, and the turns that the client saw, with the server's
// turns.
func (p *lossyPair) check() {
	for _, c := range p.commands {
		switch turns := p.server.turns[c.text]; {
		case !c.answered:
			p.t.Fatalf("%q has no answer, and the turns %v", c.text, turns)
		case len(turns) > 1, len(turns) == 0 && c.err == nil:
			p.t.Fatalf("%q, answered with error %v, has the turns %v", c.text, c.err, turns)
		}
	}
	for _, c := range p.decided {
		var r protocol.ApproveResult
		switch {
		case !c.answered:
			p.t.Fatalf("the decision about %q has no answer", c.text)
		case c.err != nil || !reportsOutcomes[p.dialect.Name]:
		case json.Unmarshal(c.result, &r) != nil, r.Outcome != p.server.outcomes[c.text]:
			p.t.Fatalf("%q is answered with %s, the server has %s", c.text, c.result, p.server.outcomes[c.text])
		}
	}
	for message, turn := range p.view.ended {
		reasons := p.server.turns[message]
		if len(reasons) == 0 || turn.End.Reason == protocol.ReasonCompleted &&
			reasons[0] == protocol.ReasonCompleted && textOf(turn) != answerTo(message) {
			p.t.Fatalf("the client shows the turn %+v of %q, the server has %v", turn.End, message, reasons)
		}
	}
}

// reportsOutcomes lists the dialects in which agentctl's server answers a decision, with the id of
// its request.
var reportsOutcomes = map[string]bool{"effectiveagent": true, "multiagent": true}

// settle delivers everything, without another loss, until the client has all answers and no turn
// runs.
func (p *lossyPair) settle() {
	const enough = 10_000
	for range enough {
		switch next := p.next(); {
		case len(next) > 0:
			next[0]()
		case p.settled():
			return
		case !p.wake():
			p.t.Fatalf("nothing happens any more; unanswered: %v", p.unanswered())
		}
	}
	p.t.Fatalf("not settled; unanswered: %v", p.unanswered())
}

// settled reports whether the client has its answers and holds no unsent message. It checks for a
// while, because a client may still send such messages.
func (p *lossyPair) settled() bool {
	if len(p.unanswered()) > 0 {
		return false
	}
	p.idle++
	return p.idle > 20 || p.nextWake().IsZero()
}

func (p *lossyPair) unanswered() (texts []string) {
	for _, c := range append(slices.Clone(p.commands), p.decided...) {
		if !c.answered {
			texts = append(texts, c.text)
		}
	}
	return texts
}

// send sends another message.
func (p *lossyPair) send() {
	text := fmt.Sprintf("message %d", len(p.commands)+1)
	c := &sentCommand{
		verb: protocol.DoSend, text: text, key: fmt.Sprintf("k%d", len(p.commands)+1),
		data: protocol.SendData{Text: text},
	}
	p.commands = append(p.commands, c)
	p.enqueue(c)
}

// decide decides a new request.
func (p *lossyPair) decide(e *protocol.Event) {
	var a protocol.Approval
	switch {
	case e.Type != protocol.ApprovalRequested:
		return
	case e.Decode(&a) != nil:
		p.t.Fatalf("request: %s", e.Data)
	case slices.ContainsFunc(p.decided, func(c *sentCommand) bool { return c.text == a.Request }):
		return
	}
	c := &sentCommand{
		verb: protocol.DoApprove, text: a.Request, key: fmt.Sprintf("d%d", len(p.decided)+1),
		data: protocol.ApproveData{
			Request:  a.Request,
			Decision: rapid.SampledFrom([]protocol.Decision{protocol.AllowOnce, protocol.Deny}).Draw(p.t, "decision"),
		},
	}
	p.decided = append(p.decided, c)
	p.enqueue(c)
}

// wake lets time pass until a codec wants to be called. It returns false if none does.
func (p *lossyPair) wake() bool {
	at := p.nextWake()
	if at.IsZero() {
		return false
	}
	if at.After(p.now) {
		p.now = at
	}
	if w := p.clientWake; !w.IsZero() && !w.After(p.now) {
		p.clientWake = time.Time{}
		p.fromClient(p.client.Wake(p.now))
	}
	if w := p.serverWake; !w.IsZero() && !w.After(p.now) {
		p.serverWake = time.Time{}
		p.fromServer(p.serverCodec.Wake(p.now))
	}
	return true
}

func (p *lossyPair) nextWake() time.Time {
	at := p.clientWake
	if w := p.serverWake; at.IsZero() || !w.IsZero() && w.Before(at) {
		at = w
	}
	return at
}
