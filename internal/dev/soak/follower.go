package soak

import (
	"encoding/json"
	"fmt"
	"sync"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A follower checks what one client gets of one session: natively that every event comes once and
// in order over all connections, in every protocol that each turn has its whole text once.
type follower struct {
	check   *checker
	client  string
	session string
	native  bool

	mu         sync.Mutex
	attached   bool
	at         protocol.Position
	state      *protocol.State // native: reduced from the events, up to a violation
	transcript protocol.Transcript
	ended      map[string]bool // turns by token
	events     int64
}

func newFollower(check *checker, client, session string, native bool) *follower {
	return &follower{check: check, client: client, session: session, native: native, ended: map[string]bool{}}
}

func (f *follower) violate(seq uint64, format string, args ...any) {
	f.check.report(violation{f.session, f.client, seq, fmt.Sprintf(format, args...)})
}

// handle checks the next item of the subscription.
func (f *follower) handle(it wsclient.Item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case it.Attached != nil:
		f.attach(it.Attached)
	case it.Event.Durable():
		f.apply(it.Event, it.Raw)
	}
}

// attach requires mu. A later attachment continues at the last event. Only the dialects, whose
// connections share no positions, may start again.
func (f *follower) attach(a *protocol.SubscribeResult) {
	resumed := a.Mode == protocol.ModeResume
	switch {
	case !f.attached:
		f.at, f.state = a.After, &protocol.State{Session: f.session}
		if a.Snapshot != nil {
			f.state = a.Snapshot.State
		}
	case f.native && (!resumed || a.After != f.at):
		f.violate(f.at.Seq, "at %v, attached again with %s %s after %v", f.at, a.Mode, a.Reason, a.After)
		f.at, f.state = a.After, nil
	case resumed && a.After.Seq != f.at.Seq:
		f.violate(f.at.Seq, "resumed after %d", a.After.Seq)
		f.at = a.After
	case !resumed:
		f.at, f.transcript = a.After, protocol.Transcript{}
	}
	f.attached = true
}

// apply requires mu.
func (f *follower) apply(e *protocol.Event, line []byte) {
	switch want := f.at.Seq + 1; {
	case e.First() > want:
		f.violate(want, "gap: the next event is %d..%d", e.First(), e.Seq)
		f.state = nil
	case e.First() < want:
		f.violate(e.First(), "repeat: %d..%d after %d", e.First(), e.Seq, f.at.Seq)
		f.state = nil
	}
	f.at.Seq = e.Seq
	f.events++
	if f.native {
		if e.FirstSeq == 0 {
			f.check.sees(f.session, f.client, e.Seq, line)
		}
	}
	if f.native && f.state != nil {
		if err := f.state.Apply(e); err != nil {
			f.violate(e.Seq, "apply: %v", err)
			f.state = nil
		}
	}
	if _, err := f.transcript.Apply(e); err != nil {
		f.violate(e.Seq, "apply to the transcript: %v", err)
	}
	if e.Type == protocol.TurnEnded {
		if turn := f.transcript.Current(); turn != nil && turn.Turn == e.Turn && turn.End != nil {
			f.checkTurn(turn, e.Seq)
		}
		f.transcript = protocol.Transcript{}
	}
}

// checkTurn requires mu.
func (f *follower) checkTurn(turn *protocol.Turn, seq uint64) {
	var text []byte
	for _, it := range turn.Items {
		if it.Kind == protocol.ItemText {
			text = append(text, it.Text...)
		}
	}
	token := tokenOf(string(text))
	if token == "" {
		token = tokenOf(turn.Message.Text)
	}
	if f.ended[token] && token != "" {
		f.violate(seq, "repeat: the turn of message %s ended before", token)
	}
	f.ended[token] = true
	complete, err := checkText(string(text))
	switch {
	case err != nil:
		f.violate(seq, "turn of message %s, %s: %v", token, turn.End.Reason, err)
	case !complete && turn.End.Reason == protocol.ReasonCompleted:
		f.check.showsPartial(f.session, partialTurn{f.client, token, string(text), seq})
	}
}

// sawEnd reports whether the turn of a message ended.
func (f *follower) sawEnd(token string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended[token]
}

// position returns the seq of the newest event.
func (f *follower) position() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at.Seq
}

func (f *follower) delivered() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events
}

// compare compares the reduced state with the server's state at the same seq.
func (f *follower) compare(want *protocol.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == nil { // reported
		return
	}
	got, _ := json.Marshal(f.state)
	expected, _ := json.Marshal(want)
	if string(got) != string(expected) {
		f.violate(f.at.Seq, "ends with the state\n%s\nthe server has\n%s", got, expected)
	}
}
