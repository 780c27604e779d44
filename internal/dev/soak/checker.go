package soak

import (
	"fmt"
	"hash/maphash"
	"sync"

	"agentctl/protocol"
)

// A violation is a broken promise of the server or the client.
type violation struct {
	Session string
	Client  string // empty: the session's log, or all of them
	Seq     uint64 // 0: none
	Text    string
}

func (v violation) String() string {
	s := "session " + v.Session
	if v.Client != "" {
		s += ", client " + v.Client
	}
	if v.Seq != 0 {
		s += fmt.Sprintf(", seq %d", v.Seq)
	}
	return s + ": " + v.Text
}

// maxViolations bounds the violations kept: the first ones tell the most.
const maxViolations = 100

// A checker compares what clients saw and what servers answered with the log. Its methods may be
// called from any goroutine.
type checker struct {
	seed maphash.Seed

	mu         sync.Mutex
	sessions   map[string]*sessionRecord
	violations []violation
	dropped    int // violations beyond maxViolations
}

// A sessionRecord is everything known of one session. Guarded by checker.mu.
type sessionRecord struct {
	hashes    []uint64          // of each event's line, by seq-1; 0: not seen
	sent      map[string]string // by token of the message: the answer, or "" without one
	decisions map[string]string // by request: the answer
	partial   []partialTurn     // shown as completed without their end
	logBytes  int64             // of the lines; set by logReader
}

// A partialTurn is a turn whose end a client got as completed, with only the beginning of its text.
// In a dialect that loses the reason of an end, the turn may have ended otherwise.
type partialTurn struct {
	client, token, text string
	seq                 uint64
}

func newChecker() *checker {
	return &checker{seed: maphash.MakeSeed(), sessions: map[string]*sessionRecord{}}
}

// session requires mu.
func (c *checker) session(id string) *sessionRecord {
	s := c.sessions[id]
	if s == nil {
		s = &sessionRecord{sent: map[string]string{}, decisions: map[string]string{}}
		c.sessions[id] = s
	}
	return s
}

// report records a violation.
func (c *checker) report(v violation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reportLocked(v)
}

func (c *checker) reportLocked(v violation) {
	if len(c.violations) == maxViolations {
		c.dropped++
		return
	}
	c.violations = append(c.violations, v)
}

// sees compares the line of an event with that which others saw. It keeps a hash of the first one.
func (c *checker) sees(session, client string, seq uint64, line []byte) {
	hash := maphash.Bytes(c.seed, line) | 1
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.session(session)
	for uint64(len(s.hashes)) < seq {
		s.hashes = append(s.hashes, 0)
	}
	switch s.hashes[seq-1] {
	case 0:
		s.hashes[seq-1] = hash
	case hash:
	default:
		c.reportLocked(violation{session, client, seq, fmt.Sprintf("differs from the event of others: %.200s", line)})
	}
}

// send records a message before it is sent; acknowledge records that the server accepted it.
func (c *checker) send(session, token string) { c.acknowledge(session, token, "") }

func (c *checker) acknowledge(session, token, answer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session(session).sent[token] = answer
}

// showsPartial records a turn for logReader.finish.
func (c *checker) showsPartial(session string, p partialTurn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.session(session)
	s.partial = append(s.partial, p)
}

// decides records the answer to a decision.
func (c *checker) decides(session, client, request string, outcome protocol.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.session(session)
	if former, ok := s.decisions[request]; ok && former != string(outcome) {
		c.reportLocked(violation{
			session, client, 0, fmt.Sprintf("request %s was answered with %s and %s", request, former, outcome),
		})
	}
	s.decisions[request] = string(outcome)
}

// A logReader checks the complete log of a session, event by event. Not safe for concurrent use.
type logReader struct {
	*checker
	session  string
	next     uint64
	bytes    int64
	outcomes map[string]string          // by request
	turns    map[string]int             // that a message started or joined, by token
	tokens   map[string]string          // by turn
	steered  map[string]string          // tokens of messages sent into turns, by message
	reasons  map[string]protocol.Reason // of the ends of turns, by token
}

func (c *checker) readLog(session string) *logReader {
	return &logReader{
		checker: c, session: session, next: 1, outcomes: map[string]string{}, turns: map[string]int{},
		tokens: map[string]string{}, steered: map[string]string{}, reasons: map[string]protocol.Reason{},
	}
}

// apply checks the next event of the log.
func (r *logReader) apply(e *protocol.Event, line []byte) error {
	if e.Seq != r.next || e.FirstSeq != 0 {
		r.report(violation{r.session, "", r.next, fmt.Sprintf("the log continues with %d", e.Seq)})
	}
	r.next = e.Seq + 1
	r.bytes += int64(len(line))
	r.sees(r.session, "", e.Seq, line)
	switch e.Type {
	case protocol.MessageUser:
		var m protocol.MessageUserData
		if err := e.Decode(&m); err != nil {
			return err
		}
		token := tokenOf(m.Text)
		r.turns[token]++
		r.tokens[e.Turn] = token
	case protocol.MessageSteered:
		var m protocol.MessageSteeredData
		if err := e.Decode(&m); err != nil {
			return err
		}
		r.steered[m.MessageID] = tokenOf(m.Text)
	case protocol.MessageResolved:
		var d protocol.MessageResolvedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		if d.Outcome != protocol.SteerRefused { // a refused message starts a turn
			r.turns[r.steered[d.MessageID]]++
		}
	case protocol.TurnEnded:
		var d protocol.TurnEndedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		r.reasons[r.tokens[e.Turn]] = d.Reason
	case protocol.ApprovalResolved:
		var d protocol.ApprovalResolvedData
		if err := e.Decode(&d); err != nil {
			return err
		}
		if _, twice := r.outcomes[d.Request]; twice {
			r.report(violation{r.session, "", e.Seq, "request " + d.Request + " was decided twice"})
		}
		r.outcomes[d.Request] = string(d.Outcome)
	}
	return nil
}

// finish compares the log with the answers to commands and with the events that clients saw.
func (r *logReader) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.checker.session(r.session)
	s.logBytes = r.bytes
	violate := func(client string, seq uint64, format string, args ...any) {
		r.reportLocked(violation{r.session, client, seq, fmt.Sprintf(format, args...)})
	}
	if seen := uint64(len(s.hashes)); seen >= r.next {
		violate("", r.next, "the log ends; clients saw events up to %d", seen)
	}
	for token, answer := range s.sent {
		switch n := r.turns[token]; {
		case n > 1:
			violate(senderOf(token), 0, "message %s has %d turns", token, n)
		case n == 0 && answer != "":
			violate(senderOf(token), 0, "message %s was acknowledged with %s and is lost", token, answer)
		}
	}
	for request, want := range s.decisions {
		if got, ok := r.outcomes[request]; !ok {
			violate("", 0, "request %s was answered with %s; the log has no decision", request, want)
		} else if got != want {
			violate("", 0, "request %s was answered with %s; the log has %s", request, want, got)
		}
	}
	for _, p := range s.partial {
		if r.reasons[p.token] == protocol.ReasonCompleted {
			violate(p.client, p.seq, "turn of message %s, completed: its text lacks the end: %q", p.token, p.text)
		}
	}
}
