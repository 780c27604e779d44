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
	recentTurns  = 5       // told before what is new
	maxPending   = 10_000  // updates kept while the recent turns are fetched
	maxInputLine = 1 << 20 // bytes of a line that is typed
	maxQueued    = 64      // typed commands that wait for their turn
)

// Run tells the session in lines on w, without a terminal and for a screen
// reader: the recent turns first, then what happens. Lines of r are sent as
// messages; those that begin with / are commands (/help lists them). The end of
// r ends nothing. It returns when ctx ends, the session is closed, or it cannot
// be reached any more, which is an error.
//
// Reading r is stopped on return where r can be (a terminal, a pipe).
func Run(ctx context.Context, s remote.Session, w io.Writer, r io.Reader) error {
	return runPlain(ctx, s, w, r, time.Local)
}

func runPlain(ctx context.Context, s remote.Session, w io.Writer, r io.Reader, zone *time.Location) error {
	ctx, cancel := context.WithCancel(ctx)
	var under sync.WaitGroup
	p := &plainSession{
		w: bufio.NewWriter(w), renderer: newRenderer(zone), session: s, quit: cancel,
		work: make(chan func(context.Context) string, maxQueued), done: make(chan string),
		history: make(chan *protocol.HistoryResult, 1),
	}
	updates := make(chan remote.Update)
	var broke error // read once under is over
	under.Go(func() {
		defer close(updates)
		defer panics.RecoverTo(&broke)
		for u := range s.Updates(ctx) {
			select {
			case updates <- u:
			case <-ctx.Done():
				return
			}
		}
	})
	under.Go(func() { p.worker(ctx) })
	lines, stop := readLines(ctx, r)
	err := p.loop(ctx, updates, lines)
	cancel()
	stop()
	under.Wait()
	if broke != nil {
		err = fmt.Errorf("tell the session: %w", broke)
	}
	return errors.Join(err, p.w.Flush())
}

// plainSession is the loop that owns the narrator.
type plainSession struct {
	w        *bufio.Writer
	renderer *renderer
	session  remote.Session
	quit     func()

	work      chan func(context.Context) string
	done      chan string
	history   chan *protocol.HistoryResult
	requested bool            // the recent turns
	loading   bool            // they are on their way
	pending   []remote.Update // meanwhile
}

var errOffline = errors.New("offline")

func (p *plainSession) loop(ctx context.Context, updates <-chan remote.Update, lines <-chan inputLine) error {
	for {
		if err := p.w.Flush(); err != nil {
			return fmt.Errorf("tell the session: %w", err)
		}
		in := updates
		if len(p.pending) >= maxPending {
			in = nil
		}
		select {
		case u, ok := <-in:
			if !ok {
				if ctx.Err() != nil {
					return nil
				}
				for _, u := range p.pending { // the recent turns will not come
					p.renderer.update(u)
				}
				p.renderer.flush(p.w)
				return fmt.Errorf("%w: %s", errOffline, p.renderer.conn.Reason)
			}
			if p.loading {
				p.pending = append(p.pending, u)
				continue
			}
			p.update(u)
		case page := <-p.history:
			p.loading = false
			p.renderer.past(page)
			held := p.pending
			p.pending = nil
			for i, u := range held {
				if p.loading { // for the history once more
					p.pending = held[i:]
					break
				}
				p.update(u)
			}
		case line, ok := <-lines:
			if !ok {
				lines = nil
				continue
			}
			p.runLine(line)
		case word := <-p.done:
			p.renderer.line("%s", word)
		case <-ctx.Done():
			return nil
		}
		p.renderer.flush(p.w)
		if p.renderer.over() && !p.loading {
			return nil
		}
	}
}

// update tells one thing. After the first attachment come the recent turns, and after one to another log those of them that ended
// unseen.
func (p *plainSession) update(u remote.Update) {
	p.renderer.update(u)
	if u.Attached == nil || p.requested && u.Attached.Mode != protocol.ModeReset {
		return
	}
	p.requested, p.loading = true, true
	ask := protocol.HistoryData{Before: u.Attached.After.Seq + 1, Limit: recentTurns}
	if !p.enqueue(func(ctx context.Context) string {
		page := new(protocol.HistoryResult)
		err := p.session.Do(ctx, protocol.DoHistory, ask, page)
		p.history <- page
		if err != nil && ctx.Err() == nil {
			return "older turns: " + remote.ErrorText(err)
		}
		return ""
	}) {
		p.loading = false
	}
}

// enqueue has the worker do something and tell the line that comes of it.
func (p *plainSession) enqueue(f func(context.Context) string) bool {
	select {
	case p.work <- f:
		return true
	default:
		p.renderer.line("too many commands at once: this one was not done")
		return false
	}
}

// worker carries out commands in the order they were typed.
func (p *plainSession) worker(ctx context.Context) {
	for {
		select {
		case f := <-p.work:
			word := f(ctx)
			if word == "" {
				continue
			}
			select {
			case p.done <- word:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// inputLine is a line of the input, or why no more is read.
type inputLine struct {
	line string
	err  error
}

// readLines gives the lines of r until it ends, ctx does, or stop is called.
func readLines(ctx context.Context, r io.Reader) (<-chan inputLine, func()) {
	lines := make(chan inputLine)
	reader, err := cancelreader.NewReader(r)
	if err != nil { // it cannot be stopped, but it can be read
		reader = uncancelled{r}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(lines)
		scan := bufio.NewScanner(reader)
		scan.Buffer(nil, maxInputLine)
		put := func(t inputLine) bool {
			select {
			case lines <- t:
				return true
			case <-ctx.Done():
				return false
			}
		}
		for scan.Scan() {
			if !put(inputLine{line: scan.Text()}) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			put(inputLine{err: fmt.Errorf("read input: %w", err)})
		}
	}()
	return lines, func() {
		if reader.Cancel() {
			<-done
		}
	}
}

// uncancelled is a reader that nothing stops.
type uncancelled struct{ io.Reader }

func (uncancelled) Cancel() bool { return false }
func (uncancelled) Close() error { return nil }
