package tui

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// ErrTerminalGone is returned by [Run] and [RunDashboard] if the terminal has been closed.
var ErrTerminalGone = errors.New("the terminal is gone")

// interruptMsg is a received SIGINT.
type interruptMsg struct{ receivedAt time.Time }

// maxSignalAge is the maximum age of a SIGINT. An older one arrived while a child process, such as
// an editor, had the terminal. It was meant for that process and is ignored.
const maxSignalAge = 300 * time.Millisecond

// hangupMsg reports that the terminal has been closed.
type hangupMsg struct{}

// signalListener sends SIGINT and the end of the terminal to a program. It replaces the signal
// handler of Bubble Tea, which can block forever after the program has ended.
type signalListener struct {
	signals chan os.Signal
	input   *terminalInput    // nil: the input is not a file
	program chan *tea.Program // receives the program once it exists
	done    chan struct{}
	wg      sync.WaitGroup
}

// listenForSignals starts a listener. It replaces a file in o.Input with a terminalInput.
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

// attach is a [tea.ProgramOption]. It makes p the receiver of the signals.
func (l *signalListener) attach(p *tea.Program) { l.program <- p }

// run forwards signals to the program until stop. Signals wait until the program is attached.
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

// stop stops the listener and waits for it. The program must have ended with err. stop returns err,
// or ErrTerminalGone if err is nil and the terminal has been closed.
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

// filterSignals is a message filter for [tea.WithFilter]. It converts interruptMsg and hangupMsg to
// the messages that end the program, and drops an interruptMsg older than maxSignalAge.
func filterSignals(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case hangupMsg:
		return tea.QuitMsg{}
	case interruptMsg:
		if time.Since(msg.receivedAt) > maxSignalAge {
			return nil
		}
		return tea.InterruptMsg{}
	}
	return msg
}

// terminalInput is the input of a terminal. It detects the end of the input, which Bubble Tea
// ignores. A process that ignores SIGHUP would otherwise run on without a terminal.
type terminalInput struct {
	*os.File
	once sync.Once
	gone chan struct{} // closed at the end of the input
}

// Read reads from the terminal. On an error it closes gone.
func (t *terminalInput) Read(b []byte) (int, error) {
	n, err := t.File.Read(b)
	if err != nil {
		t.once.Do(func() { close(t.gone) })
	}
	return n, err
}

// Unwrap returns the terminal, for a child process that takes it over.
func (t *terminalInput) Unwrap() *os.File { return t.File }
