package replay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// follower applies the updates of a player.
type follower struct {
	*Player
	mu       sync.Mutex // guards the rest
	state    *protocol.State
	live     bool // caught up
	resets   int
	received int // events since the last reset
}

// follow plays a recording in a goroutine that ends with the test. It needs a synctest bubble.
func follow(t *testing.T, r *Recording, idle time.Duration) *follower {
	f := &follower{Player: NewPlayer(r, idle)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for u := range f.Updates(ctx) {
			if err := f.apply(u); err != nil {
				t.Error(err)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return f
}

func (f *follower) apply(u remote.Update) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case u.Attached != nil:
		f.state, f.live, f.received = u.Attached.Snapshot.State, false, 0
		f.resets++
	case u.Event != nil && u.Event.Type == protocol.CaughtUp:
		f.live = true
	case u.Event != nil:
		f.received++
		return f.state.Apply(u.Event)
	}
	return nil
}

// mustBeAt fails unless so many events were applied and the playback is at the position.
func (f *follower) mustBeAt(t *testing.T, events, turn int, at time.Duration) {
	t.Helper()
	synctest.Wait()
	p := f.Playback()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.received != events || p.Turn != turn || p.At != at || !f.live {
		t.Errorf("%d events, turn %d, %v, live %v; want %d events, turn %d, %v", f.received, p.Turn, p.At, f.live,
			events, turn, at)
	}
}

// play runs a test with a player of two turns: 17 events, one each second. The turns start at 1 s
// and 9 s.
func play(t *testing.T, test func(t *testing.T, f *follower)) {
	synctest.Test(t, func(t *testing.T) { test(t, follow(t, record(t, twoTurns()), 0)) })
}

func TestPlayerKeepsThePace(t *testing.T) {
	play(t, func(t *testing.T, f *follower) {
		f.mustBeAt(t, 1, 0, 0)
		time.Sleep(2500 * time.Millisecond)
		f.mustBeAt(t, 3, 1, 2500*time.Millisecond)
		time.Sleep(time.Hour)
		f.mustBeAt(t, 17, 2, 16*time.Second)
		if p := f.Playback(); !p.Ended || p.Length != 16*time.Second || p.Turns != 2 {
			t.Errorf("at the end: %+v", p)
		}
		if f.resets != 1 {
			t.Errorf("the session was reset %d times", f.resets)
		}
	})
}

func TestPlayerPauses(t *testing.T) {
	play(t, func(t *testing.T, f *follower) {
		time.Sleep(2500 * time.Millisecond)
		f.TogglePause()
		time.Sleep(time.Hour)
		f.mustBeAt(t, 3, 1, 2500*time.Millisecond)
		f.TogglePause()
		time.Sleep(499 * time.Millisecond)
		f.mustBeAt(t, 3, 1, 2999*time.Millisecond)
		time.Sleep(time.Millisecond)
		f.mustBeAt(t, 4, 1, 3*time.Second)
	})
}

func TestPlayerChangesSpeed(t *testing.T) {
	play(t, func(t *testing.T, f *follower) {
		time.Sleep(1500 * time.Millisecond)
		f.ChangeSpeed(1)
		time.Sleep(time.Second)
		f.mustBeAt(t, 4, 1, 3500*time.Millisecond)
		f.ChangeSpeed(-9)
		time.Sleep(2 * time.Second)
		f.mustBeAt(t, 5, 1, 4*time.Second)
		if p := f.Playback(); p.Speed != 0.25 {
			t.Errorf("slowest speed %v", p.Speed)
		}
		f.ChangeSpeed(9)
		f.mustBeAt(t, 17, 2, 16*time.Second)
	})
}

func TestPlayerSeeksTurns(t *testing.T) {
	play(t, func(t *testing.T, f *follower) {
		f.SeekTurn(1)
		f.mustBeAt(t, 2, 1, time.Second)
		f.SeekTurn(1)
		f.mustBeAt(t, 10, 2, 9*time.Second)
		time.Sleep(time.Second)
		f.mustBeAt(t, 11, 2, 10*time.Second)
		f.SeekTurn(-1) // the turn has just begun
		f.mustBeAt(t, 2, 1, time.Second)
		time.Sleep(3 * time.Second)
		f.SeekTurn(-1)
		f.mustBeAt(t, 2, 1, time.Second)
		f.SeekTurn(-1)
		f.mustBeAt(t, 1, 0, 0)
		f.SeekTurn(1)
		f.SeekTurn(1)
		f.SeekTurn(1)
		f.mustBeAt(t, 17, 2, 16*time.Second)
		f.SeekTurn(-1)
		f.mustBeAt(t, 10, 2, 9*time.Second)
		f.SeekStart()
		f.mustBeAt(t, 1, 0, 0)
		f.SeekEnd()
		f.mustBeAt(t, 17, 2, 16*time.Second)
		f.TogglePause() // starts again
		time.Sleep(1500 * time.Millisecond)
		f.mustBeAt(t, 2, 1, 1500*time.Millisecond)
	})
}

func TestPlayerSeeksWhilePaused(t *testing.T) {
	play(t, func(t *testing.T, f *follower) {
		f.TogglePause()
		f.SeekEnd()
		f.SeekTurn(-1)
		time.Sleep(time.Hour)
		f.mustBeAt(t, 10, 2, 9*time.Second)
	})
}

func TestSeekGivesTheStateOfTheEventsBefore(t *testing.T) {
	r := record(t, twoTurns())
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, r, 0)
		f.TogglePause()
		for _, turn := range []int{2, 1, 2} {
			f.SeekStart()
			for range turn {
				f.SeekTurn(1)
			}
			synctest.Wait()
			want := r.start()
			for i := range r.events[:r.turns[turn-1]+1] {
				if err := want.Apply(&r.events[i]); err != nil {
					t.Fatal(err)
				}
			}
			f.mu.Lock()
			if got := string(protocol.MustEncode(f.state)); got != string(protocol.MustEncode(want)) {
				t.Errorf("turn %d: got %s\nwant %s", turn, got, protocol.MustEncode(want))
			}
			f.mu.Unlock()
		}
	})
}

func TestPlayerShortensPauses(t *testing.T) {
	j := twoTurns()
	j.At = j.At.Add(time.Hour)
	j.UserMessage(tuitest.Ada, "m3", "question 3")
	r := record(t, j)
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, r, 2*time.Second)
		time.Sleep(17900 * time.Millisecond)
		f.mustBeAt(t, 17, 2, 17900*time.Millisecond)
		time.Sleep(100 * time.Millisecond)
		f.mustBeAt(t, 18, 3, 18*time.Second)
	})
}

func TestPlayerTellsTheTimeOfTheRecording(t *testing.T) {
	play(t, func(t *testing.T, f *follower) {
		time.Sleep(2500 * time.Millisecond)
		want := f.recording.events[2].Time.Add(500 * time.Millisecond)
		if now := f.Now(); !now.Equal(want) {
			t.Errorf("got %v, want %v", now, want)
		}
	})
}

func TestPlayerContinuesAfterASuspension(t *testing.T) {
	play(t, func(t *testing.T, f *follower) {
		time.Sleep(500 * time.Millisecond)
		f.Player.mu.Lock()
		f.clock.at = f.clock.at.Add(-5 * time.Second) // the timer comes so late
		f.Player.mu.Unlock()
		f.wake <- struct{}{}
		f.mustBeAt(t, 2, 1, time.Second)
		time.Sleep(time.Second)
		f.mustBeAt(t, 3, 1, 2*time.Second)
	})
}

func TestPlayerSendsNoCommand(t *testing.T) {
	p := NewPlayer(record(t, twoTurns()), 0)
	for _, c := range protocol.Commands {
		err := p.Do(t.Context(), c.Verb, nil, nil)
		var e *protocol.Error
		refused := errors.As(err, &e) && e.Code == protocol.CodeUnsupported
		if refused == (c.Verb == protocol.DoHistory) {
			t.Errorf("%s: error %v", c.Verb, err)
		}
	}
}

func TestUpdatesEndWithTheReceiver(t *testing.T) {
	p := NewPlayer(record(t, twoTurns()), 0)
	p.SeekEnd()
	received := 0
	for range p.Updates(t.Context()) {
		if received++; received == 3 {
			break
		}
	}
	if received != 3 {
		t.Errorf("%d updates", received)
	}
}

func BenchmarkSeek(b *testing.B) {
	r := new(Recording)
	for i := range 100_000 {
		e := protocol.Event{
			Session: "s", Seq: uint64(i + 1), Type: protocol.Notice,
			Data: protocol.MustEncode(protocol.NoticeData{Message: fmt.Sprint("notice ", i)}),
		}
		if err := r.Add(&e); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		p := NewPlayer(r, 0)
		p.SeekEnd()
		for range r.Len() + 2 {
			p.step()
		}
	}
}
