//go:build interop

package interoptest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A Follower follows one session and applies its events, like a screen. It is not safe for
// concurrent use.
type Follower struct {
	T          *testing.T
	Client     *wsclient.Client
	Session    string
	State      *protocol.State
	Transcript *protocol.Transcript
	Modes      []string // mode and reason of each attachment
	Resets     int      // attachments that replaced a known state
	Stop       func()   // ends the subscription

	items       chan wsclient.Item
	errs        chan error
	loadHistory bool
}

// Follow subscribes to a session and returns once attached. With loadHistory it reads the turns
// before a snapshot from the history.
func Follow(t *testing.T, c *wsclient.Client, session string, loadHistory bool) *Follower {
	t.Helper()
	f := &Follower{
		T: t, Client: c, Session: session, Transcript: &protocol.Transcript{},
		items: make(chan wsclient.Item, 1<<15), errs: make(chan error, 1), loadHistory: loadHistory,
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for it, err := range c.Subscribe(session, wsclient.SubscribeOptions{}).Events(ctx) {
			if err != nil {
				f.errs <- err
				return
			}
			f.items <- it
		}
	}()
	f.Stop = func() { cancel(); <-done }
	t.Cleanup(f.Stop)
	f.WaitFor("attached", func() bool { return f.State != nil })
	return f
}

// WaitFor applies items until the condition holds. what names the condition in the failure.
func (f *Follower) WaitFor(what string, condition func() bool) {
	f.T.Helper()
	timeout := time.After(Timeout)
	for !condition() {
		select {
		case it := <-f.items:
			f.apply(it)
		case err := <-f.errs:
			f.T.Fatalf("%s: %v", what, err)
		case <-timeout:
			f.T.Fatalf("timeout: not %s\n%s\n%s", what, protocol.MustEncode(f.State), protocol.MustEncode(f.Transcript))
		}
	}
}

func (f *Follower) apply(it wsclient.Item) {
	f.T.Helper()
	if at := it.Attached; at != nil {
		f.Modes = append(f.Modes, strings.TrimSpace(at.Mode+" "+at.Reason))
		if at.Snapshot != nil {
			if f.State != nil {
				f.Resets++
			}
			f.State, f.Transcript = at.Snapshot.State, &protocol.Transcript{}
			if f.loadHistory {
				f.applyHistory(at.After.Seq)
			}
		}
	}
	if it.Event != nil && it.Event.Durable() {
		Must(f.T, f.State.Apply(it.Event))
		_, err := f.Transcript.Apply(it.Event)
		Must(f.T, err)
	}
}

// applyHistory reads the turns up to seq, page by page, and applies them to the transcript.
func (f *Follower) applyHistory(seq uint64) {
	f.T.Helper()
	var events []json.RawMessage
	for more := seq > 0; more; {
		page := Do[protocol.HistoryResult](f, protocol.DoHistory, protocol.HistoryData{Before: seq + 1, Limit: 100})
		events = append(page.Events, events...)
		seq, more = page.First-1, page.More
	}
	for _, line := range events {
		var e protocol.Event
		Must(f.T, json.Unmarshal(line, &e))
		_, err := f.Transcript.Apply(&e)
		Must(f.T, err)
	}
}

// Send sends a message to the session.
func (f *Follower) Send(text string) protocol.SendResult {
	f.T.Helper()
	return Do[protocol.SendResult](f, protocol.DoSend, protocol.SendData{Text: text})
}

// Do executes a command on the follower's session. It must succeed.
func Do[R any](f *Follower, verb protocol.Verb, data any) R {
	f.T.Helper()
	return Call[R](f.T, f.Client, verb, f.Session, data)
}

// Try executes a command on the follower's session.
func Try[R any](f *Follower, verb protocol.Verb, data any) (R, error) {
	ctx, cancel := context.WithTimeout(f.T.Context(), Timeout)
	defer cancel()
	return wsclient.Call[R](ctx, f.Client, verb, f.Session, data)
}

// Call executes a command that must succeed.
func Call[R any](t *testing.T, c *wsclient.Client, verb protocol.Verb, session string, data any) R {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	r, err := wsclient.Call[R](ctx, c, verb, session, data)
	if err != nil {
		t.Fatalf("%s: %v", verb, err)
	}
	return r
}

// Connect returns a client that is closed with the test.
func Connect(t *testing.T, url string, o wsclient.Options) *wsclient.Client {
	c := wsclient.New(url, o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Must fails the test at once if err is not nil.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Contains fails the test unless got contains all words.
func Contains(t *testing.T, got string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(got, w) {
			t.Errorf("got %s, want it to contain %s", got, w)
		}
	}
}
