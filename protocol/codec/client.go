package codec

import (
	"bytes"
	"strconv"
	"time"

	"agentctl/protocol"
)

// A ClientBase is the part that the client ends of all dialects share: it answers commands, records
// events and sends frames. A client codec embeds it and calls Run from each method of Codec.
//
// Answer, Fail, Record, Publish and Send write to Out, so call them only within Run.
type ClientBase struct {
	Options   ClientOptions // static after construction
	Responder Responder     // static after construction, except Server
	Watching  bool          // the client watches the session list

	epochs int // minted by NextEpoch

	// Set during a call.

	Now time.Time
	Out *Output
}

// NewClientBase returns a base for a connection with the given options. It completes r from them:
// Epoch, OneShot and, if empty, Server.
func NewClientBase(o ClientOptions, r Responder) ClientBase {
	r.Epoch, r.OneShot = Epoch(o.ID("e")), o.OneShot
	if r.Server == "" {
		r.Server = r.Dialect
	}
	return ClientBase{Options: o, Responder: r}
}

// Run carries out one call of a codec and returns the output.
func (b *ClientBase) Run(now time.Time, work func()) Output {
	var out Output
	b.Now, b.Out = now, &out
	work()
	b.Out = nil
	return out
}

// User returns the actor of the client's own commands.
func (b *ClientBase) User() *protocol.Actor { return &protocol.Actor{Name: b.Options.Name} }

// Epoch returns the epoch of this connection's first log.
func (b *ClientBase) Epoch() string { return b.Responder.Epoch }

// NextEpoch returns an epoch that no other log of this connection has.
func (b *ClientBase) NextEpoch() string {
	b.epochs++
	return b.Responder.Epoch + "x" + strconv.Itoa(b.epochs)
}

// Send sends foreign frames.
func (b *ClientBase) Send(frames ...Frame) { b.Out.Foreign = append(b.Out.Foreign, frames...) }

// Decode decodes a command line. It answers hello, ping and unsupported commands itself; ok is then
// false.
func (b *ClientBase) Decode(line []byte) (c protocol.Command, ok bool) {
	return b.Responder.Decode(b.Out, line)
}

// DecodeData decodes a command's data into v. If it is invalid, the command fails and DecodeData
// returns false.
func (b *ClientBase) DecodeData(c *protocol.Command, v any) bool {
	err := c.DecodeData(v)
	if err != nil {
		b.Fail(c, err)
	}
	return err == nil
}

// Answer answers a command with a result.
func (b *ClientBase) Answer(c *protocol.Command, result any) { b.Responder.Answer(b.Out, c, result) }

// Fail answers a command with an error.
func (b *ClientBase) Fail(c *protocol.Command, err error) { b.Responder.Fail(b.Out, c, err) }

// Failf answers a command with an error of the given code.
func (b *ClientBase) Failf(c *protocol.Command, code protocol.Code, format string, args ...any) {
	b.Fail(c, protocol.Errorf(code, format, args...))
}

// FailUnsupported answers a command with the code unsupported. what names the missing feature.
func (b *ClientBase) FailUnsupported(c *protocol.Command, what string) {
	b.Fail(c, b.Responder.Unsupported(what))
}

// Hold appends a command to those that wait until the server or a session is ready. With limit
// commands waiting, the command fails with too_many.
func (b *ClientBase) Hold(waiting *[]protocol.Command, limit int, c *protocol.Command) {
	if len(*waiting) >= limit {
		b.Fail(c, TooMany(limit))
		return
	}
	*waiting = append(*waiting, *c)
}

// TooMany returns the error of a command that exceeds the limit of pending commands.
func TooMany(limit int) *protocol.Error {
	return &protocol.Error{Code: protocol.CodeTooMany, Message: "too many pending requests", Limit: int64(limit)}
}

// Record adds events to a log, in order.
func (b *ClientBase) Record(l *Log, events ...Entry) {
	for _, e := range events {
		l.Add(b.Out, b.Now, e)
	}
}

// RecordRaw adds a foreign message without a native equivalent to a log. turn is the current turn,
// method the message's type.
func (b *ClientBase) RecordRaw(l *Log, turn, method string, message []byte) {
	b.Record(l, RawEntry(b.Responder.Dialect, turn, method, message))
}

// Publish sends the client an event without a seq. session may be empty.
func (b *ClientBase) Publish(session string, t protocol.Type, data any) {
	b.Out.Native = append(b.Out.Native, Ephemeral(session, t, b.Now, data))
}

// Subscribe answers a subscribe with a log's snapshot and events, and follows the log.
func (b *ClientBase) Subscribe(c *protocol.Command, l *Log) {
	l.Attach(b.Out, &b.Responder, c, b.Now)
}

// Unsubscribe answers an unsubscribe and ends the following of the log.
func (b *ClientBase) Unsubscribe(c *protocol.Command, l *Log) {
	l.Detach()
	b.Answer(c, protocol.Empty{})
}

// AnswerSnapshot answers a snapshot command from a log.
func (b *ClientBase) AnswerSnapshot(c *protocol.Command, l *Log) { b.Answer(c, l.Snapshot()) }

// AnswerHistory answers a history command with the finished turns of a log.
func (b *ClientBase) AnswerHistory(c *protocol.Command, l *Log) {
	var d protocol.HistoryData
	if b.DecodeData(c, &d) {
		b.Answer(c, l.History(d))
	}
}

// AnswerWatch answers a watch command with the summaries of the logs, or with none if the client
// stops watching. summarize may be nil: Log.Summary.
func (b *ClientBase) AnswerWatch(c *protocol.Command, logs []*Log, summarize func(*Log) protocol.Summary) {
	var d protocol.WatchData
	if !b.DecodeData(c, &d) {
		return
	}
	b.Watching = !d.Off
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	if b.Watching {
		for _, l := range logs {
			s := l.Summary()
			if summarize != nil {
				s = summarize(l)
			}
			l.summarized(s)
			r.Sessions = append(r.Sessions, s)
		}
	}
	b.Answer(c, r)
}

// PublishSummary sends a log's summary to a watching client if more than seq and time changed since
// the last one.
func (b *ClientBase) PublishSummary(l *Log, s protocol.Summary) {
	if b.Watching && l.summarized(s) {
		b.Publish(l.Session, protocol.SummaryChanged, s)
	}
}

// summarized stores the summary that the client has, and reports whether more than seq and time
// changed.
func (l *Log) summarized(s protocol.Summary) (changed bool) {
	s.Seq, s.Updated = 0, time.Time{}
	line := protocol.MustEncode(s)
	changed = !bytes.Equal(line, l.summary)
	l.summary = line
	return changed
}
