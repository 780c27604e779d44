package wsclient

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

func TestASubscriptionResumesAfterItsLastEvent(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		s := c.Subscribe("name", SubscribeOptions{})
		r := readItems(t, t.Context(), s)
		p := f.acceptHello()
		if at := p.answerSubscribe("e", 10); at != nil {
			t.Errorf("the first subscribe came with position %v", at)
		}
		if a := r.expectAttached(protocol.ModeSnapshot); a.Snapshot == nil || a.Snapshot.State.Seq != 10 {
			t.Errorf("attached %+v", a)
		}
		p.sendDeltas(11, 15)
		r.expectEvents(11, 13) // two more are in the inbox
		synctest.Wait()
		_ = p.ws.CloseNow()
		p = f.acceptHello()
		if at := p.answerSubscribe("e", 0); at == nil || *at != (protocol.Position{Epoch: "e", Seq: 15}) {
			t.Errorf("resumed from %v", at)
		}
		p.sendDeltas(16, 17)
		r.expectEvents(14, 15)
		if a := r.expectAttached(protocol.ModeResume); a.After.Seq != 15 {
			t.Errorf("attached %+v", a)
		}
		r.expectEvents(16, 17)
		if got := s.Position(); got != (protocol.Position{Epoch: "e", Seq: 17}) {
			t.Errorf("position %v", got)
		}
	})
}

func TestSinceIsWhereASubscriptionStarts(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{Since: &protocol.Position{Epoch: "e", Seq: 3}, Raw: true})
		r := readItems(t, t.Context(), s)
		p := f.acceptHello()
		sub := p.nextCommand(protocol.DoSubscribe)
		if string(sub.Data) != `{"position":"e:3","raw":true}` || s.Position().Seq != 3 {
			t.Errorf("subscribed with %s at %v", sub.Data, s.Position())
		}
		p.answer(
			sub,
			protocol.SubscribeResult{
				Session: "s1", Mode: protocol.ModeResume, After: protocol.Position{Epoch: "e", Seq: 3},
			},
		)
		p.sendDeltas(4, 5)
		r.expectAttached(protocol.ModeResume)
		r.expectEvents(4, 5)
	})
}

func TestDuplicatesAreDropped(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		p.sendDeltas(1, 5)
		p.sendDeltas(3, 6)
		p.write(string(delta(4, 2).AppendJSON(nil)))
		p.sendDeltas(7, 7)
		r.expectAttached(protocol.ModeSnapshot)
		r.expectEvents(1, 7)
		p.expectNoCommand()
	})
}

func TestAnOverlappingFoldedEventIsRequestedRaw(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		p.sendDeltas(1, 5)
		p.write(string(delta(9, 4).AppendJSON(nil)) + "\n" + string(delta(10, 0).AppendJSON(nil)))
		sub := p.nextCommand(protocol.DoSubscribe)
		if string(sub.Data) != `{"position":"e:5","raw":true}` {
			t.Errorf("resubscribed with %s", sub.Data)
		}
		p.sendDeltas(11, 12) // still sent for the old attachment
		p.answer(
			sub,
			protocol.SubscribeResult{
				Session: "s1", Mode: protocol.ModeResume, After: protocol.Position{Epoch: "e", Seq: 5},
			},
		)
		p.sendDeltas(6, 12)
		r.expectAttached(protocol.ModeSnapshot)
		r.expectEvents(1, 5)
		r.expectAttached(protocol.ModeResume)
		r.expectEvents(6, 12)
		_ = p.ws.CloseNow()
		if sub := f.acceptHello().nextCommand(protocol.DoSubscribe); string(sub.Data) != `{"position":"e:12"}` {
			t.Errorf("a new connection subscribed with %s", sub.Data)
		}
	})
}

func TestAContinuingFoldedEventIsAccepted(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		p.sendDeltas(1, 5)
		p.write(string(delta(9, 6).AppendJSON(nil)))
		p.sendDeltas(10, 10)
		r.expectAttached(protocol.ModeSnapshot)
		r.expectEvents(1, 5)
		if it := r.next(); it.Event.First() != 6 || it.Event.Seq != 9 {
			t.Errorf("got %+v", it.Event)
		}
		r.expectEvents(10, 10)
	})
}

func TestAGapIsAskedForAgainAndTheSecondTimeAnError(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		p.sendDeltas(1, 2)
		p.sendDeltas(4, 4)
		if at := p.answerSubscribe("e", 0); at == nil || at.Seq != 2 {
			t.Errorf("resubscribed from %v", at)
		}
		p.sendDeltas(3, 5)
		r.expectAttached(protocol.ModeSnapshot)
		r.expectEvents(1, 2)
		r.expectAttached(protocol.ModeResume)
		r.expectEvents(3, 5)
		p.sendDeltas(7, 7)
		p.answerSubscribe("e", 0)
		p.sendDeltas(7, 7)
		r.expectAttached(protocol.ModeResume)
		var gap *GapError
		if err := r.waitEnd(); !errors.As(err, &gap) || *gap != (GapError{Session: "s1", After: 5, First: 7}) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestAResetIsDeliveredAndFollowed(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{})
		r := readItems(t, t.Context(), s)
		p := f.acceptHello()
		p.answerSubscribe("old", 0)
		p.sendDeltas(1, 9)
		r.expectAttached(protocol.ModeSnapshot)
		r.expectEvents(1, 9)
		_ = p.ws.CloseNow()
		p = f.acceptHello()
		p.answerSubscribe("new", 2)
		p.sendDeltas(3, 4)
		if a := r.expectAttached(protocol.ModeReset); a.Reason != protocol.ResetEpoch || a.Snapshot == nil {
			t.Errorf("attached %+v", a)
		}
		r.expectEvents(3, 4)
		if got := s.Position(); got != (protocol.Position{Epoch: "new", Seq: 4}) {
			t.Errorf("position %v", got)
		}
		time.Sleep(time.Second)
		if seq, _ := p.newAcks(); seq != 4 {
			t.Errorf("acked %d", seq)
		}
	})
}

func TestEphemeralEventsComeInBetween(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{})
		r := readItems(t, t.Context(), s)
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		p.sendDeltas(1, 1)
		p.write(`{"session":"s1","time":"2026-01-02T03:04:05Z","type":"caught_up","data":{"position":"e:1"}}`)
		p.write(`{"session":"other","seq":7,"time":"2026-01-02T03:04:05Z","type":"notice"}` + "\n" +
			`{"time":"2026-01-02T03:04:05Z","type":"heartbeat"}`)
		r.expectAttached(protocol.ModeSnapshot)
		r.expectEvents(1, 1)
		if it := r.next(); it.Event.Type != protocol.CaughtUp || it.Event.Durable() {
			t.Errorf("got %+v", it.Event)
		}
		if s.Position().Seq != 1 {
			t.Errorf("position %v", s.Position())
		}
		p.sendDeltas(2, 2)
		r.expectEvents(2, 2)
	})
}

func TestASessionThatIsGoneEndsItsSubscriptionAlone(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		gone := readItems(t, t.Context(), c.Subscribe("gone", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerError(p.nextCommand(protocol.DoSubscribe), protocol.Errorf(protocol.CodeNoSession, "no session"))
		if err := gone.waitEnd(); protocol.CodeOf(err) != protocol.CodeNoSession {
			t.Errorf("ended with %v", err)
		}
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p.answerSubscribe("e", 0)
		r.expectAttached(protocol.ModeSnapshot)
		_ = p.ws.CloseNow()
		p = f.acceptHello()
		p.answerSubscribe("e", 0)
		p.expectNoCommand()
		r.expectAttached(protocol.ModeResume)
	})
}

func TestASubscriptionThatTheServerEndsIsAskedForAgain(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		detached := func(client, reason string) {
			p.write(string(protocol.MustEncode(protocol.Event{
				Session: "s1", Type: protocol.ClientDetached, Data: protocol.MustEncode(protocol.Client{
					Client: client,
					Reason: reason,
				}),
			})))
		}
		p.answerSubscribe("e", 0)
		r.expectAttached(protocol.ModeSnapshot)
		detached("another", "slow")
		if it := r.next(); it.Event == nil || it.Event.Type != protocol.ClientDetached {
			t.Errorf("got %+v", it)
		}
		detached("c1", "storage_unavailable")
		p.answerSubscribe("e", 0)
		p.sendDeltas(1, 1)
		r.expectAttached(protocol.ModeResume)
		r.expectEvents(1, 1)
		detached("c1", "no_session")
		p.answerError(p.nextCommand(protocol.DoSubscribe), protocol.Errorf(protocol.CodeNoSession, "deleted"))
		if err := r.waitEnd(); protocol.CodeOf(err) != protocol.CodeNoSession {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestADrainingServerIsLeftAndFoundAgain(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerError(p.nextCommand(protocol.DoSubscribe), protocol.Errorf(protocol.CodeShuttingDown, "draining"))
		p.expectClosed()
		f.acceptHello().answerSubscribe("e", 0)
		r.expectAttached(protocol.ModeSnapshot)
	})
}

func TestCloseEndsUnansweredSubscriptionsWithoutAnError(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.nextCommand(protocol.DoSubscribe)
		watched := make(chan error, 1)
		go func() {
			defer close(watched)
			for _, err := range c.Watch(t.Context()) {
				watched <- err
			}
		}()
		p.nextCommand(protocol.DoWatch)
		_ = c.Close()
		if err := r.waitEnd(); err != nil {
			t.Errorf("the subscription ended with %v", err)
		}
		if err := <-watched; err != nil {
			t.Errorf("the watch ended with %v", err)
		}
	})
}

func TestBreakingOffUnsubscribesAndReadingAgainContinues(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		r := readItems(t, ctx, s)
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		p.sendDeltas(1, 5)
		r.expectAttached(protocol.ModeSnapshot)
		r.expectEvents(1, 3)
		synctest.Wait() // the fourth was taken but not delivered
		cancel()
		if err := r.waitEnd(); err != nil {
			t.Errorf("ended with %v", err)
		}
		p.nextCommand(protocol.DoUnsubscribe)
		r = readItems(t, t.Context(), s)
		if at := p.answerSubscribe("e", 0); at == nil || at.Seq != 4 {
			t.Errorf("continued from %v", at)
		}
		p.sendDeltas(5, 6)
		r.expectAttached(protocol.ModeResume)
		r.expectEvents(5, 6)
		busy := 0
		for _, err := range s.Events(t.Context()) {
			if busy++; !errors.Is(err, errAlreadyReading) {
				t.Errorf("a second reader got %v", err)
			}
		}
		if busy != 1 {
			t.Errorf("a second reader got %d items", busy)
		}
		s.Close()
		s.Close()
		p.nextCommand(protocol.DoUnsubscribe)
		if err := r.waitEnd(); err != nil {
			t.Errorf("ended with %v", err)
		}
		for it, err := range s.Events(t.Context()) {
			t.Errorf("a closed subscription yielded %+v, %v", it, err)
		}
	})
}

func TestReadingAgainContinuesAfterTheLastItemNotFromSince(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{Since: &protocol.Position{Epoch: "e", Seq: 2}})
		if at := s.Position(); at.Seq != 2 {
			t.Errorf("at %v before the first item", at)
		}
		r := readItems(t, t.Context(), s)
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		p.sendDeltas(3, 4)
		r.expectAttached(protocol.ModeResume)
		r.expectEvents(3, 4)
		s.Close()
		_ = r.waitEnd()
		p.nextCommand(protocol.DoUnsubscribe)

		s = c.Subscribe("s1", SubscribeOptions{Since: &protocol.Position{Epoch: "e", Seq: 2}})
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			r = readItems(t, ctx, s)
			at := p.answerSubscribe("e", 0)
			r.expectAttached(protocol.ModeResume)
			p.sendDeltas(at.Seq+1, at.Seq+1)
			r.expectEvents(at.Seq+1, at.Seq+1)
			cancel()
			_ = r.waitEnd()
			p.nextCommand(protocol.DoUnsubscribe)
		}
		if at := s.Position(); at.Seq != 4 {
			t.Errorf("at %v after reading twice", at)
		}
	})
}

func TestABareSeqBelongsToTheEpochItIsResumedIn(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{Since: &protocol.Position{Seq: 2}})
		r := readItems(t, t.Context(), s)
		p := f.acceptHello()
		asked := p.nextCommand(protocol.DoSubscribe)
		p.answer(
			asked,
			protocol.SubscribeResult{
				Session: "s1", Mode: protocol.ModeResume, After: protocol.Position{Epoch: "e", Seq: 2},
			},
		)
		if at := r.expectAttached(protocol.ModeResume).After; at != (protocol.Position{Epoch: "e", Seq: 2}) {
			t.Errorf("attached after %v", at)
		}
		p.sendDeltas(3, 4)
		r.expectEvents(3, 4)
		time.Sleep(time.Second)
		if seq, _ := p.newAcks(); seq != 4 {
			t.Errorf("acknowledged up to %d", seq)
		}
		if at := s.Position(); at != (protocol.Position{Epoch: "e", Seq: 4}) {
			t.Errorf("at %v", at)
		}
	})
}

func TestAnAttachmentThatCannotBeReadEndsTheSubscription(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answer(p.nextCommand(protocol.DoSubscribe), []int{1})
		var bad *DecodeError
		if err := r.waitEnd(); !errors.As(err, &bad) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestANewerSubscriptionReplacesTheOlder(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		older := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		older.expectAttached(protocol.ModeSnapshot)
		newer := readItems(t, t.Context(), c.Subscribe("by-name", SubscribeOptions{}))
		p.answerSubscribe("e", 0)
		newer.expectAttached(protocol.ModeSnapshot)
		if err := older.waitEnd(); !errors.Is(err, ErrReplaced) {
			t.Errorf("the older ended with %v", err)
		}
		p.expectNoCommand() // an unsubscribe would end the newer
		p.sendDeltas(1, 2)
		newer.expectEvents(1, 2)
	})
}

func TestABadLineCostsTheConnectionOnceThenTheSubscription(t *testing.T) {
	for name, bad := range map[string]string{
		"of the session":    `{"session":"s1","seq":"six","type":"notice"}`,
		"without a session": `{"garbage`,
		"not a message":     `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
				r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
				p := f.acceptHello()
				p.answerSubscribe("e", 0)
				r.expectAttached(protocol.ModeSnapshot)
				for from := uint64(1); from <= 6; from += 5 { // each time at another position: the retry helped
					p.sendDeltas(from, from+4)
					p.write(bad + strings.Repeat(" ", 600))
					p.expectClosed()
					r.expectEvents(from, from+4)
					p = f.acceptHello()
					if at := p.answerSubscribe("e", 0); at == nil || at.Seq != from+4 {
						t.Errorf("resumed from %v", at)
					}
					r.expectAttached(protocol.ModeResume)
				}
				p.write(bad)
				var e *DecodeError
				if err := r.waitEnd(); !errors.As(err, &e) || len(e.Bytes) == 0 || len(e.Bytes) > 512 {
					t.Errorf("ended with %v", err)
				}
				f.acceptHello().expectNoCommand()
			})
		})
	}
}

// The server gets the newer subscribe and then the unsubscribe of the older subscription.
func TestASubscriptionGivenUpDoesNotEndTheNewer(t *testing.T) {
	for _, answered := range []bool{true, false} {
		withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
			older := c.Subscribe("a-name", SubscribeOptions{})
			readItems(t, t.Context(), older)
			p := f.acceptHello()
			if answered {
				p.answerSubscribe("e", 0)
			}
			newer := readItems(t, t.Context(), c.Subscribe("another-name", SubscribeOptions{}))
			synctest.Wait()
			older.Close()
			synctest.Wait()
			if !answered {
				p.answerSubscribe("e", 0)
			}
			p.answerSubscribe("e", 0)
			p.nextCommand(protocol.DoUnsubscribe)
			p.answerSubscribe("e", 0)
			newer.expectAttached(protocol.ModeSnapshot)
			p.sendDeltas(1, 2)
			newer.expectEvents(1, 2)
			p.expectNoCommand()
		})
	}
}

// Live deltas are joined only by a server that can, in an interval that it has.
func TestFoldIsRequestedFromAServerThatCan(t *testing.T) {
	for _, tt := range []struct {
		limit int64
		o     SubscribeOptions
		want  string
	}{
		{0, SubscribeOptions{Fold: time.Second}, `{}`},
		{1000, SubscribeOptions{}, `{}`},
		{1000, SubscribeOptions{Fold: 100 * time.Millisecond}, `{"fold_ms":100}`},
		{50, SubscribeOptions{Fold: 100 * time.Millisecond}, `{"fold_ms":50}`},
		{1000, SubscribeOptions{Fold: 100 * time.Millisecond, Raw: true}, `{"raw":true}`},
	} {
		withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
			readItems(t, t.Context(), c.Subscribe("s1", tt.o))
			p := f.nextConn()
			hello := p.nextCommand(protocol.DoHello)
			p.answer(hello, protocol.HelloResult{Connection: "c1", Limits: protocol.Limits{FoldMS: tt.limit}})
			if got := string(p.nextCommand(protocol.DoSubscribe).Data); got != tt.want {
				t.Errorf("limit %d, %+v: subscribed with %s, want %s", tt.limit, tt.o, got, tt.want)
			}
		})
	}
}
