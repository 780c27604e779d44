package tuitest

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"sync"
	"testing/synctest"
	"time"

	"agentctl/protocol"
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

// ReplyToBlobs makes the session reply to requests for blobs with data, in pieces of size bytes.
func (s *FakeSession) ReplyToBlobs(data string, size int) {
	s.Reply = func(c Command) (any, error) {
		d, ok := c.Data.(protocol.BlobData)
		if !ok {
			return nil, nil
		}
		end := min(int(d.Offset)+size, len(data))
		return protocol.BlobResult{Bytes: int64(len(data)), Data: []byte(data[d.Offset:end])}, nil
	}
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

// Output is a terminal that records the bytes written to it. It is safe for concurrent use.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

// String returns the recorded bytes.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// Wait advances the time of a synctest bubble by d and waits until its goroutines are blocked.
func Wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
