//go:build linux && soak

package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"sync/atomic"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// native is the name of the native protocol.
const native = "native"

// A client follows its session, sends messages to it and decides on its requests.
type client struct {
	*follower
	run      *run
	name     string
	protocol string
	acp      bool // the session's agent is a process
	slow     bool
	conn     atomic.Pointer[cutConn]
	wire     *wsclient.Client
}

// newClient connects to the socket, or to TCP if tcp.
func (r *run) newClient(name, protocolName, session string, tcp bool) *client {
	c := &client{
		follower: newFollower(r.check, name, session, protocolName == native),
		run:      r, name: name, protocol: protocolName,
	}
	url := "ws://localhost"
	o := wsclient.Options{Name: name, UserAgent: "soak", Token: r.token}
	if protocolName != native {
		o.Dialect = protocolName
		url += "/dialect/" + protocolName
	}
	if protocolName == "agentloop" {
		url += "/" + session
	}
	o.Dial = func(ctx context.Context) (net.Conn, error) {
		network, address := "unix", r.socket
		if tcp {
			network, address = "tcp", *r.address.Load()
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		r.count.dials.Add(1)
		cut := &cutConn{Conn: conn}
		c.conn.Store(cut)
		return cut, nil
	}
	c.wire = wsclient.New(url, o)
	return c
}

// follow follows the session until ctx ends.
func (c *client) follow(ctx context.Context, rng *rand.Rand) {
	o := wsclient.SubscribeOptions{}
	if c.native {
		o.Raw = rng.IntN(2) == 0
		if rng.IntN(2) == 0 {
			o.Since = &protocol.Position{}
		}
	}
	sub := c.wire.Subscribe(c.session, o)
	defer sub.Close()
	for ctx.Err() == nil {
		for it, err := range sub.Events(ctx) {
			var lost *wsclient.ConnectError
			if errors.As(err, &lost) { // the attempts are exhausted: as a user, press the key
				c.run.count.offline.Add(1)
				wait(ctx, time.Second)
				c.wire.Retry()
				break
			}
			if err != nil {
				c.violate(c.position(), "cannot follow the session: %v", err)
				return
			}
			if f := c.run.injected.item; f != nil {
				for _, other := range f(c, it) {
					c.handle(other)
				}
			} else {
				c.handle(it)
			}
			if it.Event == nil {
				continue
			}
			if it.Event.Type == protocol.ApprovalRequested {
				c.decide(ctx, it.Event)
			}
			if c.slow && rng.IntN(20) == 0 {
				c.run.waitUnlessCalm(ctx, time.Duration(rng.IntN(5000))*time.Millisecond)
			}
		}
	}
}

// decide allows a request, outside of the goroutine that follows.
func (c *client) decide(ctx context.Context, e *protocol.Event) {
	var a protocol.Approval
	if err := e.Decode(&a); err != nil {
		c.violate(e.Seq, "approval: %v", err)
		return
	}
	c.run.working.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		got, err := wsclient.Call[protocol.ApproveResult](ctx, c.wire, protocol.DoApprove, c.session,
			protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
		if err == nil && c.decidesForSure() {
			c.check.decides(c.session, c.name, a.Request, got.Outcome)
		}
		c.answered(protocol.DoApprove, err)
	})
}

// answerTimeout bounds the wait for an answer. It is longer than any fault, and than any timeout of
// a codec.
const answerTimeout = 3 * time.Minute

// decidesForSure reports whether the answer to a decision is the server's own, about a request with
// the server's id. The other protocols report errors alone, or name no request.
func (c *client) decidesForSure() bool {
	return c.native || c.protocol == "effectiveagent" || c.protocol == "multiagent"
}

// send sends messages until ctx, or the time of faults, ends.
func (c *client) send(ctx context.Context, rng *rand.Rand) {
	mean := float64(c.run.Clients) / c.run.Rate
	for n := 1; ; n++ {
		if !c.run.waitUnlessCalm(ctx, time.Duration(rng.ExpFloat64()*mean*float64(time.Second))) {
			return
		}
		kind := kindWork
		switch rng.IntN(10) {
		case 0, 1:
			kind = kindAsk
		case 2:
			kind = kindCrash
		}
		delivery := protocol.DeliverQueue
		if c.native && rng.IntN(6) == 0 {
			delivery = protocol.DeliverSteer
		}
		c.sendMessage(ctx, kind, newToken(c.name, n), delivery, rng.IntN(10) == 0)
		if c.native && rng.IntN(20) == 0 {
			ctx, cancel := context.WithTimeout(ctx, answerTimeout)
			_, err := wsclient.Call[protocol.InterruptResult](ctx, c.wire, protocol.DoInterrupt, c.session,
				protocol.InterruptData{Queue: protocol.QueueKeep})
			cancel()
			c.answered(protocol.DoInterrupt, err)
		}
	}
}

// sendMessage sends a message, and with again natively a second time under the same key.
func (c *client) sendMessage(ctx context.Context, kind, token string, delivery protocol.Delivery, again bool) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	text := kind + " " + token
	if c.acp {
		text = prompt(text)
	}
	cmd := protocol.Command{
		Command: protocol.DoSend, Session: c.session, Key: token,
		Data: protocol.MustEncode(protocol.SendData{Text: text, Delivery: delivery}),
	}
	c.check.send(c.session, token)
	var first, second protocol.SendResult
	err := c.wire.Do(ctx, cmd, &first)
	c.answered(protocol.DoSend, err)
	if err != nil {
		return
	}
	c.check.acknowledge(c.session, token, fmt.Sprintf("%+v", first))
	if !again || !c.native {
		return
	}
	err = c.wire.Do(ctx, cmd, &second)
	c.answered(protocol.DoSend, err)
	if err == nil && (first.MessageID != second.MessageID || first.Seq != second.Seq) {
		c.violate(second.Seq, "message %s sent again under its key got the answer %+v, first %+v", token, second, first)
	}
}

// hasQueue reports whether the client still keeps messages that it has to send: messages of
// multiagent wait in the client while a turn runs.
func (c *client) hasQueue(ctx context.Context) bool {
	if c.protocol != "multiagent" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	r, err := wsclient.Call[protocol.SnapshotResult](ctx, c.wire, protocol.DoSnapshot, c.session, nil)
	if err != nil {
		c.violate(0, "cannot read the client's queue: %v", err)
		return false
	}
	return len(r.Snapshot.State.Queue) > 0 || r.Snapshot.State.Turn != nil
}

// answered counts the answer to a command. Conflicts of decisions are expected: all clients decide.
func (c *client) answered(verb protocol.Verb, err error) {
	if err == nil {
		c.run.count.acknowledged.Add(1)
		return
	}
	if errors.Is(err, context.DeadlineExceeded) {
		c.violate(0, "%s client: %s got no answer", c.protocol, verb)
	}
	why := string(protocol.CodeOf(err))
	if verb != protocol.DoApprove || protocol.CodeOf(err) != protocol.CodeConflict {
		why += " " + identifiers.ReplaceAllString(err.Error(), "…")
	}
	c.run.refused(c.protocol + " " + string(verb) + ": " + why)
}

// identifiers matches the names in an error that differ each time.
var identifiers = regexp.MustCompile(`\b[a-z]+_[0-9a-z]{8,}\b|\d+`)

// cut cuts the connection, if there is one.
func (c *client) cut(torn bool) {
	if conn := c.conn.Swap(nil); conn != nil {
		conn.cut(torn)
		c.run.count.cuts.Add(1)
	}
}

// wait waits for d or the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
