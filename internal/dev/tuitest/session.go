package tuitest

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/tui/protolog"
	"agentctl/tui/remote"
)

// FakeSession is a session that publishes the updates of Feed and records the commands sent to it.
type FakeSession struct {
	Feed chan remote.Update // published by Updates; closing it ends them

	Mu      sync.Mutex
	Sent    []Command // guarded by Mu, as Retries and Reply
	Retries int
	Reply   func(Command) (any, error) // nil: every command succeeds

	OnWithdraw func(id string) bool // nil: no message can be withdrawn
}

// Withdraw implements remote.Withdrawer.
func (s *FakeSession) Withdraw(id string) bool { return s.OnWithdraw != nil && s.OnWithdraw(id) }

// Command is a command sent to a session.
type Command struct {
	Verb protocol.Verb
	Data any
}

// NewFakeSession returns a session in which every command succeeds.
func NewFakeSession() *FakeSession { return &FakeSession{Feed: make(chan remote.Update, 64)} }

// Updates implements remote.Session.
func (s *FakeSession) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		for {
			select {
			case u, ok := <-s.Feed:
				if !ok || !yield(u) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// Retry implements remote.Retrier. It counts its calls.
func (s *FakeSession) Retry() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Retries++
}

// Do implements remote.Session. It records the command and decodes the reply into result.
func (s *FakeSession) Do(ctx context.Context, verb protocol.Verb, data, result any) error {
	c := Command{verb, data}
	s.Mu.Lock()
	s.Sent = append(s.Sent, c)
	reply := s.Reply
	s.Mu.Unlock()
	if reply == nil {
		return ctx.Err()
	}
	answer, err := reply(c)
	if err != nil || result == nil || answer == nil {
		return err
	}
	raw, err := protocol.Encode(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

// Commands returns the recorded commands other than history.
func (s *FakeSession) Commands() []Command {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var out []Command
	for _, c := range s.Sent {
		if c.Verb != protocol.DoHistory {
			out = append(out, c)
		}
	}
	return out
}

// LoggedSession is a fake session with a protocol log.
type LoggedSession struct {
	*FakeSession
	Log *protolog.Log
}

// ProtocolLog returns the protocol log of the connection.
func (s LoggedSession) ProtocolLog() *protolog.Log { return s.Log }

// SampleLog returns the protocol log of a short conversation. Its credential is "the-token".
func SampleLog() *protolog.Log {
	l := protolog.NewLog("the-token")
	at := Start
	add := func(after time.Duration, sent bool, lines ...string) {
		at = at.Add(after)
		l.AddFrame(at, sent, false, []byte(strings.Join(lines, "\n")))
	}
	l.AddNote(at, "opened ws://box:7777/v1/ws")
	add(time.Millisecond, true, `{"id":"hello","command":"hello","data":{"version":"agentctl.v1","name":"ada"}}`)
	add(4*time.Millisecond, false,
		`{"id":"hello","result":{"version":"agentctl.v1","server":"agentctl","connection":"c1"}}`,
	)
	add(time.Second, true, `{"id":"1","command":"send","session":"s1","key":"K1","data":{"text":"修复测试 please"}}`)
	add(23*time.Millisecond, false,
		`{"id":"1","result":{"status":"started","message_id":"m1"}}`,
		`{"session":"s1","seq":4,"turn":"t1","time":"2026-03-04T09:41:01Z",`+
			`"type":"turn.started","data":{"message_id":"m1"}}`,
	)
	add(time.Second, false,
		`{"session":"s1","seq":9,"first_seq":5,"type":"fold",`+
			`"data":{"parts":[{"part":"p","kind":"text","text":"On it.\u001b[2J"}]}}`,
	)
	add(time.Millisecond, true, `{"command":"ack","session":"s1","data":{"seq":9}}`)
	add(time.Second, true,
		`{"id":"2","command":"approve","session":"s1","data":{"request":"r1","decision":"deny","token":"the-token"}}`,
	)
	add(3*time.Second, false, `{"id":"2","error":{"code":"conflict","message":"decided by bob"}}`)
	return l
}

// Errors of refused commands.
var (
	ErrCannotSearch = protocol.Errorf(protocol.CodeUnsupported, "it cannot search")
	ErrRefused      = protocol.Errorf(protocol.CodeForbidden, "observers may not do that")
)

// ExportFormats implements [remote.Exporter].
func (s *FakeSession) ExportFormats() []string { return []string{"md", "jsonl", "html", "asciicast"} }

// Export returns a text that names the format.
func (s *FakeSession) Export(_ context.Context, format string) ([]byte, error) {
	return []byte("as " + format + "\n"), nil
}
