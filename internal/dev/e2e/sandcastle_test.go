package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A screenObserver follows a session like a screen: it replaces its state on each snapshot and
// reads earlier turns from the history.
type screenObserver struct {
	state      *protocol.State
	transcript *protocol.Transcript
	resets     int
	err        error
}

// observeScreen follows a session until done returns true.
func observeScreen(
	ctx context.Context, c *wsclient.Client, id string, done func(*screenObserver) bool,
) *screenObserver {
	m := &screenObserver{resets: -1}
	for it, err := range c.Subscribe(id, wsclient.SubscribeOptions{}).Events(ctx) {
		switch {
		case err != nil:
			m.err = err
		case it.Attached != nil && it.Attached.Snapshot != nil:
			m.resets++
			m.state, m.transcript = it.Attached.Snapshot.State, &protocol.Transcript{}
			m.err = m.loadHistory(ctx, c, id, it.Attached.After.Seq)
		case it.Event != nil && it.Event.Durable():
			if m.err = m.state.Apply(it.Event); m.err == nil {
				_, m.err = m.transcript.Apply(it.Event)
			}
		}
		if m.err != nil || m.transcript != nil && done(m) {
			return m
		}
	}
	m.err = fmt.Errorf("the subscription ended: %w", context.Cause(ctx))
	return m
}

// loadHistory reads the turns up to seq, page by page.
func (m *screenObserver) loadHistory(ctx context.Context, c *wsclient.Client, id string, seq uint64) error {
	var events []json.RawMessage
	for more := seq > 0; more; {
		page, err := wsclient.Call[protocol.HistoryResult](
			ctx, c, protocol.DoHistory, id, protocol.HistoryData{Before: seq + 1, Limit: 100},
		)
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
		events = append(page.Events, events...)
		seq, more = page.First-1, page.More
	}
	for _, line := range events {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if _, err := m.transcript.Apply(&e); err != nil {
			return err
		}
	}
	return nil
}

// turnLines renders each turn in one line.
func (m *screenObserver) turnLines() (list []string) {
	for _, t := range m.transcript.Turns {
		var b strings.Builder
		for _, it := range t.Items {
			switch {
			case it.Kind == protocol.ItemText, it.Kind == protocol.ItemReasoning:
				b.Write(it.Text)
			case it.Kind == protocol.ItemTool && it.Tool.End != nil:
				fmt.Fprintf(&b, "[%s %s]", it.Tool.Name, it.Tool.End.Status)
			}
		}
		end := protocol.TurnEndedData{}
		if t.End != nil {
			end = *t.End
		}
		list = append(list, fmt.Sprintf("%s %q %s %s %s", t.Turn, t.Message.Text, b.String(), end.Reason, end.Code))
	}
	return list
}

// SC-25, SC-26, SC-36, SC-39, SC-42: over a faulty network and server restarts during turns, a
// client of the dialect ends with the same turns as a native one, and each message it sends gets
// one turn.
func TestSandcastleOverAFaultyNetworkLosesNothing(t *testing.T) {
	for _, resumes := range []bool{true, false} {
		for seed := range uint64(thorough.Rounds(1, 2)) {
			t.Run(fmt.Sprintf("resumes %v, seed %d", resumes, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testSandcastleOverFaultyNetwork(t, resumes, seed) })
			})
		}
	}
}

func testSandcastleOverFaultyNetwork(t *testing.T, resumes bool, seed uint64) {
	w := newTestServer(
		t,
		fmt.Sprintf(`{"resumes":%v}`, resumes),
		`{"on":"*"}`,
		`{"think":"a b c","delay":"100ms"}`,
		`{"burst":200,"delay":"10ms","parts":2}`,
		`{"tool":"shell","output":"x y z","delay":"200ms"}`,
		`{"say":"end of {message}","words":1,"delay":"50ms"}`,
	)
	over := func(n uint64) *wsclient.Client {
		s := newFaultyProxy(w, seed*10+n)
		c := wsclient.New("ws://server/dialect/sandcastle", wsclient.Options{
			Dialect: "sandcastle", Name: "ada", Dial: s.Dial, Rand: func() float64 { return 0.5 },
		})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ann := w.client("ann")
	id := w.create(ann)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Hour)
	defer cancel()
	last := func(m *screenObserver) bool {
		n := len(m.transcript.Turns)
		return n > 0 && m.transcript.Turns[n-1].Message.Text == "the last" && m.transcript.Turns[n-1].End != nil
	}
	watcher, sender := over(1), over(2)
	seen := async(func() *screenObserver { return observeScreen(ctx, watcher, id, last) })
	alsoSeen := async(func() *screenObserver { return observeScreen(ctx, sender, id, last) })
	var sent []string
	for i := range 10 {
		text := fmt.Sprint("message ", i)
		if _, err := wsclient.Call[protocol.SendResult](ctx, sender, protocol.DoSend, id,
			protocol.SendData{Text: text}); err != nil {
			t.Fatalf("send: %v", err)
		}
		sent = append(sent, text)
		time.Sleep(time.Duration(1+i%4) * time.Second)
		if i%3 == 2 {
			w.stop()
			time.Sleep(time.Second)
			w.start()
			do[protocol.QueueReleaseResult](
				t, ann, protocol.DoQueueRelease, id, nil,
			) // the dialect cannot release the queue
		}
	}
	waitIdle(t, ann, id)
	w.send(ann, id, "the last")
	reference := observeScreen(ctx, ann, id, last)
	for _, m := range []*screenObserver{reference, <-seen, <-alsoSeen} {
		if m.err != nil {
			t.Fatal(m.err)
		}
		if got, want := strings.Join(m.turnLines(), "\n"), strings.Join(reference.turnLines(), "\n"); got != want {
			t.Errorf("over the dialect\n%s\nnatively\n%s", got, want)
		}
		t.Logf("%d turns, %d resets", len(m.transcript.Turns), m.resets)
	}
	var asked []string
	for _, turn := range reference.transcript.Turns {
		asked = append(asked, turn.Message.Text)
	}
	if !slices.Equal(asked, append(sent, "the last")) {
		t.Errorf("sent %q, turns of %q", sent, asked)
	}
}
