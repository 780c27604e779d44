package server

import "bytes"

var (
	ackPrefix = []byte(`{"command":"ack","session":"`)
	ackData   = []byte(`","data":{"seq":`)
	ackEnd    = []byte(`}}`)
)

const maxSeqDigits = 19 // of a number that fits a uint64

// parseAck parses an ack in the form that protocol.Command has when it is encoded, with an id of
// plain ASCII. It reports false for every other form, which protocol.DecodeCommand then decodes.
// session is part of line.
func parseAck(line []byte) (session []byte, seq uint64, ok bool) {
	rest, begins := bytes.CutPrefix(line, ackPrefix)
	session, rest, found := bytes.Cut(rest, ackData)
	digits, ends := bytes.CutSuffix(rest, ackEnd)
	if !begins || !found || !ends || len(session) == 0 || len(digits) == 0 || len(digits) > maxSeqDigits ||
		digits[0] == '0' && len(digits) > 1 {
		return nil, 0, false
	}
	for _, c := range session {
		if c < ' ' || c > '~' || c == '\\' || c == '"' {
			return nil, 0, false
		}
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return nil, 0, false
		}
		seq = 10*seq + uint64(c-'0')
	}
	return session, seq, true
}

// ack notes that the client has received the events up to seq of the subscription of a session, and
// wakes the writer if the window was closed. It reports whether there is a subscription.
func (o *outbox) ack(session []byte, seq uint64) bool {
	o.mu.Lock()
	found, wake := false, false
	for _, s := range o.subs {
		if s.session == string(session) {
			found = true
			if freed := s.ack(seq); freed > 0 {
				o.unacked -= freed
				wake, o.stalled = o.stalled, false
			}
		}
	}
	o.mu.Unlock()
	if wake {
		o.Wake()
	}
	return found
}

// stall notes that the writer waits for an ack. It returns false if the window's free bytes are no
// longer room.
func (o *outbox) stall(room int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.window == 0 || o.window-o.unacked != room {
		return false
	}
	o.stalled = true
	return true
}
