package wsclient

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

func TestAcksAreCumulativeAndOnlyForConsumedEvents(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		p.sendDeltas(1, 200)
		r.expectAttached(protocol.ModeSnapshot)
		r.expectEvents(1, 10)
		time.Sleep(ackDelay) // the consumer has taken ten and is offered the eleventh
		r.expectEvents(11, 11)
		if seq, n := p.newAcks(); seq != 11 || n != 1 {
			t.Errorf("acked %d by %d acks", seq, n)
		}
		r.expectEvents(12, 200)
		if seq, n := p.newAcks(); n != 0 {
			t.Errorf("acked %d by %d acks", seq, n)
		}
		time.Sleep(ackDelay)
		if seq, n := p.newAcks(); seq != 200 || n != 1 {
			t.Errorf("acked %d by %d acks", seq, n)
		}
		if s := c.State(); s.Phase != PhaseOpen {
			t.Errorf("state %+v", s)
		}
	})
}

func TestEventsOfAnOldEpochAreNotAcknowledgedInTheNew(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("old", 0)
		p.sendDeltas(1, 100)
		synctest.Wait()
		_ = p.ws.CloseNow()
		p = f.acceptHello()
		p.answerSubscribe("new", 2)
		synctest.Wait()
		r.expectAttached(protocol.ModeSnapshot)
		r.expectEvents(1, 100)
		time.Sleep(time.Second)
		r.expectAttached(protocol.ModeReset)
		if seq, n := p.newAcks(); n != 0 {
			t.Errorf("acked %d", seq)
		}
	})
}

func TestTheSameSeqOfANewEpochIsAcknowledged(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		for _, epoch := range []string{"old", "new"} {
			p.answerSubscribe(epoch, 0)
			r.next()
			p.sendDeltas(1, 4)
			r.expectEvents(1, 4)
			time.Sleep(time.Second)
			if seq, _ := p.newAcks(); seq != 4 {
				t.Errorf("acked %d of the %s log", seq, epoch)
			}
			_ = p.ws.CloseNow()
			p = f.acceptHello()
		}
	})
}

func TestHalfAWindowIsAcknowledgedAtOnce(t *testing.T) {
	withFakeServer(t, Options{Window: 1000}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		r.expectAttached(protocol.ModeSnapshot)
		p.sendDeltas(1, 10)
		r.expectEvents(1, 10)
		if seq, n := p.newAcks(); seq < 8 || n < 2 {
			t.Errorf("acked %d by %d acks", seq, n)
		}
	})
}

func TestAServerWhoseWindowIsUsedUpNeedNotWait(t *testing.T) {
	withFakeServer(t, Options{Window: 1500}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		r.expectAttached(protocol.ModeSnapshot)
		before := time.Now()
		p.sendDeltas(1, 11)
		r.expectEvents(1, 11)
		if seq, n := p.newAcks(); seq != 11 || n != 2 || time.Since(before) != 0 {
			t.Errorf("acked %d by %d acks after %v", seq, n, time.Since(before))
		}
	})
}

func TestALargeEventIsAcknowledgedAtOnceWhateverTheWindow(t *testing.T) {
	withFakeServer(t, Options{Window: 16 << 20}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		r.expectAttached(protocol.ModeSnapshot)
		p.write(string(delta(20_000, 1).AppendJSON(nil)))
		before := time.Now()
		if it := r.next(); it.Event.Seq != 20_000 || len(it.Raw) < ackIdleBytes {
			t.Fatalf("event %d of %d bytes", it.Event.Seq, len(it.Raw))
		}
		if seq, n := p.newAcks(); seq != 20_000 || n != 1 || time.Since(before) != 0 {
			t.Errorf("acked %d by %d acks after %v", seq, n, time.Since(before))
		}
	})
}

func TestWithoutAWindowNothingIsAcknowledged(t *testing.T) {
	withFakeServer(t, Options{Window: -1}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		if p.answerSubscribe("e", 0); c.Hello().Window != 0 {
			t.Errorf("window %d", c.Hello().Window)
		}
		if got := c.window.Load(); got != 0 {
			t.Errorf("a window of %d is acknowledged", got)
		}
		p.sendDeltas(1, 200)
		r.expectAttached(protocol.ModeSnapshot)
		r.expectEvents(1, 200)
		time.Sleep(time.Second)
		if _, n := p.newAcks(); n != 0 {
			t.Errorf("%d acks", n)
		}
	})
}

func TestASlowConsumerDelaysNoOther(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		slow := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		var sent uint64
		windows := 0
		p := f.acceptHello()
		for range 6 {
			synctest.Wait()
			if len(p.commands) > 0 { // fill the window on each new connection
				p.answerSubscribe("e", 0)
				for bytes := 0; bytes < protocol.DefaultWindow; bytes += 64 * 150 {
					p.sendDeltas(sent+1, sent+64)
					sent += 64
				}
				windows++
			}
			errs := make(chan error, 1)
			go func() { errs <- c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil) }()
			p.answer(p.nextCommand(protocol.DoList), protocol.ListResult{})
			if err := <-errs; err != nil {
				t.Error(err)
			}
			_ = p.ws.CloseNow()
			p = f.acceptHello()
		}
		if windows < 2 || windows > 4 {
			t.Errorf("%d windows were taken in for a consumer that takes nothing", windows)
		}
		slow.expectAttached(protocol.ModeSnapshot)
		last := uint64(0)
		for last < sent {
			switch it := slow.next(); {
			case it.Attached != nil:
			case it.Event.Seq != last+1:
				t.Fatalf("event %d after %d", it.Event.Seq, last)
			default:
				last++
			}
		}
		if at := p.answerSubscribe("e", 0); at.Seq != sent { // resubscribes once there is room
			t.Errorf("resumed from %v, want %d", at, sent)
		}
		slow.expectAttached(protocol.ModeResume)
	})
}

func TestWithoutAcksAFullInboxStopsTheReading(t *testing.T) {
	withFakeServer(t, Options{Window: -1}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		r.expectAttached(protocol.ModeSnapshot)
		const n = 40_000 // about 6 MB
		sent := make(chan uint64, n)
		go func() {
			defer close(sent)
			for seq := uint64(1); seq <= n; seq += 100 {
				p.sendDeltas(seq, seq+99)
				sent <- seq + 99
			}
		}()
		time.Sleep(time.Hour) // paused reading does not count as silence
		if got := len(sent) * 100; got < 5_000 || got > 15_000 {
			t.Errorf("%d events were read ahead", got)
		}
		if s := c.State(); s.Phase != PhaseOpen {
			t.Fatalf("state %+v", s)
		}
		r.expectEvents(1, n)
		for range sent {
		}
		time.Sleep(time.Hour)
		if s := c.State(); s.Phase != PhaseOpen || len(f.dialTimes()) != 1 {
			t.Errorf("state %+v", s)
		}
	})
}

func TestAGapInAFullInboxIsAskedForWhenThereIsRoom(t *testing.T) {
	withFakeServer(t, Options{Window: -1}, func(t *testing.T, f *fakeServer, c *Client) {
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		r.expectAttached(protocol.ModeSnapshot)
		const n = 6000 // more than half an inbox
		for seq := uint64(1); seq <= n; seq += 100 {
			p.sendDeltas(seq, seq+99)
		}
		p.sendDeltas(n+2, n+2)
		p.sendDeltas(n+3, n+3)
		p.expectNoCommand()
		r.expectEvents(1, n)
		if at := p.answerSubscribe("e", 0); at.Seq != n {
			t.Errorf("resubscribed from %v", at)
		}
		p.sendDeltas(n+1, n+3)
		r.expectAttached(protocol.ModeResume)
		r.expectEvents(n+1, n+3)
	})
}

func TestAFullInboxWithoutAReaderStopsNothing(t *testing.T) {
	withFakeServer(t, Options{Window: -1}, func(t *testing.T, f *fakeServer, c *Client) {
		ctx, cancel := context.WithCancel(t.Context())
		r := readItems(t, ctx, c.Subscribe("s1", SubscribeOptions{}))
		p := f.acceptHello()
		p.answerSubscribe("e", 0)
		r.expectAttached(protocol.ModeSnapshot)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for seq := uint64(1); seq <= 20_000; seq += 100 {
				p.sendDeltas(seq, seq+99)
			}
		}()
		synctest.Wait()
		select {
		case <-sent:
			t.Fatal("the inbox was never full")
		default:
		}
		cancel()
		<-sent
		p.nextCommand(protocol.DoUnsubscribe)
		if err := r.waitEnd(); err != nil {
			t.Errorf("ended with %v", err)
		}
		time.Sleep(time.Minute)
		if s := c.State(); s.Phase != PhaseOpen || len(f.dialTimes()) != 1 {
			t.Errorf("state %+v", s)
		}
	})
}

func TestAFullInboxHasRoomAgainOnceHalfIsTaken(t *testing.T) {
	b := newInbox(0)
	event := &protocol.Event{Seq: 1}
	full := func() bool { return b.put(Item{Event: event}, 64<<10) }
	n := 1
	for !full() {
		n++
	}
	if int64(n-1)*64<<10 > b.bound || int64(n)*64<<10 <= b.bound || !full() || b.hasRoom() {
		t.Errorf("full after %d", n)
	}
	n++
	for reports := 0; n > 0; n-- {
		got := b.take()
		if half := b.bytes <= b.bound/2; !got.ok || got.room != (half && reports == 0) || b.hasRoom() != half {
			t.Errorf("with %d bytes left room is %v, of %d", b.bytes, got.room, b.bound)
		}
		if got.room {
			reports++
		}
		if b.full != (b.bytes > b.bound/2) {
			t.Errorf("with %d bytes left full is %v", b.bytes, b.full)
		}
	}
	if got := b.take(); got.ok || got.over {
		t.Errorf("an empty inbox gave %+v", got)
	}
}

// Subscriptions share the window: many with a little each acknowledge before it is closed.
func TestSubscriptionsAcknowledgeBeforeTheirWindowCloses(t *testing.T) {
	const window, size = 64 << 10, 1 << 10
	var owed atomic.Int64
	batches := make([]*ackBatch, 100)
	for i := range batches {
		batches[i] = newAckBatch(&owed)
		defer batches[i].reset()
	}
	e := &entry{Item: Item{Event: &protocol.Event{Seq: 1, Type: protocol.TextDelta}}, bytes: size}
	unacknowledged, acks := make([]int64, len(batches)), 0
	for n := range 1000 {
		i := n % len(batches)
		unacknowledged[i] += size
		if batches[i].add(e, window) {
			unacknowledged[i] = 0
			batches[i].reset()
			acks++
		}
		var sum int64
		for _, bytes := range unacknowledged {
			sum += bytes
		}
		if sum > window/2 {
			t.Fatalf("after %d events %d bytes of a window of %d wait for an acknowledgement", n+1, sum, window)
		}
	}
	for _, b := range batches {
		b.reset()
	}
	if acks == 0 || owed.Load() != 0 {
		t.Errorf("%d acks, %d bytes owed after the end", acks, owed.Load())
	}
}
