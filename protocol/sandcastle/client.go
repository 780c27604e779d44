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
	minReopenDelay = 500 * time.Millisecond
	maxReopenDelay = 5 * time.Second
)

// maxLine bounds one message of the server that several frames make up, and what a stream says while its past is asked for, in
// bytes.
const maxLine = 16 << 20

// A Client is the codec at our client's end: it answers our client's commands with what a Sandcastle server says.
type clientCodec struct {
	options      codec.ClientOptions
	responder    codec.Responder
	splitter     lineSplitter
	capabilities *capabilities // how this server wants to be asked
	nextID       uint64        // request id
	requests     map[string]*request
	deferred     []*request // until it is known how to ask
	fetchPaths   []string   // paths to read
	fetches      map[string]*historyFetch
	sessions     map[string]*session
	logCount     int // begun on this connection

	heardProtocol bool // a message of this protocol
	otherProtocol bool // only others were

	awaitingPong bool // and no answer yet
	nextPing     time.Time
	reopenAt     time.Time     // when broken streams are opened again; zero: none is broken
	reopenDelay  time.Duration // until then, the next time
	now          time.Time     // of the call under way
	out          *codec.Output
}

// manners are how a server wants to be asked; known on the next connection, too, as is what may have been sent.
type capabilities struct {
	tags        tagSet
	tagsKnown   bool
	noHistory   bool // does not tell its history when it is asked
	httpHistory bool // its history over HTTP
	unanswered  unansweredSends
}

// An inquiry is a request of ours that has no exit yet.
type request struct {
	op      operation
	payload payload
	done    func(value json.RawMessage, err *protocol.Error)
	session *session // whose stream it is
}

// verbs are the commands that the dialect can say.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoSnapshot, protocol.DoHistory, protocol.DoSend, protocol.DoInterrupt,
	protocol.DoQueueRemove, protocol.DoApprove,
}

// missing says of commands that the dialect cannot say why, or what to do instead.
var unsupportedReasons = map[protocol.Verb]string{
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
func newClientCodec(c codec.ClientOptions) *clientCodec {
	k, _ := c.Resume.Value.(*capabilities)
	if k == nil {
		k = &capabilities{tags: chatTags}
		switch c.Options["tags"] {
		case "chat":
			k.tagsKnown = true
		case "document":
			k.tags, k.tagsKnown = documentTags, true
		}
		c.Resume.Value = k
	}
	return &clientCodec{
		options: c, capabilities: k, splitter: lineSplitter{limit: maxLine}, requests: map[string]*request{}, sessions: map[string]*session{}, fetches: map[string]*historyFetch{},
		responder: codec.Responder{Dialect: Name, Server: Name, Verbs: verbs, Reasons: unsupportedReasons, Epoch: codec.Epoch(c.ID("e"))},
	}
}

// Open implements codec.Codec.
func (c *clientCodec) Open(now time.Time) codec.Output {
	c.nextPing = now.Add(pingEvery)
	return c.run(now, func() {})
}

// Native implements codec.Codec.
func (c *clientCodec) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		if cmd, ok := c.responder.Decode(c.out, line); ok {
			c.handleCommand(cmd)
		}
	})
}

// Foreign implements codec.Codec.
func (c *clientCodec) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() { c.splitter.split(f.Data, c.handleMessage) })
}

// Wake implements codec.Codec: it is time to ping, and to open again the streams that broke off.
func (c *clientCodec) Wake(now time.Time) codec.Output {
	return c.run(now, func() {
		if !c.reopenAt.IsZero() && !now.Before(c.reopenAt) {
			c.reopenStreams()
		}
		if now.Before(c.nextPing) {
			return
		}
		if c.awaitingPong {
			c.out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a ping"}
			return
		}
		c.awaitingPong, c.nextPing = true, now.Add(pingEvery)
		c.send(controlMessage{Tag: tagPing})
	})
}

// broken has the streams that broke off opened again before long.
func (c *clientCodec) scheduleReopen() {
	if c.reopenAt.IsZero() {
		c.reopenDelay = max(minReopenDelay, c.reopenDelay)
		c.reopenAt = c.now.Add(c.reopenDelay)
		c.reopenDelay = min(c.reopenDelay*3/2, maxReopenDelay)
	}
}

// reopen opens the streams that broke off.
func (c *clientCodec) reopenStreams() {
	c.reopenAt = time.Time{}
	for _, s := range c.orderedSessions() {
		if s.streamID == "" && (s.log == nil || !s.log.State.Closed) {
			c.openStream(s)
		}
	}
}

func (c *clientCodec) run(now time.Time, work func()) codec.Output {
	c.now, c.out = now, &codec.Output{}
	work()
	out := c.out
	c.out = nil
	if out.Wake = c.nextPing; !c.reopenAt.IsZero() && c.reopenAt.Before(out.Wake) {
		out.Wake = c.reopenAt
	}
	return *out
}

func (c *clientCodec) send(m any) {
	c.out.Foreign = append(c.out.Foreign, textFrame(protocol.MustEncode(m)))
}

// ask sends a request. Until it is known how this server wants to be asked, one at a time.
func (c *clientCodec) sendRequest(req *request) {
	if c.otherProtocol {
		req.done(nil, otherProtocolError())
		return
	}
	if c.capabilities.tags[req.op] == "" && c.capabilities.tagsKnown {
		req.done(nil, protocol.Errorf(protocol.CodeUnsupported, "this server of the dialect %s cannot do that", Name))
		return
	}
	if len(c.requests)+len(c.deferred) >= maxRequests {
		req.done(nil, protocol.Errorf(protocol.CodeTooMany, "too many requests under way"))
		return
	}
	if !c.capabilities.tagsKnown && len(c.requests) > 0 {
		c.deferred = append(c.deferred, req)
		return
	}
	c.writeRequest(req)
}

func (c *clientCodec) writeRequest(req *request) {
	id := strconv.FormatUint(c.nextID, 10)
	c.nextID++
	c.requests[id] = req
	if req.session != nil {
		req.session.streamID = id
	}
	p := req.payload
	p.Tag = c.capabilities.tags[req.op]
	c.send(requestMessage{Tag: tagRequest, ID: id, Name: p.Tag, Payload: protocol.MustEncode(p), Headers: []string{}})
}

// settle notes that the server understands how it is asked.
func (c *clientCodec) confirmTags() {
	if c.capabilities.tagsKnown {
		return
	}
	c.capabilities.tagsKnown = true
	held := c.deferred
	c.deferred = nil
	for _, req := range held {
		c.sendRequest(req)
	}
}

// message takes one message of the server.
func (c *clientCodec) handleMessage(line []byte) {
	var m message
	err := json.Unmarshal(line, &m)
	c.checkProtocol(err == nil && decodeString(m.Tag) != "")
	if err != nil {
		return // of no session: there is no log that could keep it
	}
	id, _ := requestID(m.RequestID)
	req := c.requests[id]
	switch decodeString(m.Tag) {
	case tagPong:
		c.awaitingPong = false
	case tagChunk:
		if req == nil || req.session == nil {
			return // of a stream that we left
		}
		c.confirmTags()
		for _, v := range m.Values {
			c.handleSessionEvent(req.session, v)
		}
		if req.session.history == nil { // else when the past is known
			c.send(controlMessage{tagAck, id})
		}
	case tagExit:
		if req != nil {
			c.handleExit(id, req, m.Exit)
		}
	case tagDefect:
		c.handleDefect(m.Defect)
	}
}

// listen notes whether a message was of the protocol. As long as none was, the server is of another one, and answers nothing.
func (c *clientCodec) checkProtocol(ours bool) {
	if ours {
		c.heardProtocol, c.otherProtocol = true, false
		return
	}
	if c.heardProtocol || c.otherProtocol {
		return
	}
	c.otherProtocol = true
	all := append(c.pendingRequests(), c.deferred...)
	clear(c.requests)
	c.deferred = nil
	for _, req := range all {
		req.done(nil, otherProtocolError())
	}
}

func otherProtocolError() *protocol.Error {
	return protocol.Errorf(protocol.CodeUnsupported, "the server does not speak the dialect %s", Name)
}

// exit ends a request of ours.
func (c *clientCodec) handleExit(id string, req *request, raw json.RawMessage) {
	var o exitResult
	if json.Unmarshal(raw, &o) != nil || !codec.Shallow(raw) {
		o = exitResult{Tag: exitFailure}
	}
	if o.Tag == exitSuccess {
		delete(c.requests, id)
		c.confirmTags()
		req.done(o.Value, nil)
		return
	}
	worst := o.Cause.primary()
	if worst == nil {
		worst = &cause{}
	}
	if worst.Tag == causeDie && c.retryWithDocumentTags(string(worst.Defect)) {
		return
	}
	delete(c.requests, id)
	c.confirmTags()
	req.done(nil, worst.nativeError())
}

// native says a cause as an error.
func (c *cause) nativeError() *protocol.Error {
	switch c.Tag {
	case causeFail:
		return nativeError(c.Error)
	case causeDie:
		return protocol.Errorf(protocol.CodeInternal, "the server broke it off: %.300s", c.Defect)
	}
	return protocol.Errorf(protocol.CodeInternal, "the server gave it up")
}

// misunderstood reports whether the server does not know the tags it was asked with; then it is asked with the others.
func (c *clientCodec) retryWithDocumentTags(why string) bool {
	if c.capabilities.tagsKnown || !strings.Contains(why, "Unknown request tag") {
		return false
	}
	c.capabilities.tags, c.capabilities.tagsKnown = documentTags, true
	again := c.pendingRequests()
	again = append(again, c.deferred...)
	c.requests, c.deferred = map[string]*request{}, nil
	for _, req := range again {
		c.sendRequest(req)
	}
	return true
}

// inquiries lists what was asked, oldest first.
func (c *clientCodec) pendingRequests() []*request {
	ids := slices.SortedFunc(maps.Keys(c.requests), func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	list := make([]*request, len(ids))
	for i, id := range ids {
		list[i] = c.requests[id]
	}
	return list
}

// defect ends everything that was asked.
func (c *clientCodec) handleDefect(raw json.RawMessage) {
	if c.retryWithDocumentTags(string(raw)) {
		return
	}
	untold := !c.capabilities.noHistory && strings.Contains(string(raw), "Unknown request tag: "+chatTags[opHistory])
	c.capabilities.noHistory = c.capabilities.noHistory || untold
	all := c.pendingRequests()
	for _, s := range c.orderedSessions() {
		if c.requests[s.streamID] != nil { // what is streamed goes on at the server
			c.send(controlMessage{tagInterrupt, s.streamID})
		}
	}
	clear(c.requests)
	for _, streams := range []bool{false, true} { // a session may begin without its past, so that is given up first
		for _, req := range all {
			if streams == (req.session != nil) {
				req.done(nil, protocol.Errorf(protocol.CodeInternal, "the server broke everything off: %.300s", raw))
			}
		}
	}
	if untold { // our own doing, once
		c.reopenStreams()
	}
}
