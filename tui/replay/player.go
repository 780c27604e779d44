package replay

import (
	"context"
	"iter"
	"sort"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// epoch is the epoch of all positions of a recording.
const epoch = "replay"

// maxLate is how late an event may be before the clock is set back, as after a suspension.
const maxLate = time.Second

// turnStart is the time from the start of a turn in which it has just begun.
const turnStart = 2 * time.Second

// speeds are the speeds in order. 0 is as fast as possible.
var speeds = []float64{0.25, 0.5, 1, 2, 4, 8, 16, 0}

// recordedPace is the index of speed 1.
const recordedPace = 2

// A Player plays a recording. It implements [remote.Player].
type Player struct {
	recording *Recording
	offsets   []time.Duration // of the events, from the start
	wake      chan struct{}   // wakes Updates after a change; its capacity is 1

	mu       sync.Mutex // guards the rest
	next     int        // index of the next event to publish
	goal     int        // the events before it are published without pauses
	restart  bool       // Updates starts again from the first event
	catching bool       // Updates has started again and not reached the goal
	paused   bool
	speed    int // index in speeds
	clock    clock
}

// clock relates a time to an offset in the recording.
type clock struct {
	at     time.Time
	offset time.Duration
}

var _ remote.Player = (*Player)(nil)

// NewPlayer returns a player at the start of a recording, which must have events. Pauses longer
// than idle are shortened to it, unless it is 0.
func NewPlayer(r *Recording, idle time.Duration) *Player {
	return &Player{
		recording: r, offsets: r.offsets(idle), wake: make(chan struct{}, 1),
		restart: true, speed: recordedPace, clock: clock{at: time.Now()},
	}
}

// Updates implements [remote.Session].
func (p *Player) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		if !yield(remote.Update{Conn: &remote.Conn{State: remote.Connected}}) {
			return
		}
		timer := time.NewTimer(0)
		defer timer.Stop()
		for ctx.Err() == nil {
			u, wait := p.step()
			if u != nil {
				if !yield(*u) {
					return
				}
				continue
			}
			var due <-chan time.Time
			if wait > 0 {
				timer.Reset(wait)
				due = timer.C
			}
			select {
			case <-due:
			case <-p.wake:
			case <-ctx.Done():
			}
		}
	}
}

// step returns the next update, or how long to wait for it: 0 waits for a change.
func (p *Player) step() (u *remote.Update, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.restart:
		p.restart, p.catching, p.next = false, true, 0
		return p.attached(), 0
	case p.next < p.goal:
		return p.publish(), 0
	case p.catching:
		p.catching = false
		p.clock.at = time.Now()
		caughtUp := &protocol.Event{Session: p.recording.events[0].Session, Type: protocol.CaughtUp}
		return &remote.Update{Event: caughtUp}, 0
	case p.paused || p.next == len(p.offsets):
		return nil, 0
	}
	if speed := speeds[p.speed]; speed > 0 {
		pause := float64(p.offsets[p.next] - p.clock.offset)
		wait = time.Until(p.clock.at.Add(time.Duration(min(pause/speed, 1<<62))))
		if wait > 0 {
			return nil, wait
		}
	}
	u = p.publish()
	if p.goal = p.next; wait < -maxLate || speeds[p.speed] == 0 {
		p.clock = clock{time.Now(), p.offsets[p.next-1]}
	}
	return u, 0
}

// attached returns the update that starts from the first event.
func (p *Player) attached() *remote.Update {
	state := p.recording.start()
	end := protocol.Position{Epoch: epoch, Seq: state.Seq}
	if p.goal > 0 {
		end.Seq = p.recording.events[p.goal-1].Seq
	}
	return &remote.Update{Attached: &protocol.SubscribeResult{
		Session: state.Session, Mode: protocol.ModeSnapshot,
		After: protocol.Position{Epoch: epoch, Seq: state.Seq}, Position: end,
		Snapshot: &protocol.Snapshot{Epoch: epoch, State: state},
	}}
}

// publish returns the update with the next event. The receiver owns it.
func (p *Player) publish() *remote.Update {
	e := p.recording.events[p.next]
	p.next++
	return &remote.Update{Event: &e}
}

// Do implements [remote.Session]. There are no older turns; every other command fails.
func (p *Player) Do(_ context.Context, verb protocol.Verb, _, _ any) error {
	if verb == protocol.DoHistory {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnsupported, "not possible in a replay: it sends nothing to the agent")
}

// Playback implements [remote.Player].
func (p *Player) Playback() remote.Playback {
	p.mu.Lock()
	defer p.mu.Unlock()
	return remote.Playback{
		Turn: p.turn(), Turns: len(p.recording.turns), At: p.offset(), Length: p.offsets[len(p.offsets)-1],
		Speed: speeds[p.speed], Paused: p.paused, Ended: p.ended(),
	}
}

// Now implements [remote.Player].
func (p *Player) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := max(p.goal-1, 0)
	return p.recording.events[last].Time.Add(p.offset() - p.offsets[last])
}

// TogglePause implements [remote.Player].
func (p *Player) TogglePause() {
	p.change(func() {
		if p.ended() {
			p.paused = false
			p.seek(0)
			return
		}
		p.paused = !p.paused
	})
}

// ChangeSpeed implements [remote.Player].
func (p *Player) ChangeSpeed(steps int) {
	p.change(func() { p.speed = max(0, min(p.speed+steps, len(speeds)-1)) })
}

// SeekTurn implements [remote.Player].
func (p *Player) SeekTurn(by int) {
	p.change(func() {
		turns := p.recording.turns
		turn := p.turn() + by
		if by < 0 && p.turn() > 0 && p.offset()-p.offsets[turns[p.turn()-1]] > turnStart {
			turn++
		}
		switch {
		case turn < 1:
			p.seek(0)
		case turn > len(turns):
			p.seek(len(p.offsets))
		default:
			p.seek(turns[turn-1] + 1)
		}
	})
}

// SeekStart implements [remote.Player].
func (p *Player) SeekStart() { p.change(func() { p.seek(0) }) }

// SeekEnd implements [remote.Player].
func (p *Player) SeekEnd() { p.change(func() { p.seek(len(p.offsets)) }) }

// change changes the playback and wakes Updates.
func (p *Player) change(f func()) {
	p.mu.Lock()
	p.clock = clock{time.Now(), p.offset()}
	f()
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// seek moves the position behind the first goal events.
func (p *Player) seek(goal int) {
	p.goal = goal
	p.restart = p.restart || goal < p.next
	p.clock.offset = p.offsets[max(goal-1, 0)]
}

// offset returns the position in the recording. The next event limits it.
func (p *Player) offset() time.Duration {
	offset, speed := p.clock.offset, speeds[p.speed]
	if p.goal == len(p.offsets) {
		return p.offsets[len(p.offsets)-1]
	}
	if !p.paused && !p.catching && !p.restart && p.next == p.goal && speed > 0 {
		passed := float64(max(0, time.Since(p.clock.at))) * speed
		offset += time.Duration(min(passed, float64(p.offsets[p.goal]-offset)))
	}
	return min(offset, p.offsets[p.goal])
}

// ended reports whether the position is at the end.
func (p *Player) ended() bool { return p.goal == len(p.offsets) }

// turn returns the number of turns that have started.
func (p *Player) turn() int {
	return sort.Search(len(p.recording.turns), func(i int) bool { return p.recording.turns[i] >= p.goal })
}
