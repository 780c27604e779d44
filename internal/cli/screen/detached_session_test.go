package screen

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/wsclient"
)

// A countedConn counts the bytes read and written.
type countedConn struct {
	net.Conn
	read, written *atomic.Int64
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

func (c countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// transcriptReader applies the updates of a session as the screen does.
type transcriptReader struct {
	epoch string
	state *protocol.State
	text  strings.Builder
}

// apply applies an update and reports its event type.
func (r *transcriptReader) apply(t *testing.T, u *remote.Update) protocol.Type {
	switch {
	case u.Attached != nil && u.Attached.Snapshot != nil:
		r.epoch, r.state = u.Attached.Snapshot.Epoch, u.Attached.Snapshot.State
	case u.Event == nil:
		return ""
	case u.Event.Durable():
		if err := r.state.Apply(u.Event); err != nil {
			t.Fatal(err)
		}
		switch u.Event.Type {
		case protocol.TextDelta:
			var d protocol.PartDeltaData
			if err := u.Event.Decode(&d); err != nil {
				t.Fatal(err)
			}
			r.text.WriteString(d.Text)
		case protocol.JoinedDeltas:
			var d protocol.JoinedData
			if err := u.Event.Decode(&d); err != nil {
				t.Fatal(err)
			}
			for _, p := range d.Parts {
				r.text.WriteString(p.Text)
			}
		}
	}
	if u.Event != nil {
		return u.Event.Type
	}
	return ""
}

// position returns where a later subscription continues.
func (r *transcriptReader) position() protocol.Position {
	return protocol.Position{Epoch: r.epoch, Seq: r.state.Seq}
}

func TestADetachedSessionCostsItsSummariesOnly(t *testing.T) {
	t.Parallel()
	const words = 500
	dial := embeddedDial(t, `{"pace":{"words":1,"delay":"2ms"}}`+"\n"+`{"on":"*"}`+"\n"+
		`{"say":"`+strings.TrimSpace(strings.Repeat("word ", words))+`"}`)
	var read atomic.Int64
	c := wsclient.New("ws://test", wsclient.Options{Name: "ann", Dial: func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		return countedConn{conn, &read, new(atomic.Int64)}, err
	}})
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, ctx, r := create(t, c), testContext(t), &transcriptReader{state: &protocol.State{}}
	for u := range v.Updates(ctx) {
		seen := r.apply(t, &u)
		if seen == protocol.CaughtUp {
			if err := v.Do(ctx, protocol.DoSend, protocol.SendData{Text: "x"}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if seen == protocol.TextDelta {
			break // the user hides it in the middle of its answer
		}
	}
	before, began := read.Load(), time.Now()
	for s, err := range (Server{Client: c}).Watch(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Session == v.Session && s.Status == protocol.Idle {
			break
		}
	}
	// A summary is sent once a second: on a loaded machine an answer has more than those of its second.
	took := time.Since(began)
	most := 8<<10 + int64(took.Seconds()*(1<<10))
	if got := read.Load() - before; got > most {
		t.Errorf("an answer of %d words in %s: got %d bytes while detached, want at most %d", words, took, got, most)
	}
	if !v.Resumes() {
		t.Error("a native session does not resume")
	}
	for u := range v.UpdatesSince(ctx, r.position()) {
		if u.Attached != nil && u.Attached.Mode != protocol.ModeResume {
			t.Errorf("attached with %s, want %s", u.Attached.Mode, protocol.ModeResume)
		}
		if r.apply(t, &u) == protocol.CaughtUp {
			break
		}
	}
	if got, want := r.text.String(), strings.TrimSpace(strings.Repeat("word ", words)); got != want {
		t.Errorf("text after the session is shown again: got %d bytes, want %d", len(got), len(want))
	}
}
