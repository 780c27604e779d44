package create

import (
	"fmt"
	"io"
	"sync"
	"time"

	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

// slowStart is the time after which a start is shown where no terminal is.
const slowStart = 2 * time.Second

// A startProgress shows the start of an agent on standard error: on a terminal as a line that changes
// each second and is removed at the end; elsewhere, if the start takes long, as a line for each step. In
// JSON it shows nothing.
type startProgress struct {
	out  io.Writer // nil: shows nothing
	live bool
	done chan struct{}
	work sync.WaitGroup

	mu      sync.Mutex
	process protocol.AgentProcess // phase empty: no start
	shown   string
}

func newStartProgress(p *output.Printer) *startProgress {
	s := &startProgress{done: make(chan struct{})}
	if !p.JSON {
		s.out, s.live = p.Stderr, output.IsTerminal(p.Stderr)
	}
	return s
}

// show shows a state of the agent's process. It does not block on anything but the output.
func (s *startProgress) show(p protocol.AgentProcess) {
	if s.out == nil || p.Phase != protocol.ProcessStarting || p.Since == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
		return
	default:
	}
	if s.process.Phase == "" {
		s.work.Go(s.tick)
	}
	s.process = p
	s.draw()
}

// tick updates the time that is shown.
func (s *startProgress) tick() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.mu.Lock()
			s.draw()
			s.mu.Unlock()
		case <-s.done:
			return
		}
	}
}

// draw requires mu.
func (s *startProgress) draw() {
	text := describe.Starting(&s.process, time.Time{})
	switch {
	case s.live:
		s.shown = "agentctl: " + describe.Starting(&s.process, time.Now())
		fmt.Fprintf(s.out, "\r%s\x1b[K", output.OneLine(s.shown, 79))
	case text != s.shown && time.Since(*s.process.Since) >= slowStart:
		s.shown = text
		fmt.Fprintf(s.out, "agentctl: %s\n", describe.Starting(&s.process, time.Now()))
	}
}

// end removes the line.
func (s *startProgress) end() {
	s.mu.Lock()
	close(s.done)
	if s.live && s.shown != "" {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
	s.mu.Unlock()
	s.work.Wait()
}
