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

// goneMsg says that the terminal is gone.
type goneMsg struct{}

// listener hands SIGINT to a program, and the end of its keys. The library's own
// handler of signals can wait for ever for a program that has ended.
type listener struct {
	came      chan os.Signal
	keys      *keyboard         // nil: not a terminal's
	program   chan *tea.Program // once there is one
	over      chan struct{}
	listening sync.WaitGroup
}

// listen begins to listen, until stop. It makes the options' input tell its end.
func listen(o *Options) *listener {
	l := &listener{came: make(chan os.Signal, 1), program: make(chan *tea.Program, 1), over: make(chan struct{})}
	if file, ok := o.Input.(*os.File); ok {
		l.keys = &keyboard{File: file, gone: make(chan struct{})}
		o.Input = l.keys
	}
	signal.Notify(l.came, os.Interrupt)
	l.listening.Go(l.run)
	return l
}

// option makes a program the one that listens.
func (l *listener) option(p *tea.Program) { l.program <- p }

func (l *listener) run() {
	var p *tea.Program
	var gone chan struct{}
	for {
		came := l.came
		if p == nil {
			came = nil
		}
		select {
		case p = <-l.program:
			if l.keys != nil {
				gone = l.keys.gone
			}
		case <-gone:
			gone = nil
			p.Send(goneMsg{})
		case <-came:
			p.Send(signalMsg{time.Now()})
		case <-l.over:
			return
		}
	}
}

// stop ends listening and waits for it; the program has to be over. It returns why
// that was, when it was the terminal, else the error it is given.
func (l *listener) stop(err error) error {
	signal.Stop(l.came)
	close(l.over)
	l.listening.Wait()
	if err != nil || l.keys == nil {
		return err
	}
	select {
	case <-l.keys.gone:
		return ErrTerminalGone
	default:
		return nil
	}
}

// interrupts makes SIGINT end the program, and the end of its terminal.
func interrupts(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case goneMsg:
		return tea.QuitMsg{}
	case signalMsg:
		if time.Since(msg.at) > stale {
			return nil
		}
		return tea.InterruptMsg{}
	}
	return msg
}
