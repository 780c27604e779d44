package myagent

import (
	"bytes"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A client is the codec of one connection at our client's end.
type client struct {
	// Static after construction.

	call   codec.ClientOptions
	desk   codec.Responder
	memory *memory

	greeted bool // system.connected came, or nobody waits for it any more
	met     bool // a frame came
	due     time.Time
	early   [][]byte // commands that came before
	can     map[string]bool
	receipt receipts
	asks    []*ask
	opening map[string]*opening // by the name that the client uses
	current *session            // that a frame without session_id means
	watched bool

	// Of the call under way.

	now time.Time
	out *codec.Output
}

const (
	greetWithin = 2 * time.Second  // until a server that says nothing is spoken to all the same
	askWithin   = 10 * time.Second // until a question has no answer
	lapseAfter  = 3 * time.Second  // until a turn whose plan was cancelled is over, when nothing else says so

	maxEarly = 64
	maxAsks  = 64
)

// verbs are what this dialect can say, beside hello and ping.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoAck, protocol.DoWatch, protocol.DoList, protocol.DoSnapshot, protocol.DoCreate,
	protocol.DoSend, protocol.DoInterrupt, protocol.DoApprove, protocol.DoTaskCancel, protocol.DoTaskRestart, protocol.DoPlanRun,
	protocol.DoExport, protocol.DoRestore, protocol.DoHistory,
}

// why says more of commands that are refused.
var why = map[protocol.Verb]string{protocol.DoList: "it has no list of sessions, name one"}

func newClient(call codec.ClientOptions) *client {
	m, _ := call.Resume.Value.(*memory)
	if m == nil {
		m = &memory{}
		call.Resume.Value = m
	}
	for _, s := range m.sessions {
		s.log.Detach()
		s.here = false
	}
	return &client{
		call: call, memory: m, opening: map[string]*opening{}, can: map[string]bool{},
		desk: codec.Responder{
			Dialect: Name, Server: Name, Verbs: verbs, Window: protocol.DefaultWindow, Epoch: codec.Epoch(call.ID("e")),
			OneShot: call.OneShot, LocalVerbs: []protocol.Verb{protocol.DoList}, Reasons: why,
		},
	}
}

// work carries out one call of the codec.
func (c *client) work(now time.Time, f func()) codec.Output {
	var out codec.Output
	c.now, c.out = now, &out
	f()
	c.expire()
	c.summarize()
	out.Wake = c.wake()
	c.out = nil
	return out
}

// Open implements codec.Codec.
func (c *client) Open(now time.Time) codec.Output {
	return c.work(now, func() { c.due = now.Add(greetWithin) })
}

// Native implements codec.Codec.
func (c *client) Native(now time.Time, line []byte) codec.Output {
	return c.work(now, func() {
		cmd, ok := c.desk.Decode(c.out, line)
		switch {
		case !ok:
		case c.greeted:
			c.do(&cmd)
		case len(c.early) >= maxEarly:
			c.desk.Fail(c.out, &cmd, protocol.Errorf(protocol.CodeTooMany, "too many commands before the server greets"))
		default:
			c.early = append(c.early, bytes.Clone(line))
		}
	})
}

// Foreign implements codec.Codec.
func (c *client) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.work(now, func() {
		m, ok := decode(f.Data)
		if !ok || f.Binary || m.Event == "" {
			c.unknown(f.Data)
			return
		}
		c.met = true
		c.hear(&m, f.Data)
		if !c.greeted {
			c.greet()
		}
	})
}

// Wake implements codec.Codec.
func (c *client) Wake(now time.Time) codec.Output {
	return c.work(now, func() {
		if !c.greeted && !now.Before(c.due) {
			c.greet()
		}
	})
}

// greet carries out what waited for the server's greeting.
func (c *client) greet() {
	c.greeted = true
	for _, line := range c.early {
		if cmd, err := protocol.DecodeCommand(line); err == nil {
			c.do(&cmd)
		}
	}
	c.early = nil
}

// wake is when to be woken next.
func (c *client) wake() time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if !c.greeted {
		sooner(c.due)
	}
	for _, a := range c.asks {
		sooner(a.due)
	}
	for _, s := range c.memory.sessions {
		if s.here {
			sooner(s.lapse)
		}
	}
	return at
}

// expire gives up what had no answer in time.
func (c *client) expire() {
	for _, a := range slices.Clone(c.asks) {
		if !c.now.Before(a.due) {
			c.settle(a, nil, protocol.Errorf(protocol.CodeTimeout, "the server did not answer %s", a.event))
		}
	}
	for _, s := range c.memory.sessions {
		if s.here && !s.lapse.IsZero() && !c.now.Before(s.lapse) {
			s.lapse = time.Time{}
			if s.log.State.Turn != nil {
				c.endTurn(s, c.now, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
			}
		}
	}
}

// say sends a frame.
func (c *client) say(f frame) {
	c.out.Foreign = append(c.out.Foreign, codec.Frame{Data: f.encode(c.now)})
}

// unknown keeps what is no frame at all.
func (c *client) unknown(data []byte) {
	if c.current != nil {
		c.current.raw(c, "", data)
	}
}
