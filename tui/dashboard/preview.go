package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/transcriptview"
)

const (
	peekInterval    = 500 * time.Millisecond // between two peeks at a session that has changed
	peekIntervalRun = 2 * time.Second        // between two peeks at a running one that has not
	peekTimeout     = 10 * time.Second
	maxPeekBytes    = 4 << 20 // of the running turn; the rest is left out
)

// preview shows the end of the selected session. An open one is shown as it is. At another the dashboard
// peeks: it subscribes until the session is caught up, and again when it has changed. One peek runs at a time.
type preview struct {
	on      bool
	session string // that was peeked at
	seq     uint64 // of the session at the last peek
	due     time.Time
	waking  bool               // a timer for due is running
	cancel  context.CancelFunc // of the running peek, or nil
	ended   chan struct{}      // closed when that is over
	shown   peekShown
	err     string
}

// peekShown is what the peeks have shown.
type peekShown struct {
	view  *transcriptview.View // nil: nothing yet
	state *protocol.State      // at the last peek
	past  []*protocol.Event    // of the last finished turn
	last  string               // that turn
}

// peekResult is what one peek has seen.
type peekResult struct {
	state *protocol.State
	after uint64            // seq that the running turn begins after
	last  string            // turn that ended before
	past  []*protocol.Event // of that turn, unless it was known
	turn  []*protocol.Event // running
}

// peek peeks at the selected session when the preview knows too little of it.
func (d *Dashboard) peek() tea.Cmd {
	p := &d.preview
	if !p.on && p.cancel == nil {
		return nil
	}
	s, ok := d.current()
	if p.session != s.Session || !p.on || d.covered {
		p.stop()
	}
	switch {
	case !p.on || d.covered || !ok || d.Open.Transcript(s.Session) != nil || p.cancel != nil:
		return nil
	case p.session != s.Session:
		*p = preview{on: true, session: s.Session, waking: p.waking, ended: p.ended}
	case p.seq == s.Seq && s.Status != protocol.Running:
		return nil
	default:
		due := p.due
		if p.seq == s.Seq {
			due = due.Add(peekIntervalRun - peekInterval)
		}
		if early := due.Sub(d.Now()); early > 0 {
			return d.wakePreview(early)
		}
	}
	return d.startPeek(&s)
}

func (d *Dashboard) startPeek(s *protocol.Summary) tea.Cmd {
	p := &d.preview
	ctx, cancel := context.WithTimeout(d.Tasks.Context(), peekTimeout)
	before, closing, ended := p.ended, d.Open.Closing(s.Session), make(chan struct{})
	p.seq, p.cancel, p.ended = s.Seq, cancel, ended
	session, known, began := d.Server.Session(s.Session), p.shown.last, d.Now()
	return d.requests.run(func(context.Context) doneFunc {
		defer close(ended)
		defer cancel()
		var result *peekResult
		err := errNoAnswer
		if task.Wait(ctx, before) && task.Wait(ctx, closing) {
			result, err = peekAt(ctx, session, known)
		}
		return func() (tea.Cmd, any) {
			if p := &d.preview; p.ended == ended {
				p.cancel = nil
				p.due = d.Now().Add(max(peekInterval, 10*d.Now().Sub(began))) // slow servers are asked less
				d.showPeek(result, err)
			}
			return nil, nil
		}
	})
}

var errNoAnswer = errors.New("the server does not answer")

// stop cancels the running peek. The session may be subscribed to again when ended is closed.
func (p *preview) stop() {
	if p.cancel != nil {
		p.cancel()
		p.cancel, p.session = nil, ""
	}
}

// StopPreview cancels the running peek and returns a channel that is closed when it is over; nil when there
// was none.
func (d *Dashboard) StopPreview() <-chan struct{} {
	d.preview.stop()
	return d.preview.ended
}

func (d *Dashboard) wakePreview(after time.Duration) tea.Cmd {
	if d.preview.waking {
		return nil
	}
	d.preview.waking = true
	return d.After(after, doneFunc(func() (tea.Cmd, any) {
		d.preview.waking = false
		return nil, nil
	}))
}

// peekAt subscribes to a session until it is caught up, and requests its last turn unless that is known.
func peekAt(ctx context.Context, s remote.Session, known string) (*peekResult, error) {
	result, err := catchUp(ctx, s)
	if err != nil || result.last == known {
		return result, err
	}
	var page protocol.HistoryResult
	if err := s.Do(ctx, protocol.DoHistory, protocol.HistoryData{Before: result.after + 1, Limit: 1}, &page); err != nil {
		return result, err
	}
	for _, raw := range page.Events {
		e := new(protocol.Event)
		if err := json.Unmarshal(raw, e); err != nil {
			return result, fmt.Errorf("last turn: %w", err)
		}
		result.past = append(result.past, e)
	}
	return result, nil
}

// catchUp subscribes to a session until it is caught up.
func catchUp(ctx context.Context, s remote.Session) (*peekResult, error) {
	var result *peekResult
	size := 0
	for u := range s.Updates(ctx) {
		switch {
		case u.Conn != nil && u.Conn.State == remote.Offline:
			return nil, errors.New(u.Conn.Reason)
		case u.Attached != nil && u.Attached.Snapshot != nil:
			result = &peekResult{state: u.Attached.Snapshot.State, after: u.Attached.After.Seq}
			if last := result.state.Last; last != nil {
				result.last = last.Turn
			}
		case u.Attached != nil && result == nil:
			result = &peekResult{state: &protocol.State{}}
		case u.Event == nil || result == nil:
		case u.Event.Type == protocol.CaughtUp:
			return result, nil
		case u.Event.Durable():
			if size += len(u.Event.Data); size > maxPeekBytes {
				return result, nil
			}
			if err := result.state.Apply(u.Event); err != nil {
				return nil, err
			}
			result.turn = append(result.turn, u.Event)
		}
	}
	if ctx.Err() != nil {
		return nil, errNoAnswer
	}
	return nil, errors.New("the session cannot be followed")
}

// showPeek takes the result of a peek.
func (d *Dashboard) showPeek(result *peekResult, err error) {
	p := &d.preview
	p.err = ""
	if err != nil {
		p.err = remote.ErrorText(err)
	}
	if result == nil {
		return
	}
	d.list.MarkSeen(p.session)
	p.shown.state = result.state
	if result.past != nil {
		p.shown.past, p.shown.last = result.past, result.last
	}
	p.shown.view = transcriptview.New(d.Styles)
	for _, e := range slices.Concat(p.shown.past, result.turn) {
		if err := p.shown.view.Apply(e); err != nil {
			p.err = err.Error()
			return
		}
	}
}

func (p *preview) restyle() {
	if p.shown.view != nil {
		p.shown.view.List.Restyle()
	}
}
