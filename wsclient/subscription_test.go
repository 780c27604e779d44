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

func TestASubscriptionResumesAfterWhatItHas(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		s := c.Subscribe("name", SubscribeOptions{})
		r := read(t, t.Context(), s)
		p := f.open()
		if at := p.attach("e", 10); at != nil {
			t.Errorf("the first subscribe came with position %v", at)
		}
		if a := r.attached(protocol.ModeSnapshot); a.Snapshot == nil || a.Snapshot.State.Seq != 10 {
			t.Errorf("attached %+v", a)
		}
		p.events(11, 15)
		r.seqs(11, 13) // two wait in the inbox: they were received
		synctest.Wait()
		_ = p.conn.CloseNow()
		p = f.open()
		if at := p.attach("e", 0); at == nil || *at != (protocol.Position{Epoch: "e", Seq: 15}) {
			t.Errorf("resumed from %v", at)
		}
		p.events(16, 17)
		r.seqs(14, 15)
		if a := r.attached(protocol.ModeResume); a.After.Seq != 15 {
			t.Errorf("attached %+v", a)
		}
		r.seqs(16, 17)
		if got := s.Position(); got != (protocol.Position{Epoch: "e", Seq: 17}) {
			t.Errorf("position %v", got)
		}
	})
}

func TestSinceIsWhereASubscriptionStarts(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{Since: &protocol.Position{Epoch: "e", Seq: 3}, Raw: true})
		r := read(t, t.Context(), s)
		p := f.open()
		sub := p.next(protocol.DoSubscribe)
		if string(sub.Data) != `{"position":"e:3","raw":true}` || s.Position().Seq != 3 {
			t.Errorf("subscribed with %s at %v", sub.Data, s.Position())
		}
		p.answer(sub, protocol.SubscribeResult{Session: "s1", Mode: protocol.ModeResume, After: protocol.Position{Epoch: "e", Seq: 3}})
		p.events(4, 5)
		r.attached(protocol.ModeResume)
		r.seqs(4, 5)
	})
}

func TestDuplicatesAreDropped(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		r := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.open()
		p.attach("e", 0)
		p.events(1, 5)
		p.events(3, 6)
		p.say(string(delta(4, 2).AppendJSON(nil)))
		p.events(7, 7)
		r.attached(protocol.ModeSnapshot)
		r.seqs(1, 7)
		p.nothing()
	})
}

func TestAFoldedEventThatHoldsWhatWasSeenIsAskedForRaw(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		r := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.open()
		p.attach("e", 0)
		p.events(1, 5)
		p.say(string(delta(9, 4).AppendJSON(nil)) + "\n" + string(delta(10, 0).AppendJSON(nil)))
		sub := p.next(protocol.DoSubscribe)
		if string(sub.Data) != `{"position":"e:5","raw":true}` {
			t.Errorf("asked again with %s", sub.Data)
		}
		p.events(11, 12) // of the old cursor, on their way
		p.answer(sub, protocol.SubscribeResult{Session: "s1", Mode: protocol.ModeResume, After: protocol.Position{Epoch: "e", Seq: 5}})
		p.events(6, 12)
		r.attached(protocol.ModeSnapshot)
		r.seqs(1, 5)
		r.attached(protocol.ModeResume)
		r.seqs(6, 12)
		_ = p.conn.CloseNow()
		if sub := f.open().next(protocol.DoSubscribe); string(sub.Data) != `{"position":"e:12"}` {
			t.Errorf("a new connection was asked with %s", sub.Data)
		}
	})
}

func TestAFoldedEventThatContinuesIsTaken(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		r := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.open()
		p.attach("e", 0)
		p.events(1, 5)
		p.say(string(delta(9, 6).AppendJSON(nil)))
		p.events(10, 10)
		r.attached(protocol.ModeSnapshot)
		r.seqs(1, 5)
		if it := r.item(); it.Event.First() != 6 || it.Event.Seq != 9 {
			t.Errorf("got %+v", it.Event)
		}
		r.seqs(10, 10)
	})
}

func TestAGapIsAskedForAgainAndTheSecondTimeAnError(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		r := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.open()
		p.attach("e", 0)
		p.events(1, 2)
		p.events(4, 4)
		if at := p.attach("e", 0); at == nil || at.Seq != 2 {
			t.Errorf("asked again from %v", at)
		}
		p.events(3, 5)
		r.attached(protocol.ModeSnapshot)
		r.seqs(1, 2)
		r.attached(protocol.ModeResume)
		r.seqs(3, 5)
		p.events(7, 7)
		p.attach("e", 0)
		p.events(7, 7)
		r.attached(protocol.ModeResume)
		var gap *GapError
		if err := r.ended(); !errors.As(err, &gap) || *gap != (GapError{Session: "s1", After: 5, First: 7}) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestAResetIsDeliveredAndFollowed(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{})
		r := read(t, t.Context(), s)
		p := f.open()
		p.attach("old", 0)
		p.events(1, 9)
		r.attached(protocol.ModeSnapshot)
		r.seqs(1, 9)
		_ = p.conn.CloseNow()
		p = f.open()
		p.attach("new", 2)
		p.events(3, 4)
		if a := r.attached(protocol.ModeReset); a.Reason != protocol.ResetEpoch || a.Snapshot == nil {
			t.Errorf("attached %+v", a)
		}
		r.seqs(3, 4)
		if got := s.Position(); got != (protocol.Position{Epoch: "new", Seq: 4}) {
			t.Errorf("position %v", got)
		}
		time.Sleep(time.Second)
		if seq, _ := p.acked(); seq != 4 {
			t.Errorf("acked %d", seq)
		}
	})
}

func TestEphemeralEventsComeInBetween(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{})
		r := read(t, t.Context(), s)
		p := f.open()
		p.attach("e", 0)
		p.events(1, 1)
		p.say(`{"session":"s1","time":"2026-01-02T03:04:05Z","type":"caught_up","data":{"position":"e:1"}}`)
		p.say(`{"session":"other","seq":7,"time":"2026-01-02T03:04:05Z","type":"notice"}` + "\n" +
			`{"time":"2026-01-02T03:04:05Z","type":"heartbeat"}`)
		p.events(2, 2)
		r.attached(protocol.ModeSnapshot)
		r.seqs(1, 1)
		if it := r.item(); it.Event.Type != protocol.CaughtUp || it.Event.Durable() {
			t.Errorf("got %+v", it.Event)
		}
		if s.Position().Seq != 1 {
			t.Errorf("position %v", s.Position())
		}
		r.seqs(2, 2)
	})
}

func TestASessionThatIsGoneEndsItsSubscriptionAlone(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		gone := read(t, t.Context(), c.Subscribe("gone", SubscribeOptions{}))
		p := f.open()
		p.refuse(p.next(protocol.DoSubscribe), protocol.Errorf(protocol.CodeNoSession, "no session"))
		if err := gone.ended(); protocol.CodeOf(err) != protocol.CodeNoSession {
			t.Errorf("ended with %v", err)
		}
		r := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p.attach("e", 0)
		r.attached(protocol.ModeSnapshot)
		_ = p.conn.CloseNow()
		p = f.open()
		p.attach("e", 0)
		p.nothing()
		r.attached(protocol.ModeResume)
	})
}

func TestASubscriptionThatTheServerEndsIsAskedForAgain(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		r := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.open()
		detached := func(client, reason string) {
			p.say(string(protocol.MustEncode(protocol.Event{
				Session: "s1", Type: protocol.ClientDetached, Data: protocol.MustEncode(protocol.Client{Client: client, Reason: reason}),
			})))
		}
		p.attach("e", 0)
		r.attached(protocol.ModeSnapshot)
		detached("another", "slow")
		if it := r.item(); it.Event == nil || it.Event.Type != protocol.ClientDetached {
			t.Errorf("got %+v", it)
		}
		detached("c1", "storage_unavailable")
		p.attach("e", 0)
		p.events(1, 1)
		r.attached(protocol.ModeResume)
		r.seqs(1, 1)
		detached("c1", "no_session")
		p.refuse(p.next(protocol.DoSubscribe), protocol.Errorf(protocol.CodeNoSession, "deleted"))
		if err := r.ended(); protocol.CodeOf(err) != protocol.CodeNoSession {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestADrainingServerIsLeftAndFoundAgain(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		r := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.open()
		p.refuse(p.next(protocol.DoSubscribe), protocol.Errorf(protocol.CodeShuttingDown, "draining"))
		p.ended()
		f.open().attach("e", 0)
		r.attached(protocol.ModeSnapshot)
	})
}

func TestClosingEndsWhatWaitsForItsFirstAnswerWithoutAnError(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		r := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.open()
		p.next(protocol.DoSubscribe)
		watched := make(chan error, 1)
		go func() {
			defer close(watched)
			for _, err := range c.Watch(t.Context()) {
				watched <- err
			}
		}()
		p.next(protocol.DoWatch)
		_ = c.Close()
		if err := r.ended(); err != nil {
			t.Errorf("the subscription ended with %v", err)
		}
		if err := <-watched; err != nil {
			t.Errorf("the watch ended with %v", err)
		}
	})
}

func TestBreakingOffUnsubscribesAndReadingAgainContinues(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		r := read(t, ctx, s)
		p := f.open()
		p.attach("e", 0)
		p.events(1, 5)
		r.attached(protocol.ModeSnapshot)
		r.seqs(1, 3)
		synctest.Wait() // the fourth was taken, and nobody wanted it
		cancel()
		if err := r.ended(); err != nil {
			t.Errorf("ended with %v", err)
		}
		p.next(protocol.DoUnsubscribe)
		r = read(t, t.Context(), s)
		if at := p.attach("e", 0); at == nil || at.Seq != 4 {
			t.Errorf("went on from %v", at)
		}
		p.events(5, 6)
		r.attached(protocol.ModeResume)
		r.seqs(5, 6)
		busy := 0
		for _, err := range s.Events(t.Context()) {
			if busy++; !errors.Is(err, errBusy) {
				t.Errorf("a second reader got %v", err)
			}
		}
		if busy != 1 {
			t.Errorf("a second reader got %d items", busy)
		}
		s.Close()
		s.Close()
		p.next(protocol.DoUnsubscribe)
		if err := r.ended(); err != nil {
			t.Errorf("ended with %v", err)
		}
		for it, err := range s.Events(t.Context()) {
			t.Errorf("a closed subscription yielded %+v, %v", it, err)
		}
	})
}

func TestReadingAgainGoesOnAfterWhatWasTakenNotFromSince(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{Since: &protocol.Position{Epoch: "e", Seq: 2}})
		if at := s.Position(); at.Seq != 2 {
			t.Errorf("at %v before the first item", at)
		}
		r := read(t, t.Context(), s)
		p := f.open()
		p.attach("e", 0)
		p.events(3, 4)
		r.attached(protocol.ModeResume)
		r.seqs(3, 4)
		s.Close()
		_ = r.ended()
		p.next(protocol.DoUnsubscribe)

		s = c.Subscribe("s1", SubscribeOptions{Since: &protocol.Position{Epoch: "e", Seq: 2}})
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			r = read(t, ctx, s)
			at := p.attach("e", 0)
			r.attached(protocol.ModeResume)
			p.events(at.Seq+1, at.Seq+1)
			r.seqs(at.Seq+1, at.Seq+1)
			cancel()
			_ = r.ended()
			p.next(protocol.DoUnsubscribe)
		}
		if at := s.Position(); at.Seq != 4 {
			t.Errorf("at %v after reading twice", at)
		}
	})
}

func TestABareSeqBelongsToTheEpochItIsResumedIn(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		s := c.Subscribe("s1", SubscribeOptions{Since: &protocol.Position{Seq: 2}})
		r := read(t, t.Context(), s)
		p := f.open()
		asked := p.next(protocol.DoSubscribe)
		p.answer(asked, protocol.SubscribeResult{Session: "s1", Mode: protocol.ModeResume, After: protocol.Position{Epoch: "e", Seq: 2}})
		if at := r.attached(protocol.ModeResume).After; at != (protocol.Position{Epoch: "e", Seq: 2}) {
			t.Errorf("attached after %v", at)
		}
		p.events(3, 4)
		r.seqs(3, 4)
		time.Sleep(time.Second)
		if seq, _ := p.acked(); seq != 4 {
			t.Errorf("acknowledged up to %d", seq)
		}
		if at := s.Position(); at != (protocol.Position{Epoch: "e", Seq: 4}) {
			t.Errorf("at %v", at)
		}
	})
}

func TestAnAttachmentThatCannotBeReadEndsTheSubscription(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		r := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.open()
		p.answer(p.next(protocol.DoSubscribe), []int{1})
		var bad *DecodeError
		if err := r.ended(); !errors.As(err, &bad) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestANewerSubscriptionReplacesTheOlder(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		older := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.open()
		p.attach("e", 0)
		older.attached(protocol.ModeSnapshot)
		newer := read(t, t.Context(), c.Subscribe("by-name", SubscribeOptions{}))
		p.attach("e", 0)
		newer.attached(protocol.ModeSnapshot)
		if err := older.ended(); !errors.Is(err, ErrReplaced) {
			t.Errorf("the older ended with %v", err)
		}
		p.nothing() // an unsubscribe would end the newer
		p.events(1, 2)
		newer.seqs(1, 2)
	})
}

func TestABadLineCostsTheConnectionOnceThenTheSubscription(t *testing.T) {
	for name, bad := range map[string]string{
		"of the session": `{"session":"s1","seq":"six","type":"notice"}`,
		"of nobody":      `{"garbage`,
		"not a message":  `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
				r := read(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
				p := f.open()
				p.attach("e", 0)
				r.attached(protocol.ModeSnapshot)
				for from := uint64(1); from <= 6; from += 5 { // each time at another place: it helped
					p.events(from, from+4)
					p.say(bad + strings.Repeat(" ", 600))
					p.ended()
					r.seqs(from, from+4)
					p = f.open()
					if at := p.attach("e", 0); at == nil || at.Seq != from+4 {
						t.Errorf("resumed from %v", at)
					}
					r.attached(protocol.ModeResume)
				}
				p.say(bad)
				var e *DecodeError
				if err := r.ended(); !errors.As(err, &e) || len(e.Bytes) == 0 || len(e.Bytes) > 512 {
					t.Errorf("ended with %v", err)
				}
				f.open().nothing()
			})
		})
	}
}

// TestASubscriptionGivenUpDoesNotEndTheNewer: the server hears of the newer, then that the session is not followed any more.
func TestASubscriptionGivenUpDoesNotEndTheNewer(t *testing.T) {
	for _, answered := range []bool{true, false} {
		inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
			older := c.Subscribe("a-name", SubscribeOptions{})
			read(t, t.Context(), older)
			p := f.open()
			if answered {
				p.attach("e", 0)
			}
			newer := read(t, t.Context(), c.Subscribe("another-name", SubscribeOptions{}))
			synctest.Wait()
			older.Close()
			synctest.Wait()
			if !answered {
				p.attach("e", 0)
			}
			p.attach("e", 0)
			p.next(protocol.DoUnsubscribe)
			p.attach("e", 0)
			newer.attached(protocol.ModeSnapshot)
			p.events(1, 2)
			newer.seqs(1, 2)
			p.nothing()
		})
	}
}
