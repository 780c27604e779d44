package client

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
	"agentctl/protocol/sandcastle/wire"
)

// pingEvery is the interval between pings. A missing answer ends the connection at the next ping.
const pingEvery = 10 * time.Second

// Delays before a broken stream is reopened. Each is one and a half times the last.
const (
	minReopenDelay = 500 * time.Millisecond
	maxReopenDelay = 5 * time.Second
)

// maxLine bounds a message that spans several frames, and the stream values held during a history
// fetch, in bytes.
const maxLine = 16 << 20

// A Conn is agentctl's connection to a server. It implements codec.Codec.
type Conn struct {
	codec.ClientBase
	splitter     wire.LineSplitter
	capabilities *capabilities // kept over connections
	nextID       uint64        // next request id
	requests     map[string]*request
	deferred     []*request // wait for the tag set to be known
	fetchPaths   []string   // paths to fetch
	fetches      map[string]*historyFetch
	sessions     map[string]*session

	sawProtocol   bool // a message of this protocol arrived
	otherProtocol bool // only messages of other protocols arrived

	awaitingPong bool // no answer yet
	nextPing     time.Time
	reopenAt     time.Time     // when broken streams are reopened; zero: none is broken
	reopenDelay  time.Duration // for the next time
}

// capabilities describe a server and the sends that it did not answer, over connections.
type capabilities struct {
	tags        wire.TagSet
	tagsKnown   bool
	noHistory   bool // the server rejects history requests
	httpHistory bool // the server has the history endpoint
	unanswered  unansweredSends
}

// A request is an open request to the server.
type request struct {
	op      wire.Operation
	payload wire.Payload
	done    func(value json.RawMessage, err *protocol.Error)
	session *session // whose stream it is
}

// New returns the client end of a connection. The option "tags" selects the tag set of
// requests: "chat" or "document". Without it the codec detects the set.
func New(o codec.ClientOptions) *Conn {
	return &Conn{
		ClientBase:   codec.NewClientBase(o, Responder),
		capabilities: codec.ResumeState(o.Resume, func() *capabilities { return newCapabilities(o.Options["tags"]) }),
		splitter:     wire.LineSplitter{Limit: maxLine},
		requests:     map[string]*request{}, sessions: map[string]*session{}, fetches: map[string]*historyFetch{},
	}
}

func newCapabilities(tags string) *capabilities {
	switch tags {
	case "chat":
		return &capabilities{tags: wire.ChatTags, tagsKnown: true}
	case "document":
		return &capabilities{tags: wire.DocumentTags, tagsKnown: true}
	}
	return &capabilities{tags: wire.ChatTags}
}

// Open implements codec.Codec.
func (c *Conn) Open(now time.Time) codec.Output {
	c.nextPing = now.Add(pingEvery)
	return c.run(now, func() {})
}

// Native implements codec.Codec.
func (c *Conn) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		if cmd, ok := c.Decode(line); ok {
			c.handleCommand(&cmd)
		}
	})
}

// Foreign implements codec.Codec.
func (c *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() { c.splitter.Split(f.Data, c.handleMessage) })
}

// Wake implements codec.Codec. It pings and reopens broken streams.
func (c *Conn) Wake(now time.Time) codec.Output {
	return c.run(now, func() {
		if !c.reopenAt.IsZero() && !now.Before(c.reopenAt) {
			c.reopenStreams()
		}
		if now.Before(c.nextPing) {
			return
		}
		if c.awaitingPong {
			c.Out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a ping"}
			return
		}
		c.awaitingPong, c.nextPing = true, now.Add(pingEvery)
		c.send(wire.ControlMessage{Tag: wire.TagPing})
	})
}

// scheduleReopen schedules the reopening of broken streams.
func (c *Conn) scheduleReopen() {
	if c.reopenAt.IsZero() {
		c.reopenDelay = max(minReopenDelay, c.reopenDelay)
		c.reopenAt = c.Now.Add(c.reopenDelay)
		c.reopenDelay = min(c.reopenDelay*3/2, maxReopenDelay)
	}
}

// reopenStreams reopens broken streams.
func (c *Conn) reopenStreams() {
	c.reopenAt = time.Time{}
	for _, s := range c.orderedSessions() {
		if s.streamID == "" && (s.log == nil || !s.log.State.Closed) {
			c.openStream(s)
		}
	}
}

// run executes one call of the codec.
func (c *Conn) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		work()
		c.Out.WakeBy(c.nextPing)
		c.Out.WakeBy(c.reopenAt)
	})
}

func (c *Conn) send(m any) {
	c.Send(wire.TextFrame(protocol.MustEncode(m)))
}

// sendRequest sends a request. Until the tag set is known it sends one at a time.
func (c *Conn) sendRequest(req *request) {
	if c.otherProtocol {
		req.done(nil, otherProtocolError())
		return
	}
	if c.capabilities.tags[req.op] == "" && c.capabilities.tagsKnown {
		req.done(nil, protocol.Errorf(protocol.CodeUnsupported, "this server of the dialect %s cannot do that", wire.Name))
		return
	}
	if len(c.requests)+len(c.deferred) >= wire.MaxRequests {
		req.done(nil, codec.TooMany(wire.MaxRequests))
		return
	}
	if !c.capabilities.tagsKnown && len(c.requests) > 0 {
		c.deferred = append(c.deferred, req)
		return
	}
	c.writeRequest(req)
}

func (c *Conn) writeRequest(req *request) {
	id := strconv.FormatUint(c.nextID, 10)
	c.nextID++
	c.requests[id] = req
	if req.session != nil {
		req.session.streamID = id
	}
	p := req.payload
	p.Tag = c.capabilities.tags[req.op]
	c.send(wire.RequestMessage{Tag: wire.TagRequest, ID: id, Name: p.Tag, Payload: protocol.MustEncode(p), Headers: []string{}})
}

// confirmTags notes that the server accepts the tag set, and sends the deferred requests.
func (c *Conn) confirmTags() {
	if c.capabilities.tagsKnown {
		return
	}
	c.capabilities.tagsKnown = true
	deferred := c.deferred
	c.deferred = nil
	for _, req := range deferred {
		c.sendRequest(req)
	}
}

// handleMessage handles a message of the server.
func (c *Conn) handleMessage(line []byte) {
	var m wire.Message
	err := json.Unmarshal(line, &m)
	c.checkProtocol(err == nil && codec.String(m.Tag) != "")
	if err != nil {
		return // of no session: no log keeps it
	}
	id, _ := wire.RequestID(m.RequestID)
	req := c.requests[id]
	switch codec.String(m.Tag) {
	case wire.TagPong:
		c.awaitingPong = false
	case wire.TagChunk:
		if req == nil || req.session == nil {
			return // of a stream that was left
		}
		c.confirmTags()
		for _, v := range m.Values {
			c.handleSessionEvent(req.session, v)
		}
		if req.session.history == nil { // otherwise after the history fetch
			c.send(wire.ControlMessage{Tag: wire.TagAck, RequestID: id})
		}
	case wire.TagExit:
		if req != nil {
			c.handleExit(id, req, m.Exit)
		}
	case wire.TagDefect:
		c.handleDefect(m.Defect)
	}
}

// checkProtocol detects a server of another protocol and fails all requests to it. known reports
// whether a message was of this protocol.
func (c *Conn) checkProtocol(known bool) {
	if known {
		c.sawProtocol, c.otherProtocol = true, false
		return
	}
	if c.sawProtocol || c.otherProtocol {
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
	return protocol.Errorf(protocol.CodeUnsupported, "the server does not speak the dialect %s", wire.Name)
}

// handleExit handles the end of a request.
func (c *Conn) handleExit(id string, req *request, raw json.RawMessage) {
	var o wire.ExitResult
	if json.Unmarshal(raw, &o) != nil || !codec.Shallow(raw) {
		o = wire.ExitResult{Tag: wire.ExitFailure}
	}
	if o.Tag == wire.ExitSuccess {
		delete(c.requests, id)
		c.confirmTags()
		req.done(o.Value, nil)
		return
	}
	worst := o.Cause.Primary()
	if worst == nil {
		worst = &wire.Cause{}
	}
	if worst.Tag == wire.CauseDie && c.retryWithDocumentTags(string(worst.Defect)) {
		return
	}
	delete(c.requests, id)
	c.confirmTags()
	req.done(nil, causeError(worst))
}

// retryWithDocumentTags resends all requests with the document's tags if the server rejects the
// real system's, and returns whether it did.
func (c *Conn) retryWithDocumentTags(why string) bool {
	if c.capabilities.tagsKnown || !strings.Contains(why, "Unknown request tag") {
		return false
	}
	c.capabilities.tags, c.capabilities.tagsKnown = wire.DocumentTags, true
	again := c.pendingRequests()
	again = append(again, c.deferred...)
	c.requests, c.deferred = map[string]*request{}, nil
	for _, req := range again {
		c.sendRequest(req)
	}
	return true
}

// pendingRequests lists the requests without an exit, oldest first.
func (c *Conn) pendingRequests() []*request {
	ids := slices.SortedFunc(maps.Keys(c.requests), func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
	list := make([]*request, len(ids))
	for i, id := range ids {
		list[i] = c.requests[id]
	}
	return list
}

// syntaxError is the name of the defect that a server sends for everything after a frame that it
// could not parse.
const syntaxError = "SyntaxError"

// handleDefect fails all requests. After a syntax error it closes the connection, which has become
// useless.
func (c *Conn) handleDefect(raw json.RawMessage) {
	var named struct{ Name string }
	if json.Unmarshal(raw, &named) == nil && named.Name == syntaxError {
		c.Out.Close = &codec.Close{
			Code:   protocol.CloseGoingAway,
			Reason: "the server does not read this connection any more: " + wire.DefectText(raw),
		}
	}
	if c.retryWithDocumentTags(string(raw)) {
		return
	}
	historyUnknown := !c.capabilities.noHistory &&
		strings.Contains(string(raw), "Unknown request tag: "+wire.ChatTags[wire.OpHistory])
	c.capabilities.noHistory = c.capabilities.noHistory || historyUnknown
	all := c.pendingRequests()
	for _, s := range c.orderedSessions() {
		if c.requests[s.streamID] != nil { // the server keeps streaming otherwise
			c.send(wire.ControlMessage{Tag: wire.TagInterrupt, RequestID: s.streamID})
		}
	}
	clear(c.requests)
	// fail history fetches first, so that their sessions start without history
	for _, streams := range []bool{false, true} {
		for _, req := range all {
			if streams == (req.session != nil) {
				req.done(nil, protocol.Errorf(protocol.CodeInternal, "the server failed: %s", wire.DefectText(raw)))
			}
		}
	}
	if historyUnknown { // the history request caused the defect, once
		c.reopenStreams()
	}
}
