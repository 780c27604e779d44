package client

import (
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// Timeouts of the client, since the server does not acknowledge messages.
const (
	quietTimeout   = 250 * time.Millisecond // after opening, for messages of a turn under way
	resumeTimeout  = 2 * time.Second        // after opening, if the last connection ended in a turn
	moreTimeout    = 50 * time.Millisecond  // between messages of the turn under way
	maxOpening     = time.Second
	startTimeout   = 10 * time.Second       // for the turn of a message
	echoTimeout    = 150 * time.Millisecond // at a turn's start, for the message that started it
	rejectTimeout  = 500 * time.Millisecond // for an error after a decision
	explainTimeout = 2 * time.Minute
	contextTimeout = 10 * time.Second
	compactTimeout = 5 * time.Minute
)

// maxPending bounds the commands that wait for the server.
const maxPending = 256

// A Conn is agentctl's connection to a server. It implements codec.Codec. The connection is the
// session, and the log begins with it.
type Conn struct {
	codec.ClientBase
	log      *codec.Log
	previous *codec.Log // of the previous connection, until the fate of its turn is known; nil: none
	state    *state

	openedAt         time.Time
	readyAt          time.Time          // until then commands are held, since the session is not known; zero: ready
	held             []protocol.Command // until readyAt
	sends            []*pendingSend     // messages whose turn has not started, oldest first
	contextRequests  []*contextRequest  // requests about the context
	turn             *turn
	startsAt         time.Time           // when the announced turn starts without an echo; zero: none announced
	earlierApprovals []protocol.Approval // requests of the previous connection, in a turn that the server repeats
	earlierEvents    []earlierEvent      // other events of that turn, which the server does not repeat
	decision         *pendingDecision    // sent, and not confirmed
	explanation      *pendingExplanation // requested
}

// New returns the client end of a connection.
func New(o codec.ClientOptions) *Conn {
	c := &Conn{
		ClientBase: codec.NewClientBase(o, Responder),
		state:      codec.ResumeState(o.Resume, newClientState),
	}
	c.log = codec.NewLog(wire.SessionOfURL(o.URL), c.Epoch())
	if c.previous = c.state.log; c.previous == nil {
		c.state.log, c.log.ResetReason = c.log, protocol.ResetResubscribed
	} else {
		c.previous.Detach()
	}
	return c
}

// Open implements codec.Codec.
func (c *Conn) Open(now time.Time) codec.Output {
	return c.run(now, func() {
		c.openedAt, c.readyAt = now, now.Add(quietTimeout)
		switch {
		case c.previous == nil:
			c.add(protocol.SessionCreated, protocol.SessionCreatedData{Name: c.log.Session, Agent: wire.Name})
		case !c.queues(): // the session ended with its connection
			c.resumePrevious("")
		case c.previous.State.Turn != nil:
			c.readyAt = now.Add(resumeTimeout)
		}
	})
}

// Native implements codec.Codec.
func (c *Conn) Native(now time.Time, line []byte) codec.Output {
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
func (c *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() {
		waits := c.previous != nil
		c.handleMessage(f)
		more := now.Add(moreTimeout)
		switch {
		case c.readyAt.IsZero():
		case waits && c.previous == nil: // the interrupted turn is repeated
			c.readyAt = more
		case more.After(c.readyAt) && more.Before(c.openedAt.Add(maxOpening)):
			c.readyAt = more
		}
	})
}

// Wake implements codec.Codec.
func (c *Conn) Wake(now time.Time) codec.Output { return c.run(now, func() {}) }

// run carries out one call of the codec.
func (c *Conn) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		c.expireTimeouts()
		work()
		c.PublishSummary(c.log, c.log.Summary())
		c.scheduleWake()
	})
}

// send sends a message and returns its id.
func (c *Conn) send(typ string, payload any) (id string) {
	id = c.Options.ID("request")
	c.Send(wire.EncodeMessage(id, typ, payload))
	return id
}

// newID returns an id that is unique in the log.
func (c *Conn) newID(prefix string) string {
	c.state.counts[prefix]++
	return prefix + strconv.Itoa(c.state.counts[prefix])
}

// maxEnvelope bounds the size of an event without its data, in bytes.
const maxEnvelope = 4 << 10

// add records an event.
func (c *Conn) add(typ protocol.Type, data any) { c.addBy(typ, nil, data) }

func (c *Conn) addBy(typ protocol.Type, by *protocol.Actor, data any) {
	c.resumePrevious("")
	if raw, err := protocol.Encode(data); err != nil || len(raw) > protocol.MaxEvent-maxEnvelope {
		typ, data = protocol.Raw, protocol.RawData{Source: wire.Name, Method: string(typ), Bytes: int64(len(raw))}
	}
	en := codec.Entry{Type: typ, By: by, Data: data}
	if c.turn != nil {
		en.Turn = c.turn.id
	}
	c.Record(c.log, en)
}

// maxText bounds a text in one event, in bytes: escaped, it still fits.
const maxText = protocol.MaxText

// notShown ends a text that is longer.
const notShown = " bytes more, not shown"

// truncate bounds a text for users.
func truncate(s string) string {
	s = protocol.ValidText(s)
	if len(s) <= maxText {
		return s
	}
	return protocol.SplitText(s, maxText)[0] + "\n… " + strconv.Itoa(len(s)-maxText) + notShown
}

// raw records a message without a native equivalent.
func (c *Conn) raw(method string, data []byte) {
	c.add(protocol.Raw, codec.Raw(wire.Name, codec.Excerpt(method), data))
}
