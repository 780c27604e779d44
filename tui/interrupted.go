package tui

import (
	"os"
	"os/signal"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// signalMsg is SIGINT. On our screen no key sends it.
type signalMsg struct{ at time.Time }

// stale is how old a signal is that waited because another program, as an editor,
// had the terminal: it was meant for that one.
const stale = 300 * time.Millisecond

// listener hands SIGINT to a program. The library's own handler can wait for ever
// for a program that has ended.
type listener struct {
	came      chan os.Signal
	program   chan *tea.Program // once there is one
	over      chan struct{}
	listening sync.WaitGroup
}

// listen begins to listen, until stop.
func listen() *listener {
	l := &listener{came: make(chan os.Signal, 1), program: make(chan *tea.Program, 1), over: make(chan struct{})}
	signal.Notify(l.came, os.Interrupt)
	l.listening.Go(l.run)
	return l
}

// option makes a program the one that listens.
func (l *listener) option(p *tea.Program) { l.program <- p }

func (l *listener) run() {
	var p *tea.Program
	for {
		came := l.came
		if p == nil {
			came = nil
		}
		select {
		case p = <-l.program:
		case <-came:
			p.Send(signalMsg{time.Now()})
		case <-l.over:
			return
		}
	}
}

// stop ends listening and waits for it; the program has to be over.
func (l *listener) stop() {
	signal.Stop(l.came)
	close(l.over)
	l.listening.Wait()
}

// interrupts makes SIGINT end the program.
func interrupts(_ tea.Model, msg tea.Msg) tea.Msg {
	s, ok := msg.(signalMsg)
	switch {
	case !ok:
		return msg
	case time.Since(s.at) > stale:
		return nil
	}
	return tea.InterruptMsg{}
}
