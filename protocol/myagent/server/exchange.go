package server

import (
	"time"

	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// An exchange sends frames to the client, and commands to agentctl's server.
type exchange struct {
	codec.ServerBase
	id       string        // connection_id; static after construction
	stateTTL time.Duration // of an exported state; static after construction
	seq      uint64        // of the last frame
}

// send sends a frame and returns its seq.
func (x *exchange) send(f wire.Frame) uint64 {
	x.seq++
	f.Connection, f.Seq, f.ID = x.id, x.seq, wire.EventID(x.id, x.seq)
	if f.Meta == nil {
		f.Meta = wire.Meta{}
	}
	f.Meta["connection_id"] = x.id
	x.Send(codec.Frame{Data: f.Encode(x.Now)})
	return x.seq
}

// sendError sends an error about a message that cannot be decoded.
func (x *exchange) sendError(text string) {
	x.send(wire.Frame{Event: wire.SystemError, Content: text, Meta: wire.Meta{"error": text}, Show: wire.Shorten(text)})
}

// sendNotice sends a notice about a session. step is the step of the answered frame; empty: none.
func (x *exchange) sendNotice(session, step, text string, m wire.Meta) {
	n := notice(text, m)
	n.Session, n.Step = session, wire.StepID(step)
	x.send(n)
}
