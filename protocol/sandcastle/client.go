package sandcastle

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// pingEvery is how often our client pings; a ping without an answer by the next one ends the connection.
const pingEvery = 10 * time.Second

// A stream that broke off is opened again after the first delay, then after one and a half times the last, up to the longest.
const (
	firstRetry   = 500 * time.Millisecond
	longestRetry = 5 * time.Second
)

// maxLine bounds one message of the server that several frames make up, and what a stream says while its past is asked for, in
// bytes.
const maxLine = 16 << 20

// A Client is the codec at our client's end: it answers our client's commands with what a Sandcastle server says.
type Client struct {
	call     codec.ClientOptions
	desk     codec.Responder
	lines    lines
	manners  *manners // how this server wants to be asked
	last     uint64   // request id
	asked    map[string]*inquiry
	held     []*inquiry // until it is known how to ask
	gets     []string   // paths to read
	getting  map[string]*past
	sessions map[string]*session
	logs     int // begun on this connection

	heard   bool // a message of this protocol
	strange bool // only others were

	pinged   bool // and no answer yet
	nextPing time.Time
	retry    time.Time     // when broken streams are opened again; zero: none is broken
	delay    time.Duration // until then, the next time
	now      time.Time     // of the call under way
	out      *codec.Output
}

// manners are how a server wants to be asked; known on the next connection, too, as is what may have been sent.
type manners struct {
	tags tagSet
	sure bool
	mute bool // does not tell its history when it is asked
	told bool // its history over HTTP
	open openSends
}

// An inquiry is a request of ours that has no exit yet.
type inquiry struct {
	op      operation
	payload payload
	then    func(value json.RawMessage, err *protocol.Error)
	session *session // whose stream it is
}

// verbs are the commands that the dialect can say.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoSnapshot, protocol.DoHistory, protocol.DoSend, protocol.DoInterrupt,
	protocol.DoQueueRemove, protocol.DoApprove,
}

// missing says of commands that the dialect cannot say why, or what to do instead.
var missing = map[protocol.Verb]string{
	protocol.DoList:         "it has no list of sessions, name one",
	protocol.DoWatch:        "it has no list of sessions",
	protocol.DoCreate:       "its sessions are made elsewhere",
	protocol.DoQueueEdit:    "remove the message and send it anew",
	protocol.DoQueueMove:    "remove the message and send it anew",
	protocol.DoQueueHold:    "its queue is not held",
	protocol.DoQueueRelease: "its queue is not held",
}

// NewClient makes the codec of a connection to a Sandcastle server. The option "tags" says how it wants to be asked: "chat" or
// "document"; without it that is found out.
func NewClient(c codec.ClientOptions) *Client {
	k, _ := c.Resume.Value.(*manners)
	if k == nil {
		k = &manners{tags: chatTags}
		switch c.Options["tags"] {
		case "chat":
			k.sure = true
		case "document":
			k.tags, k.sure = documentTags, true
		}
		c.Resume.Value = k
	}
	return &Client{
		call: c, manners: k, lines: lines{limit: maxLine}, asked: map[string]*inquiry{}, sessions: map[string]*session{}, getting: map[string]*past{},
		desk: codec.Responder{Dialect: Name, Server: Name, Verbs: verbs, Reasons: missing, Epoch: codec.Epoch(c.ID("e"))},
	}
}

// Open implements codec.Codec.
func (c *Client) Open(now time.Time) codec.Output {
	c.nextPing = now.Add(pingEvery)
	return c.do(now, func() {})
}

// Native implements codec.Codec.
func (c *Client) Native(now time.Time, line []byte) codec.Output {
	return c.do(now, func() {
		if cmd, ok := c.desk.Decode(c.out, line); ok {
			c.command(cmd)
		}
	})
}

// Foreign implements codec.Codec.
func (c *Client) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.do(now, func() { c.lines.take(f.Data, c.message) })
}

// Wake implements codec.Codec: it is time to ping, and to open again the streams that broke off.
func (c *Client) Wake(now time.Time) codec.Output {
	return c.do(now, func() {
		if !c.retry.IsZero() && !now.Before(c.retry) {
			c.reopen()
		}
		if now.Before(c.nextPing) {
			return
		}
		if c.pinged {
			c.out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a ping"}
			return
		}
		c.pinged, c.nextPing = true, now.Add(pingEvery)
		c.say(control{Tag: tagPing})
	})
}

// broken has the streams that broke off opened again before long.
func (c *Client) broken() {
	if c.retry.IsZero() {
		c.delay = max(firstRetry, c.delay)
		c.retry = c.now.Add(c.delay)
		c.delay = min(c.delay*3/2, longestRetry)
	}
}

// reopen opens the streams that broke off.
func (c *Client) reopen() {
	c.retry = time.Time{}
	for _, s := range c.ordered() {
		if s.stream == "" && (s.log == nil || !s.log.State.Closed) {
			c.open(s)
		}
	}
}

func (c *Client) do(now time.Time, work func()) codec.Output {
	c.now, c.out = now, &codec.Output{}
	work()
	out := c.out
	c.out = nil
	if out.Wake = c.nextPing; !c.retry.IsZero() && c.retry.Before(out.Wake) {
		out.Wake = c.retry
	}
	return *out
}

func (c *Client) say(m any) { c.out.Foreign = append(c.out.Foreign, text(protocol.MustEncode(m))) }

// ask sends a request. Until it is known how this server wants to be asked, one at a time.
func (c *Client) ask(q *inquiry) {
	if c.strange {
		q.then(nil, stranger())
		return
	}
	if c.manners.tags[q.op] == "" && c.manners.sure {
		q.then(nil, protocol.Errorf(protocol.CodeUnsupported, "this server of the dialect %s cannot do that", Name))
		return
	}
	if len(c.asked)+len(c.held) >= maxCalls {
		q.then(nil, protocol.Errorf(protocol.CodeTooMany, "too many requests under way"))
		return
	}
	if !c.manners.sure && len(c.asked) > 0 {
		c.held = append(c.held, q)
		return
	}
	c.send(q)
}

func (c *Client) send(q *inquiry) {
	id := strconv.FormatUint(c.last, 10)
	c.last++
	c.asked[id] = q
	if q.session != nil {
		q.session.stream = id
	}
	p := q.payload
	p.Tag = c.manners.tags[q.op]
	c.say(request{Tag: tagRequest, ID: id, Name: p.Tag, Payload: protocol.MustEncode(p), Headers: []string{}})
}

// settle notes that the server understands how it is asked.
func (c *Client) settle() {
	if c.manners.sure {
		return
	}
	c.manners.sure = true
	held := c.held
	c.held = nil
	for _, q := range held {
		c.ask(q)
	}
}

// message takes one message of the server.
func (c *Client) message(line []byte) {
	var m message
	err := json.Unmarshal(line, &m)
	c.listen(err == nil && word(m.Tag) != "")
	if err != nil {
		return // of no session: there is no log that could keep it
	}
	id, _ := requestID(m.RequestID)
	q := c.asked[id]
	switch word(m.Tag) {
	case tagPong:
		c.pinged = false
	case tagChunk:
		if q == nil || q.session == nil {
			return // of a stream that we left
		}
		c.settle()
		for _, v := range m.Values {
			c.sessionEvent(q.session, v)
		}
		if q.session.past == nil { // else when the past is known
			c.say(control{tagAck, id})
		}
	case tagExit:
		if q != nil {
			c.exit(id, q, m.Exit)
		}
	case tagDefect:
		c.defect(m.Defect)
	}
}

// listen notes whether a message was of the protocol. As long as none was, the server is of another one, and answers nothing.
func (c *Client) listen(ours bool) {
	if ours {
		c.heard, c.strange = true, false
		return
	}
	if c.heard || c.strange {
		return
	}
	c.strange = true
	all := append(c.inquiries(), c.held...)
	clear(c.asked)
	c.held = nil
	for _, q := range all {
		q.then(nil, stranger())
	}
}

func stranger() *protocol.Error {
	return protocol.Errorf(protocol.CodeUnsupported, "the server does not speak the dialect %s", Name)
}

// exit ends a request of ours.
func (c *Client) exit(id string, q *inquiry, raw json.RawMessage) {
	var o outcome
	if json.Unmarshal(raw, &o) != nil || !codec.Shallow(raw) {
		o = outcome{Tag: failure}
	}
	if o.Tag == success {
		delete(c.asked, id)
		c.settle()
		q.then(o.Value, nil)
		return
	}
	worst := o.Cause.worst()
	if worst == nil {
		worst = &cause{}
	}
	if worst.Tag == die && c.misunderstood(string(worst.Defect)) {
		return
	}
	delete(c.asked, id)
	c.settle()
	q.then(nil, worst.native())
}

// native says a cause as an error.
func (c *cause) native() *protocol.Error {
	switch c.Tag {
	case fail:
		return asNative(c.Error)
	case die:
		return protocol.Errorf(protocol.CodeInternal, "the server broke it off: %.300s", c.Defect)
	}
	return protocol.Errorf(protocol.CodeInternal, "the server gave it up")
}

// misunderstood reports whether the server does not know the tags it was asked with; then it is asked with the others.
func (c *Client) misunderstood(why string) bool {
	if c.manners.sure || !strings.Contains(why, "Unknown request tag") {
		return false
	}
	c.manners.tags, c.manners.sure = documentTags, true
	again := c.inquiries()
	again = append(again, c.held...)
	c.asked, c.held = map[string]*inquiry{}, nil
	for _, q := range again {
		c.ask(q)
	}
	return true
}

// inquiries lists what was asked, oldest first.
func (c *Client) inquiries() []*inquiry {
	ids := slices.SortedFunc(maps.Keys(c.asked), func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	list := make([]*inquiry, len(ids))
	for i, id := range ids {
		list[i] = c.asked[id]
	}
	return list
}

// defect ends everything that was asked.
func (c *Client) defect(raw json.RawMessage) {
	if c.misunderstood(string(raw)) {
		return
	}
	untold := !c.manners.mute && strings.Contains(string(raw), "Unknown request tag: "+chatTags[opHistory])
	c.manners.mute = c.manners.mute || untold
	all := c.inquiries()
	for _, s := range c.ordered() {
		if c.asked[s.stream] != nil { // what is streamed goes on at the server
			c.say(control{tagInterrupt, s.stream})
		}
	}
	clear(c.asked)
	for _, streams := range []bool{false, true} { // a session may begin without its past, so that is given up first
		for _, q := range all {
			if streams == (q.session != nil) {
				q.then(nil, protocol.Errorf(protocol.CodeInternal, "the server broke everything off: %.300s", raw))
			}
		}
	}
	if untold { // our own doing, once
		c.reopen()
	}
}
