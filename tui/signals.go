package tui

import (
	"os"
	"os/signal"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// interruptMsg is a SIGINT. On this screen no key sends it.
type interruptMsg struct{ at time.Time }

// maxSignalAge is the age from which on a signal is ignored: it came while another program, as an editor, had
// the terminal, and was meant for that one.
const maxSignalAge = 300 * time.Millisecond

// hangupMsg says that the terminal is gone.
type hangupMsg struct{}

// signalListener passes SIGINT and the end of the terminal to a program. The library's own signal handler can
// block for ever on a program that has ended.
type signalListener struct {
	signals chan os.Signal
	input   *terminalInput    // nil: the input is no terminal
	program chan *tea.Program // once there is one
	done    chan struct{}
	wg      sync.WaitGroup
}

// listenForSignals starts a listener. It replaces the options' input by one that reports its end.
func listenForSignals(o *Options) *signalListener {
	l := &signalListener{
		signals: make(chan os.Signal, 1), program: make(chan *tea.Program, 1), done: make(chan struct{}),
	}
	if file, ok := o.Input.(*os.File); ok {
		l.input = &terminalInput{File: file, gone: make(chan struct{})}
		o.Input = l.input
	}
	signal.Notify(l.signals, os.Interrupt)
	l.wg.Go(l.run)
	return l
}

// attach is a program option: the program receives the signals.
func (l *signalListener) attach(p *tea.Program) { l.program <- p }

func (l *signalListener) run() {
	var p *tea.Program
	var gone chan struct{}
	for {
		signals := l.signals
		if p == nil {
			signals = nil
		}
		select {
		case p = <-l.program:
			if l.input != nil {
				gone = l.input.gone
			}
		case <-gone:
			gone = nil
			p.Send(hangupMsg{})
		case <-signals:
			p.Send(interruptMsg{time.Now()})
		case <-l.done:
			return
		}
	}
}

// stop stops the listener and waits for it, after the program has ended. It returns err, or ErrTerminalGone
// when the program ended without an error because its terminal is gone.
func (l *signalListener) stop(err error) error {
	signal.Stop(l.signals)
	close(l.done)
	l.wg.Wait()
	if err != nil || l.input == nil {
		return err
	}
	select {
	case <-l.input.gone:
		return ErrTerminalGone
	default:
		return nil
	}
}

// filterSignals is a message filter: SIGINT and the end of the terminal end the program.
func filterSignals(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case hangupMsg:
		return tea.QuitMsg{}
	case interruptMsg:
		if time.Since(msg.at) > maxSignalAge {
			return nil
		}
		return tea.InterruptMsg{}
	}
	return msg
}
