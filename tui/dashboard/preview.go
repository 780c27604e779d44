package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

const (
	peekInterval        = 500 * time.Millisecond // minimum delay if the session has changed
	peekIntervalRunning = 2 * time.Second        // delay if it is running and has not changed
	peekTimeout         = 10 * time.Second
	maxPeekBytes        = 4 << 20 // of the running turn; later events are left out
)

// preview shows the end of the selected session's transcript. For a session that is not open, the
// dashboard peeks: it subscribes until the session is caught up, then unsubscribes. It peeks again
// after changes. At most one peek runs at a time.
type preview struct {
	styles   *ui.Styles
	requests *requester
	open     OpenSessions
	now      func() time.Time

	on      bool
	chosen  bool               // the user has shown or hidden it
	session string             // ID of the session of the last peek
	seq     uint64             // its sequence number at that peek
	due     time.Time          // earliest time of the next peek
	wait    time.Time          // to update the preview again; zero: no wait
	cancel  context.CancelFunc // of the running peek, else nil
	done    chan struct{}      // closed when the latest peek has ended; nil before the first
	content previewContent
	end     previewEnd
	err     string
}

// previewContent is the content of the preview, collected by peeks.
type previewContent struct {
	view       *transcriptview.View // nil before the first result
	state      *protocol.State      // at the latest peek
	lastEvents []*protocol.Event    // of the last finished turn
	lastTurn   string               // ID of the last finished turn
}

// peekResult is the result of one peek.
type peekResult struct {
	state         *protocol.State
	after         uint64            // sequence number before the running turn
	lastTurn      string            // ID of the last finished turn
	lastEvents    []*protocol.Event // of lastTurn; nil if the caller knows them
	runningEvents []*protocol.Event // of the running turn
}

// shown reports whether the preview is shown: as the user wants, or by default if there is room.
func (p *preview) shown(width, height int) bool {
	if p.chosen {
		return p.on
	}
	return width >= previewBeside || width >= twoRowsBelow && height >= previewBelow
}

// toggle shows or hides the preview.
func (p *preview) toggle(width, height int) { p.on, p.chosen = !p.shown(width, height), true }

// update starts a peek at the selected session, which may be the zero value, if the preview is shown
// and out of date. If it is too early, the preview gets a deadline instead, after which update is
// called again. covered: a session covers the screen.
func (p *preview) update(s *protocol.Summary, shown, covered bool) tea.Cmd {
	p.on, p.wait = shown, time.Time{}
	if !p.on && p.cancel == nil {
		return nil
	}
	if p.session != s.Session || !p.on || covered {
		p.stop()
	}
	switch transcript, _ := p.open.Transcript(s.Session); {
	case !p.on || covered || s.Session == "" || p.requests.refuse(s.Session) != nil ||
		transcript != nil || p.cancel != nil:
		return nil
	case p.session != s.Session:
		p.session, p.seq, p.due, p.content, p.err = s.Session, 0, time.Time{}, previewContent{}, ""
	case p.seq == s.Seq && s.Status != protocol.Running:
		return nil
	default:
		due := p.due
		if p.seq == s.Seq {
			due = due.Add(peekIntervalRunning - peekInterval)
		}
		if due.After(p.now()) {
			p.wait = due
			return nil
		}
	}
	return p.start(s)
}

// start starts a task that peeks at a session after the previous peek has ended.
func (p *preview) start(s *protocol.Summary) tea.Cmd {
	ctx, cancel := context.WithTimeout(p.requests.Tasks.Context(), peekTimeout)
	previous, closing, done := p.done, p.open.Closing(s.Session), make(chan struct{})
	p.seq, p.cancel, p.done = s.Seq, cancel, done
	session, knownTurn, started := p.requests.server.Session(s.Session), p.content.lastTurn, p.now()
	var result *peekResult
	return p.requests.Run(func(context.Context) (err error) {
		defer close(done)
		defer cancel()
		if !task.Wait(ctx, previous) || !task.Wait(ctx, closing) {
			return errNoAnswer
		}
		result, err = peekSession(ctx, session, knownTurn)
		return err
	}, func(err error) tea.Cmd {
		if p.done == done {
			p.cancel = nil
			p.due = p.now().Add(max(peekInterval, 10*p.now().Sub(started))) // ask slow servers less often
			p.apply(result, err)
		}
		return nil
	})
}

var errNoAnswer = errors.New("the server does not answer")

// stop cancels the running peek. Wait for done before subscribing to the session.
func (p *preview) stop() {
	if p.cancel != nil {
		p.cancel()
		p.cancel, p.session = nil, ""
	}
}

// retry makes a peek that failed out of date.
func (p *preview) retry() {
	if p.err != "" {
		p.session = ""
	}
}

// Deadline implements [ui.Timed].
func (p *preview) Deadline() time.Time { return p.wait }

// Due implements [ui.Timed]. The update after the message starts the peek.
func (p *preview) Due() (cmd tea.Cmd, changed bool) {
	p.wait = time.Time{}
	return nil, false
}

// peekSession reads the state and the running turn of a session, and its last turn unless that is
// knownTurn. With an error, the result may be nil or incomplete.
func peekSession(ctx context.Context, s remote.Session, knownTurn string) (*peekResult, error) {
	result, err := catchUp(ctx, s)
	if err != nil || result.lastTurn == knownTurn {
		return result, err
	}
	var page protocol.HistoryResult
	data := protocol.HistoryData{Before: result.after + 1, Limit: 1}
	if err := s.Do(ctx, protocol.DoHistory, data, &page); err != nil {
		return result, err
	}
	for e, err := range page.Decoded() {
		if err != nil {
			return result, fmt.Errorf("last turn: %w", err)
		}
		result.lastEvents = append(result.lastEvents, e)
	}
	return result, nil
}

// catchUp subscribes to a session until it is caught up, or has sent maxPeekBytes of events.
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

// apply updates the preview with the result of a peek. result may be nil.
func (p *preview) apply(result *peekResult, err error) {
	p.err = ""
	if err != nil {
		p.err = remote.ErrorText(err)
	}
	if result == nil {
		return
	}
	p.content.state = result.state
	if result.lastEvents != nil {
		p.content.lastEvents, p.content.lastTurn = result.lastEvents, result.lastTurn
	}
	p.content.view = transcriptview.New(p.styles)
	for _, e := range slices.Concat(p.content.lastEvents, result.runningEvents) {
		if err := p.content.view.Apply(e); err != nil {
			p.err = err.Error()
			return
		}
	}
}

// Previewed returns the session whose transcript the preview shows, or "".
func (d *Dashboard) Previewed() string {
	if !d.preview.shown(d.canvas.Width, d.canvas.Height) {
		return ""
	}
	return d.Selected()
}
