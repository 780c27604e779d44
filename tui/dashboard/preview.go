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
	peekInterval        = 500 * time.Millisecond // between two peeks at a session that has changed
	peekIntervalRunning = 2 * time.Second        // between two peeks at a running one that has not
	peekTimeout         = 10 * time.Second
	maxPeekBytes        = 4 << 20 // of the running turn; the rest is left out
)

// preview shows the end of the selected session. An open one is shown as it is. At another the dashboard
// peeks: it subscribes until the session is caught up, and again when it has changed. One peek runs at a time.
type preview struct {
	on           bool
	session      string // that was peeked at
	seq          uint64 // of the session at the last peek
	due          time.Time
	timerRunning bool               // a timer for due is running
	cancel       context.CancelFunc // of the running peek, or nil
	done         chan struct{}      // closed when that is over
	content      previewContent
	err          string
}

// previewContent is what the peeks have shown.
type previewContent struct {
	view       *transcriptview.View // nil: nothing yet
	state      *protocol.State      // at the last peek
	lastEvents []*protocol.Event    // of the last finished turn
	lastTurn   string               // that turn
}

// peekResult is what one peek has seen.
type peekResult struct {
	state         *protocol.State
	after         uint64            // seq that the running turn begins after
	lastTurn      string            // turn that ended before
	lastEvents    []*protocol.Event // of that turn, unless it was known
	runningEvents []*protocol.Event // running
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
		*p = preview{on: true, session: s.Session, timerRunning: p.timerRunning, done: p.done}
	case p.seq == s.Seq && s.Status != protocol.Running:
		return nil
	default:
		due := p.due
		if p.seq == s.Seq {
			due = due.Add(peekIntervalRunning - peekInterval)
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
	before, closing, ended := p.done, d.Open.Closing(s.Session), make(chan struct{})
	p.seq, p.cancel, p.done = s.Seq, cancel, ended
	session, known, began := d.Server.Session(s.Session), p.content.lastTurn, d.Now()
	return d.requests.run(func(context.Context) doneFunc {
		defer close(ended)
		defer cancel()
		var result *peekResult
		err := errNoAnswer
		if task.Wait(ctx, before) && task.Wait(ctx, closing) {
			result, err = peekSession(ctx, session, known)
		}
		return func() (tea.Cmd, any) {
			if p := &d.preview; p.done == ended {
				p.cancel = nil
				p.due = d.Now().Add(max(peekInterval, 10*d.Now().Sub(began))) // slow servers are asked less
				d.applyPeek(result, err)
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
	return d.preview.done
}

func (d *Dashboard) wakePreview(after time.Duration) tea.Cmd {
	if d.preview.timerRunning {
		return nil
	}
	d.preview.timerRunning = true
	return d.After(after, doneFunc(func() (tea.Cmd, any) {
		d.preview.timerRunning = false
		return nil, nil
	}))
}

// peekSession subscribes to a session until it is caught up, and requests its last turn unless that is known.
func peekSession(ctx context.Context, s remote.Session, known string) (*peekResult, error) {
	result, err := catchUp(ctx, s)
	if err != nil || result.lastTurn == known {
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
		result.lastEvents = append(result.lastEvents, e)
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
				result.lastTurn = last.Turn
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
			result.runningEvents = append(result.runningEvents, u.Event)
		}
	}
	if ctx.Err() != nil {
		return nil, errNoAnswer
	}
	return nil, errors.New("the session cannot be followed")
}

// applyPeek takes the result of a peek.
func (d *Dashboard) applyPeek(result *peekResult, err error) {
	p := &d.preview
	p.err = ""
	if err != nil {
		p.err = remote.ErrorText(err)
	}
	if result == nil {
		return
	}
	d.list.MarkSeen(p.session)
	p.content.state = result.state
	if result.lastEvents != nil {
		p.content.lastEvents, p.content.lastTurn = result.lastEvents, result.lastTurn
	}
	p.content.view = transcriptview.New(d.Styles)
	for _, e := range slices.Concat(p.content.lastEvents, result.runningEvents) {
		if err := p.content.view.Apply(e); err != nil {
			p.err = err.Error()
			return
		}
	}
}

func (p *preview) restyle() {
	if p.content.view != nil {
		p.content.view.List.Restyle()
	}
}
