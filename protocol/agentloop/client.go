package agentloop

import (
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// How long our client waits for a server that does not say whether it heard.
const (
	quietWait   = 250 * time.Millisecond // at the beginning, for the turn under way to be told
	returnWait  = 2 * time.Second        // the same after a turn was cut: it may be told again, over whatever link
	tellingWait = 50 * time.Millisecond  // for more of it
	tellingMost = time.Second
	startWait   = 10 * time.Second       // for the turn of a message
	echoWait    = 150 * time.Millisecond // at a turn's start, for whose message it is
	refusalWait = 500 * time.Millisecond // for an error after a decision
	explainWait = 2 * time.Minute
	contextWait = 10 * time.Second
	compactWait = 5 * time.Minute
)

// maxAsked bounds what waits for the server.
const maxAsked = 256

// verbs are what the dialect can say.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoWatch, protocol.DoList, protocol.DoSnapshot, protocol.DoHistory,
	protocol.DoSend, protocol.DoApprove, protocol.DoContext, protocol.DoCompact,
}

// why says more of commands that are refused.
var why = map[protocol.Verb]string{
	protocol.DoCreate:  "the first message to a session makes it",
	protocol.DoHistory: "its server tells nothing of the past",
}

// A Client is the codec of our client at an AgentLoop server. The connection is the session; its log begins with it.
type Client struct {
	call   codec.ClientOptions
	desk   codec.Responder
	log    *codec.Log
	before *codec.Log // of the connection before, until it is known what became of its turn; nil: none
	memory *memory

	opened  time.Time
	opens   time.Time           // until then nobody asks about a session that is not known yet; zero: it is
	early   []*protocol.Command // that wait for it
	sends   []*sent             // whose turn has not started, oldest first
	waits   []*wait             // for an answer about the context
	turn    *turn
	starts  time.Time           // a turn was announced: until then whose message it is may be told; zero: none was
	asked   []protocol.Approval // what was pending on the connection before, in a turn that is told again
	earlier []earlier           // what else was told there of that turn alone
	verdict *verdict            // that the server may still refuse
	why     *explanation        // that was asked for
	watched bool
	summary string // as it was told last

	// Of the call under way.

	now time.Time
	out *codec.Output
}

// NewClient makes the codec of our client's connection.
func NewClient(call codec.ClientOptions) *Client {
	epoch := codec.Epoch(call.ID("e"))
	c := &Client{
		call: call, memory: memoryOf(call.Resume), log: codec.NewLog(sessionOf(pathOf(call.URL)), epoch),
		desk: codec.Responder{
			Dialect: Name, Server: Name, Verbs: verbs, Epoch: epoch, OneShot: call.OneShot, LocalVerbs: []protocol.Verb{protocol.DoHistory}, Reasons: why,
		},
	}
	if c.before = c.memory.log; c.before == nil {
		c.memory.log, c.log.ResetReason = c.log, protocol.ResetResubscribed
	} else {
		c.before.Detach()
	}
	return c
}

// Open implements codec.Codec.
func (c *Client) Open(now time.Time) codec.Output {
	return c.do(now, func() {
		c.opened, c.opens = now, now.Add(quietWait)
		if c.before != nil && c.before.State.Turn != nil {
			c.opens = now.Add(returnWait)
		}
		if c.before == nil {
			c.add(protocol.SessionCreated, protocol.SessionCreatedData{Name: c.log.Session, Agent: Name})
		}
	})
}

// Native implements codec.Codec.
func (c *Client) Native(now time.Time, line []byte) codec.Output {
	return c.do(now, func() {
		cmd, ok := c.desk.Decode(c.out, line)
		switch {
		case !ok:
		case c.opens.IsZero():
			c.command(&cmd)
		case len(c.early) >= maxAsked:
			c.desk.Fail(c.out, &cmd, tooMany())
		default:
			c.early = append(c.early, &cmd)
		}
	})
}

// Foreign implements codec.Codec.
func (c *Client) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.do(now, func() {
		waits := c.before != nil
		c.hear(f)
		more := now.Add(tellingWait)
		switch {
		case c.opens.IsZero():
		case waits && c.before == nil: // the turn that was cut is told
			c.opens = more
		case more.After(c.opens) && more.Before(c.opened.Add(tellingMost)):
			c.opens = more
		}
	})
}

// Wake implements codec.Codec.
func (c *Client) Wake(now time.Time) codec.Output { return c.do(now, func() {}) }

func (c *Client) do(now time.Time, work func()) codec.Output {
	var out codec.Output
	c.now, c.out = now, &out
	c.expire()
	work()
	c.tellSummary()
	c.out = nil
	out.Wake = c.next()
	return out
}

// say sends a message.
func (c *Client) say(typ string, payload any) {
	c.out.Foreign = append(c.out.Foreign, frame(c.call.ID("msg"), typ, payload))
}

// mint makes an id that is unique in the log.
func (c *Client) mint(prefix string) string {
	c.memory.counts[prefix]++
	return prefix + strconv.Itoa(c.memory.counts[prefix])
}

// maxEnvelope bounds what an event is beside its data, in bytes.
const maxEnvelope = 4 << 10

// add records what happened.
func (c *Client) add(typ protocol.Type, data any) { c.addBy(typ, nil, data) }

func (c *Client) addBy(typ protocol.Type, by *protocol.Actor, data any) {
	c.goOn("")
	if raw, err := protocol.Encode(data); err != nil || len(raw) > protocol.MaxEvent-maxEnvelope {
		typ, data = protocol.Raw, protocol.RawData{Source: Name, Method: string(typ), Bytes: int64(len(raw))}
	}
	en := codec.Entry{Type: typ, By: by, Data: data}
	if c.turn != nil {
		en.Turn = c.turn.id
	}
	c.log.Add(c.out, c.now, en)
}

func (c *Client) me() *protocol.Actor { return &protocol.Actor{Name: c.call.Name} }

// longText bounds what goes into one event, in bytes: escaped it still fits.
const longText = protocol.MaxText

// clip shortens what a person is shown.
func clip(s string) string {
	s = protocol.ValidText(s)
	if len(s) <= longText {
		return s
	}
	return protocol.SplitText(s, longText)[0] + "\n… " + strconv.Itoa(len(s)-longText) + " bytes more, not shown"
}

// raw keeps what maps to nothing.
func (c *Client) raw(method string, data []byte) {
	c.add(protocol.Raw, codec.Raw(Name, cut(method), data))
}

// tellSummary tells who watches that the session changed.
func (c *Client) tellSummary() {
	if !c.watched {
		return
	}
	s := c.log.Summary()
	s.Seq = 0
	if now := string(protocol.MustEncode(s)); now != c.summary {
		c.summary = now
		s.Seq = c.log.State.Seq
		c.out.Native = append(c.out.Native, codec.Ephemeral(c.log.Session, protocol.SummaryChanged, c.now, s))
	}
}
