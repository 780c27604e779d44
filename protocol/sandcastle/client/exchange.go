package client

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// An exchange sends requests to the server, pairs their exits, and answers the client's commands, on
// one connection. It detects the server's tag set: until that is known it has one request in flight.
type exchange struct {
	codec.ClientBase
	capabilities *capabilities       // kept over connections
	nextID       uint64              // next request id
	inFlight     map[string]*request // by id
	deferred     []*request          // wait for the tag set to be known

	sawProtocol   bool // a message of this protocol arrived
	otherProtocol bool // only messages of other protocols arrived
}

// A request is a request to the server. done gets its exit, once.
type request struct {
	op      wire.Operation
	payload wire.Payload
	done    func(value json.RawMessage, err *protocol.Error)
	session string // whose stream it is; empty: not a stream
	id      string // empty: not sent
}

// capabilities describe a server and the sends that it did not answer, over connections.
type capabilities struct {
	tags        wire.TagSet
	tagsKnown   bool
	noHistory   bool // the server rejects history requests
	httpHistory bool // the server has the history endpoint
	unanswered  unansweredSends
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

// hasHistory reports whether the server has a history.
func (c *capabilities) hasHistory() bool {
	return c.httpHistory || c.tags[wire.OpHistory] != "" && !c.noHistory
}

func (x *exchange) send(m any) { x.Send(wire.TextFrame(protocol.MustEncode(m))) }

// request sends a request. Until the tag set is known it sends one at a time.
func (x *exchange) request(req *request) {
	switch {
	case x.otherProtocol:
		req.done(nil, otherProtocolError())
	case x.capabilities.tags[req.op] == "" && x.capabilities.tagsKnown:
		req.done(nil, protocol.Errorf(protocol.CodeUnsupported, "this server of the dialect %s cannot do that", wire.Name))
	case len(x.inFlight)+len(x.deferred) >= wire.MaxRequests:
		req.done(nil, codec.TooMany(wire.MaxRequests))
	case !x.capabilities.tagsKnown && len(x.inFlight) > 0:
		x.deferred = append(x.deferred, req)
	default:
		x.write(req)
	}
}

func (x *exchange) write(req *request) {
	req.id = strconv.FormatUint(x.nextID, 10)
	x.nextID++
	x.inFlight[req.id] = req
	p := req.payload
	p.Tag = x.capabilities.tags[req.op]
	x.send(wire.RequestMessage{
		Tag: wire.TagRequest, ID: req.id, Name: p.Tag, Payload: protocol.MustEncode(p), Headers: []string{},
	})
}

// forward sends a request and answers the command with the result.
func (x *exchange) forward(cmd *protocol.Command, op wire.Operation, p wire.Payload, result func(json.RawMessage) any) {
	x.request(&request{op: op, payload: p, done: func(v json.RawMessage, err *protocol.Error) {
		if err != nil {
			x.Fail(cmd, err)
			return
		}
		x.Answer(cmd, result(v))
	}})
}

// abandon drops a stream. Its done is not called. req may be nil.
func (x *exchange) abandon(req *request) {
	if req == nil {
		return
	}
	if x.inFlight[req.id] == req {
		delete(x.inFlight, req.id)
		x.interrupt(req)
	}
	x.deferred = slices.DeleteFunc(x.deferred, func(r *request) bool { return r == req })
}

func (x *exchange) interrupt(req *request) {
	x.send(wire.ControlMessage{Tag: wire.TagInterrupt, RequestID: req.id})
}

// acknowledge acknowledges the values of a stream.
func (x *exchange) acknowledge(req *request) {
	x.send(wire.ControlMessage{Tag: wire.TagAck, RequestID: req.id})
}

// confirmTags notes that the server accepts the tag set, and sends the deferred requests.
func (x *exchange) confirmTags() {
	if !x.capabilities.tagsKnown {
		deferred := x.deferred
		x.capabilities.tagsKnown, x.deferred = true, nil
		x.resend(deferred)
	}
}

func (x *exchange) resend(list []*request) {
	for _, req := range list {
		x.request(req)
	}
}

// checkProtocol detects a server of another protocol and fails all requests to it. known reports
// whether a message was of this protocol.
func (x *exchange) checkProtocol(known bool) {
	if known {
		x.sawProtocol, x.otherProtocol = true, false
		return
	}
	if x.sawProtocol || x.otherProtocol {
		return
	}
	x.otherProtocol = true
	for _, req := range x.takeAll() {
		req.done(nil, otherProtocolError())
	}
}

func otherProtocolError() *protocol.Error {
	return protocol.Errorf(protocol.CodeUnsupported, "the server does not speak the dialect %s", wire.Name)
}

// takeExit handles the end of a request.
func (x *exchange) takeExit(id string, raw json.RawMessage) {
	req := x.inFlight[id]
	if req == nil {
		return
	}
	var o wire.ExitResult
	if json.Unmarshal(raw, &o) != nil || !codec.Shallow(raw) {
		o = wire.ExitResult{Tag: wire.ExitFailure}
	}
	var err *protocol.Error
	if o.Tag != wire.ExitSuccess {
		worst := o.Cause.Primary()
		if worst == nil {
			worst = &wire.Cause{}
		}
		if worst.Tag == wire.CauseDie && x.retryWithDocumentTags(string(worst.Defect)) {
			return
		}
		o.Value, err = nil, causeError(worst)
	}
	delete(x.inFlight, id)
	x.confirmTags()
	req.done(o.Value, err)
}

// retryWithDocumentTags sends all requests again with the document's tags if the server rejects the
// real system's, and returns whether it did.
func (x *exchange) retryWithDocumentTags(why string) bool {
	if x.capabilities.tagsKnown || !strings.Contains(why, "Unknown request tag") {
		return false
	}
	x.capabilities.tags, x.capabilities.tagsKnown = wire.DocumentTags, true
	x.resend(x.takeAll())
	return true
}

// takeAll removes and returns all requests without an exit: those in flight, oldest first, then the
// deferred ones.
func (x *exchange) takeAll() []*request {
	list := append(x.takeInFlight(), x.deferred...)
	x.deferred = nil
	return list
}

// takeInFlight removes and returns the requests in flight, oldest first.
func (x *exchange) takeInFlight() []*request {
	list := slices.SortedFunc(maps.Values(x.inFlight), func(a, b *request) int {
		return cmp.Or(len(a.id)-len(b.id), strings.Compare(a.id, b.id))
	})
	clear(x.inFlight)
	return list
}

// syntaxError is the name of the defect that a server sends for everything after a frame that it
// could not parse.
const syntaxError = "SyntaxError"

// failAll fails all requests in flight because of a defect. After a syntax error it closes the
// connection, which has become useless. It returns whether streams should be reopened immediately:
// the first history request caused the defect.
func (x *exchange) failAll(defect json.RawMessage) (reopen bool) {
	var named struct{ Name string }
	if json.Unmarshal(defect, &named) == nil && named.Name == syntaxError {
		x.Out.Close = &codec.Close{
			Code:   protocol.CloseGoingAway,
			Reason: "the server does not read this connection any more: " + wire.DefectText(defect),
		}
	}
	if x.retryWithDocumentTags(string(defect)) {
		return false
	}
	reopen = !x.capabilities.noHistory &&
		strings.Contains(string(defect), "Unknown request tag: "+wire.ChatTags[wire.OpHistory])
	x.capabilities.noHistory = x.capabilities.noHistory || reopen
	var streams, others []*request
	for _, req := range x.takeInFlight() {
		if req.session != "" {
			streams = append(streams, req)
		} else {
			others = append(others, req)
		}
	}
	bySession := func(a, b *request) int { return strings.Compare(a.session, b.session) }
	for _, req := range slices.SortedFunc(slices.Values(streams), bySession) { // the server keeps streaming otherwise
		x.interrupt(req)
	}
	// streams last: sessions whose history failed start without it
	for _, req := range append(others, streams...) {
		req.done(nil, protocol.Errorf(protocol.CodeInternal, "the server failed: %s", wire.DefectText(defect)))
	}
	return reopen
}
