package agentloop

import (
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// How long our client waits for a server that does not say whether it heard.
const (
	quietTimeout   = 250 * time.Millisecond // at the beginning, for the turn under way to be told
	resumeTimeout  = 2 * time.Second        // the same after a turn was cut: it may be told again, over whatever link
	moreTimeout    = 50 * time.Millisecond  // for more of it
	maxOpening     = time.Second
	startTimeout   = 10 * time.Second       // for the turn of a message
	echoTimeout    = 150 * time.Millisecond // at a turn's start, for whose message it is
	rejectTimeout  = 500 * time.Millisecond // for an error after a decision
	explainTimeout = 2 * time.Minute
	contextTimeout = 10 * time.Second
	compactTimeout = 5 * time.Minute
)

// maxPending bounds what waits for the server.
const maxPending = 256

// verbs are what the dialect can say.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoWatch, protocol.DoList, protocol.DoSnapshot, protocol.DoHistory,
	protocol.DoSend, protocol.DoApprove, protocol.DoContext, protocol.DoCompact,
}

// unsupportedReasons says more of commands that are refused.
var unsupportedReasons = map[protocol.Verb]string{
	protocol.DoCreate:  "the first message to a session makes it",
	protocol.DoHistory: "its server tells nothing of the past",
}

// A client is the codec of our client at an AgentLoop server. The connection is the session; its log begins with it.
type client struct {
	codec.ClientBase
	log      *codec.Log
	previous *codec.Log // of the connection before, until it is known what became of its turn; nil: none
	state    *clientState

	openedAt         time.Time
	readyAt          time.Time          // until then nobody asks about a session that is not known yet; zero: it is
	held             []protocol.Command // that wait for it
	sends            []*pendingSend     // whose turn has not started, oldest first
	contextRequests  []*contextRequest  // for an answer about the context
	turn             *turn
	startsAt         time.Time           // a turn was announced: until then whose message it is may be told; zero: none was
	earlierApprovals []protocol.Approval // what was pending on the connection before, in a turn that is told again
	earlierEvents    []earlierEvent      // what else was told there of that turn alone
	decision         *pendingDecision    // that the server may still refuse
	explanation      *pendingExplanation // that was asked for
}

func newClient(o codec.ClientOptions) *client {
	c := &client{
		ClientBase: codec.NewClientBase(o, codec.Responder{
			Dialect: Name, Verbs: verbs, LocalVerbs: []protocol.Verb{protocol.DoHistory}, Reasons: unsupportedReasons,
		}),
		state: codec.ResumeState(o.Resume, newClientState),
	}
	c.log = codec.NewLog(sessionOf(pathOf(o.URL)), c.Epoch())
	if c.previous = c.state.log; c.previous == nil {
		c.state.log, c.log.ResetReason = c.log, protocol.ResetResubscribed
	} else {
		c.previous.Detach()
	}
	return c
}

// Open implements codec.Codec.
func (c *client) Open(now time.Time) codec.Output {
	return c.run(now, func() {
		c.openedAt, c.readyAt = now, now.Add(quietTimeout)
		if c.previous != nil && c.previous.State.Turn != nil {
			c.readyAt = now.Add(resumeTimeout)
		}
		if c.previous == nil {
			c.add(protocol.SessionCreated, protocol.SessionCreatedData{Name: c.log.Session, Agent: Name})
		}
	})
}

// Native implements codec.Codec.
func (c *client) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		cmd, ok := c.Decode(line)
		switch {
		case !ok:
		case c.readyAt.IsZero():
			c.command(&cmd)
		default:
			c.Hold(&c.held, maxPending, &cmd)
		}
	})
}

// Foreign implements codec.Codec.
func (c *client) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() {
		waits := c.previous != nil
		c.handleMessage(f)
		more := now.Add(moreTimeout)
		switch {
		case c.readyAt.IsZero():
		case waits && c.previous == nil: // the turn that was cut is told
			c.readyAt = more
		case more.After(c.readyAt) && more.Before(c.openedAt.Add(maxOpening)):
			c.readyAt = more
		}
	})
}

// Wake implements codec.Codec.
func (c *client) Wake(now time.Time) codec.Output { return c.run(now, func() {}) }

// run carries out one call of the codec.
func (c *client) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		c.expireTimeouts()
		work()
		c.PublishSummary(c.log, c.log.Summary())
		c.scheduleWake()
	})
}

// send sends a message.
func (c *client) send(typ string, payload any) {
	c.Send(encodeMessage(c.Options.ID("msg"), typ, payload))
}

// newID makes an id that is unique in the log.
func (c *client) newID(prefix string) string {
	c.state.counts[prefix]++
	return prefix + strconv.Itoa(c.state.counts[prefix])
}

// maxEnvelope bounds what an event is beside its data, in bytes.
const maxEnvelope = 4 << 10

// add records what happened.
func (c *client) add(typ protocol.Type, data any) { c.addBy(typ, nil, data) }

func (c *client) addBy(typ protocol.Type, by *protocol.Actor, data any) {
	c.resumePrevious("")
	if raw, err := protocol.Encode(data); err != nil || len(raw) > protocol.MaxEvent-maxEnvelope {
		typ, data = protocol.Raw, protocol.RawData{Source: Name, Method: string(typ), Bytes: int64(len(raw))}
	}
	en := codec.Entry{Type: typ, By: by, Data: data}
	if c.turn != nil {
		en.Turn = c.turn.id
	}
	c.Record(c.log, en)
}

// maxText bounds what goes into one event, in bytes: escaped it still fits.
const maxText = protocol.MaxText

// truncate shortens what a person is shown.
func truncate(s string) string {
	s = protocol.ValidText(s)
	if len(s) <= maxText {
		return s
	}
	return protocol.SplitText(s, maxText)[0] + "\n… " + strconv.Itoa(len(s)-maxText) + " bytes more, not shown"
}

// raw keeps what maps to nothing.
func (c *client) raw(method string, data []byte) {
	c.add(protocol.Raw, codec.Raw(Name, codec.Excerpt(method), data))
}
