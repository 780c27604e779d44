package multiagent

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Bounds of what our client's end remembers.
const (
	maxThreads = 64
	maxWaits   = 256 // of a thread; also of pings and conversations to be started
	maxAnswers = 256
)

// How long an error may take. The dialect does not say that it took a message: after patience without an error, it did.
const (
	patience = 500 * time.Millisecond
	opening  = 8 * time.Second  // for the first sign of a server
	longest  = 10 * time.Second // for what is always answered
	linger   = 5 * time.Second  // after a tool that nothing may follow
)

// verbs are the commands that the dialect can say, or that are about what our end keeps itself.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoWatch, protocol.DoList, protocol.DoSnapshot, protocol.DoHistory,
	protocol.DoCreate, protocol.DoSend, protocol.DoInterrupt, protocol.DoApprove,
	protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove, protocol.DoQueueHold, protocol.DoQueueRelease,
}

// kept are the verbs of a client that stays: what they are about is its own.
var kept = []protocol.Verb{
	protocol.DoList, protocol.DoHistory,
	protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove, protocol.DoQueueHold, protocol.DoQueueRelease,
}

// noQueue says why no verb changes a queue.
const noQueue = "what waits at its server cannot be changed, only what an attached client itself lets wait"

// why says more of commands that are refused.
var why = map[protocol.Verb]string{
	protocol.DoList: "it has no list of sessions, name one", protocol.DoHistory: "its server tells nothing of the past",
	protocol.DoQueueEdit: noQueue, protocol.DoQueueRemove: noQueue, protocol.DoQueueMove: noQueue, protocol.DoQueueHold: noQueue,
	protocol.DoQueueRelease: noQueue,
}

// A Client is the codec at our client's end: it answers our client's commands with what a Multi-Agent server says.
type Client struct {
	call     codec.ClientOptions
	desk     codec.Responder
	memory   *memory
	creating []*creation
	pings    []*protocol.Command
	last     *thread // that something was said or heard of
	watching bool
	opens    time.Time // until then a server that will not have us says so; zero: it has us, or is not going to say
	early    [][]byte  // native lines that wait for it

	now time.Time // of the call under way
	out *codec.Output
}

// A memory is what outlives a connection: the dialect cannot tell again what was said.
type memory struct {
	threads []*thread
	keys    []string // of answers, oldest first
	answers map[string]answered
}

// answered is a command that was carried out under a key.
type answered struct {
	body   string
	result any
}

// A creation is a conversation that is being started.
type creation struct {
	command  *protocol.Command
	data     protocol.CreateData
	domain   string
	deadline time.Time
}

// NewClient makes the codec of a connection to a Multi-Agent server. The options: "domain" for sessions that name no agent,
// "thinking" to ask for reasoning.
func NewClient(c codec.ClientOptions) *Client {
	m, _ := c.Resume.Value.(*memory)
	if m == nil {
		m = &memory{answers: map[string]answered{}}
		c.Resume.Value = m
	}
	return &Client{
		call: c, memory: m,
		desk: codec.Responder{
			Dialect: Name, Server: Name, Verbs: verbs, ForwardsPing: true, Epoch: codec.Epoch(c.ID("e")), OneShot: c.OneShot, LocalVerbs: kept, Reasons: why,
		},
	}
}

// Open implements codec.Codec: what was under way when the last connection was lost, is lost. A server accepts whom it then closes
// with 1008, so that nothing is answered here until it has answered a PING, as it does to its own clients.
func (c *Client) Open(now time.Time) codec.Output {
	return c.do(now, func() {
		c.opens = now.Add(opening)
		c.say(frame{Type: typePing})
		for _, t := range c.memory.threads {
			t.log.Epoch = c.desk.Epoch
			t.log.Detach()
			c.resume(t)
		}
	})
}

// Native implements codec.Codec.
func (c *Client) Native(now time.Time, line []byte) codec.Output {
	return c.do(now, func() {
		if c.opens.IsZero() {
			c.native(line)
			return
		}
		if c.early = append(c.early, slices.Clone(line)); len(c.early) >= maxWaits {
			c.opened()
		}
	})
}

func (c *Client) native(line []byte) {
	if cmd, ok := c.desk.Decode(c.out, line); ok {
		c.command(&cmd)
	}
}

// opened carries out what waited until it was known that the server has us.
func (c *Client) opened() {
	early := c.early
	c.opens, c.early = time.Time{}, nil
	for _, line := range early {
		c.native(line)
	}
}

// unopened fails what waited: every server of the dialect answers a PING.
func (c *Client) unopened() {
	for _, line := range c.early {
		if cmd, err := protocol.DecodeCommand(line); err == nil {
			c.fail(&cmd, protocol.Errorf(protocol.CodeTimeout, "no answer to a PING: the server is busy, or does not speak %s", Name))
		}
	}
	c.opens, c.early = time.Time{}, nil
}

// Foreign implements codec.Codec.
func (c *Client) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.do(now, func() {
		if c.opens.IsZero() {
			c.message(f.Data)
			return
		}
		if hear(f.Data).kind() != typePong {
			c.message(f.Data)
		}
		c.opened()
	})
}

// Wake implements codec.Codec: some have waited long enough.
func (c *Client) Wake(now time.Time) codec.Output { return c.do(now, func() {}) }

func (c *Client) do(now time.Time, work func()) codec.Output {
	c.now, c.out = now, &codec.Output{}
	c.expire()
	work()
	c.summarize()
	out := c.out
	c.out = nil
	out.Wake = c.next()
	return *out
}

func (c *Client) say(f frame) { c.out.Foreign = append(c.out.Foreign, f.encode()) }

// me is who acts.
func (c *Client) me() *protocol.Actor { return &protocol.Actor{Name: c.call.Name} }

// expire ends the waits whose time has come.
func (c *Client) expire() {
	if !c.opens.IsZero() && !c.now.Before(c.opens) {
		c.unopened()
	}
	for _, t := range c.memory.threads {
		for _, w := range slices.Clone(t.waits) {
			if !c.now.Before(w.deadline) && t.unwait(w) {
				c.patient(t, w)
			}
		}
		if !t.over.IsZero() && !c.now.Before(t.over) {
			c.silent(t)
		}
	}
	for len(c.creating) > 0 && !c.now.Before(c.creating[0].deadline) {
		late := c.creating[0]
		c.creating = c.creating[1:]
		c.desk.Fail(c.out, late.command, protocol.Errorf(protocol.CodeTimeout, "the server did not start a conversation"))
	}
}

// next returns when expire is to be called again.
func (c *Client) next() (at time.Time) {
	sooner := func(d time.Time) {
		if at.IsZero() || d.Before(at) {
			at = d
		}
	}
	if !c.opens.IsZero() {
		sooner(c.opens)
	}
	for _, t := range c.memory.threads {
		for _, w := range t.waits {
			sooner(w.deadline)
		}
		if !t.over.IsZero() {
			sooner(t.over)
		}
	}
	if len(c.creating) > 0 {
		sooner(c.creating[0].deadline)
	}
	return at
}

// summarize tells who watches which sessions changed.
func (c *Client) summarize() {
	if !c.watching {
		return
	}
	for _, t := range c.memory.threads {
		if t.told != t.log.State.Seq {
			t.told = t.log.State.Seq
			c.out.Native = append(c.out.Native, codec.Ephemeral(t.log.Session, protocol.SummaryChanged, c.now, t.summary()))
		}
	}
}

// settle answers a command that changed state, and keeps the answer for its key.
func (c *Client) settle(cmd *protocol.Command, result any) {
	if cmd == nil {
		return
	}
	if cmd.Key != "" {
		if len(c.memory.keys) >= maxAnswers {
			delete(c.memory.answers, c.memory.keys[0])
			c.memory.keys = c.memory.keys[1:]
		}
		c.memory.keys = append(c.memory.keys, cmd.Key)
		c.memory.answers[cmd.Key] = answered{body(cmd), result}
	}
	c.desk.Answer(c.out, cmd, result)
}

func (c *Client) fail(cmd *protocol.Command, err *protocol.Error) {
	if cmd != nil {
		c.desk.Fail(c.out, cmd, err)
	}
}

// body is what tells two commands with one key apart.
func body(cmd *protocol.Command) string {
	return string(cmd.Command) + "\n" + cmd.Session + "\n" + string(cmd.Data)
}
