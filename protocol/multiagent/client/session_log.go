package client

import (
	"bytes"
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// A sessionLog records the events of a session through the connection in use.
type sessionLog struct {
	*codec.Log
	x            *exchange
	updated      time.Time // time of the last event
	publishedSeq uint64    // seq of the last summary
}

// record records events, in order.
func (l *sessionLog) record(events ...codec.Entry) {
	if len(events) > 0 {
		l.updated = l.x.Now
		l.x.Record(l.Log, events...)
	}
}

// recordRaw records a message without a native equivalent. turn may be empty.
func (l *sessionLog) recordRaw(turn, kind string, data []byte) {
	raw := protocol.RawData{Source: wire.Name, Method: kind, Data: fitJSON(data)}
	l.record(codec.Entry{Type: protocol.Raw, Turn: turn, Data: raw})
}

// notify records a notice. turn may be empty.
func (l *sessionLog) notify(turn string, level, text string) {
	l.record(codec.Entry{Type: protocol.Notice, Turn: turn, Data: protocol.NoticeData{Level: level, Message: text}})
}

func (l *sessionLog) summary() protocol.Summary {
	sum := l.Summary()
	if !l.updated.IsZero() {
		sum.Updated = l.updated
	}
	if l.State.Last != nil {
		sum.Reason = l.State.Last.Reason
	}
	return sum
}

// publish sends the summary of a changed session to a watching client.
func (l *sessionLog) publish() {
	if l.x.Watching && l.publishedSeq != l.State.Seq {
		l.publishedSeq = l.State.Seq
		l.x.Publish(l.Session, protocol.SummaryChanged, l.summary())
	}
}

// maxData bounds foreign JSON in an event, in bytes.
const maxData = 96 << 10

// fitJSON returns foreign JSON that fits an event. JSON that is too large, too deep or invalid
// becomes a truncated string.
func fitJSON(data []byte) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	if compact, ok := protocol.Compact(data); ok && len(compact) <= maxData && codec.Shallow(compact) {
		return compact
	}
	return protocol.AppendString(nil, string(bytes.ToValidUTF8(data[:min(len(data), maxData/6)], nil)))
}

// clipText bounds a display text.
func clipText(s string) string {
	if len(s) <= 4<<10 {
		return s
	}
	return protocol.SplitText(s, 4<<10)[0]
}
