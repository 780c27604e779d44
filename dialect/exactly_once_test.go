package dialect

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// A message that a client sends to agentctl's server gets one turn, and its command one answer, at
// whatever moments connections end and in whatever order the rest arrives. A command with an error
// for an answer has a turn at most.
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
	for message, turn := range p.view.ended {
		reasons := p.server.turns[message]
		if len(reasons) == 0 || turn.End.Reason == protocol.ReasonCompleted &&
			reasons[0] == protocol.ReasonCompleted && textOf(turn) != answerTo(message) {
			p.t.Fatalf("the client shows the turn %+v of %q, the server has %v", turn.End, message, reasons)
		}
	}
}

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

// settled reports whether the client has its answers, and no message waits in it. It looks for a
// while: a client may still send what waits.
func (p *lossyPair) settled() bool {
	if len(p.unanswered()) > 0 {
		return false
	}
	p.idle++
	return p.idle > 20 || p.nextWake().IsZero()
}

func (p *lossyPair) unanswered() (texts []string) {
	for _, c := range p.commands {
		if !c.answered {
			texts = append(texts, c.text)
		}
	}
	return texts
}

// send sends another message.
func (p *lossyPair) send() {
	text := fmt.Sprintf("message %d", len(p.commands)+1)
	c := &sentCommand{text: text, key: fmt.Sprintf("k%d", len(p.commands)+1)}
	p.commands = append(p.commands, c)
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
