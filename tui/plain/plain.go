package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/muesli/cancelreader"

	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

const (
	recentTurns  = 5       // turns of history printed first
	maxPending   = 10_000  // updates held while history loads
	maxInputLine = 1 << 20 // bytes of an input line
	maxTasks     = 64      // tasks that wait for the worker
)

// Run prints the session to w as lines, for output that is not a terminal and for screen readers:
// the recent turns first, then events as they happen. It sends lines of r as messages; lines that
// begin with / are commands, see /help. It returns nil when ctx ends or the session is closed, and
// an error when the session cannot be reached any more.
//
// Run stops reading r on return if r supports it, like a terminal or a pipe.
func Run(ctx context.Context, s remote.Session, w io.Writer, r io.Reader, o Options) error {
	out := newRenderer(time.Local)
	out.columns = o.Columns
	return run(ctx, s, w, r, out, o.EndWithInput)
}

// Options are the options of Run.
type Options struct {
	// Columns returns the width of the terminal that shows the lines, or 0 without one; nil:
	// there is none.
	Columns func() int

	// EndWithInput ends Run after the end of the input, as soon as the session is idle: what was
	// sent is done. If it waits for a person, Run returns an *UnfinishedError. Otherwise Run
	// continues after the end of the input.
	EndWithInput bool
}

// UnfinishedError reports that at the end of the input the session waits for a person: a request is
// pending, or the queue is held.
type UnfinishedError struct{ State *protocol.State }

// Error implements error.
func (e *UnfinishedError) Error() string {
	return "the session waits for a person, and the input has ended"
}

func run(ctx context.Context, s remote.Session, w io.Writer, r io.Reader, out *renderer, endWithInput bool) error {
	ctx, cancel := context.WithCancel(ctx)
	c := &client{
		w: bufio.NewWriter(w), renderer: out, session: s, quit: cancel,
		tasks: make(chan task, maxTasks), results: make(chan taskResult), input: input{endsRun: endWithInput},
		history: make(chan *protocol.HistoryResult, 1), pages: map[string]bool{},
	}
	updates := make(chan remote.Update)
	var goroutines sync.WaitGroup
	var updatesErr error // a panic of Updates; read after goroutines.Wait
	goroutines.Go(func() {
		defer close(updates)
		defer panics.RecoverTo(&updatesErr)
		for u := range s.Updates(ctx) {
			select {
			case updates <- u:
			case <-ctx.Done():
				return
			}
		}
	})
	goroutines.Go(func() { c.runTasks(ctx) })
	lines, stop := readLines(ctx, r)
	err := c.loop(ctx, updates, lines)
	cancel()
	stop()
	goroutines.Wait()
	if updatesErr != nil {
		err = fmt.Errorf("read updates: %w", updatesErr)
	}
	return errors.Join(err, c.w.Flush())
}

// client connects a session, its renderer and the typed input. Its loop owns all fields; tasks run
// in a separate goroutine.
type client struct {
	w        *bufio.Writer
	renderer *renderer
	session  remote.Session
	quit     func()

	tasks   chan task
	results chan taskResult // of each task
	history chan *protocol.HistoryResult
	input   input

	historyRequested bool            // at least once
	historyLoading   bool            // a request is running
	pending          []remote.Update // updates held back

	pages map[string]bool // requests whose page was requested

	asked time.Time // when the newest request arrived; zero if none did
}

var errOffline = errors.New("offline")

// loop handles updates, input and results of tasks until the session ends. It returns errOffline if
// the updates end before ctx.
func (c *client) loop(ctx context.Context, updates <-chan remote.Update, lines <-chan inputLine) error {
	for {
		if err := c.w.Flush(); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		in := updates
		if len(c.pending) >= maxPending {
			in = nil
		}
		typed := lines
		if c.input.endsRun && !c.renderer.caughtUp { // the state must be known to know when it is done
			typed = nil
		}
		select {
		case u, ok := <-in:
			if !ok {
				if ctx.Err() != nil {
					return nil
				}
				for _, u := range c.pending { // history will not arrive
					c.renderer.update(u)
				}
				c.renderer.flush(c.w)
				return fmt.Errorf("%w: %s", errOffline, c.renderer.conn.Reason)
			}
			if c.historyLoading {
				c.pending = append(c.pending, u)
				continue
			}
			c.update(u)
		case page := <-c.history:
			c.historyLoading = false
			c.renderer.writeHistory(page)
			held := c.pending
			c.pending = nil
			for i, u := range held {
				if c.historyLoading { // the last update requested it again
					c.pending = held[i:]
					break
				}
				c.update(u)
			}
		case line, ok := <-typed:
			if !ok {
				lines = nil
				c.input.ended = true
				break
			}
			c.runLine(line)
		case result := <-c.results:
			c.input.add(result)
			c.renderer.linef("%s", result.line)
		case <-ctx.Done():
			return nil
		}
		c.renderer.flush(c.w)
		if c.renderer.done() && !c.historyLoading {
			return nil
		}
		if done, err := c.input.done(c.renderer); done && !c.historyLoading {
			return errors.Join(c.w.Flush(), err)
		}
	}
}

// update renders one update. It requests the recent turns after the first subscription, and after
// each reset, because turns may have ended unseen.
func (c *client) update(u remote.Update) {
	c.renderer.update(u)
	if u.Event != nil && u.Event.Type == protocol.ApprovalRequested {
		c.asked = time.Now()
	}
	c.requestPages()
	if u.Attached == nil || c.historyRequested && u.Attached.Mode != protocol.ModeReset {
		return
	}
	c.historyRequested = true
	data := protocol.HistoryData{Before: u.Attached.After.Seq + 1, Limit: recentTurns}
	c.historyLoading = c.enqueue(func(ctx context.Context) string {
		page := new(protocol.HistoryResult)
		err := c.session.Do(ctx, protocol.DoHistory, data, page)
		c.history <- page
		return errorLine(ctx, "older turns", err)
	})
}

// inputLine is a line of input, or the error that ended the input.
type inputLine struct {
	line string
	err  error
}

// readLines returns the lines of r. The channel is closed when r or ctx ends. The returned function
// stops reading, if r supports it.
func readLines(ctx context.Context, r io.Reader) (<-chan inputLine, func()) {
	lines := make(chan inputLine)
	reader, err := cancelreader.NewReader(r)
	if err != nil {
		reader = uncancellable{r}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(lines)
		scanner := bufio.NewScanner(reader)
		scanner.Buffer(nil, maxInputLine)
		send := func(l inputLine) bool {
			select {
			case lines <- l:
				return true
			case <-ctx.Done():
				return false
			}
		}
		for scanner.Scan() {
			if !send(inputLine{line: scanner.Text()}) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			send(inputLine{err: fmt.Errorf("read input: %w", err)})
		}
	}()
	return lines, func() {
		if reader.Cancel() {
			<-done
		}
	}
}

// uncancellable is a cancelreader.CancelReader that cannot be cancelled.
type uncancellable struct{ io.Reader }

func (uncancellable) Cancel() bool { return false }
func (uncancellable) Close() error { return nil }
