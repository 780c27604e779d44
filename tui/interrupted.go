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

// listen hands SIGINT to the program until the function returned is called, which
// waits for it.
func listen(p *tea.Program) (stop func()) {
	came := make(chan os.Signal, 1)
	over := make(chan struct{})
	signal.Notify(came, os.Interrupt)
	var listening sync.WaitGroup
	listening.Go(func() {
		for {
			select {
			case <-came:
				p.Send(signalMsg{time.Now()})
			case <-over:
				return
			}
		}
	})
	return func() {
		signal.Stop(came)
		close(over)
		listening.Wait()
	}
}

// interrupts makes SIGINT end the program.
func interrupts(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case signalMsg:
		if time.Since(msg.at) > stale {
			return nil
		}
		return tea.InterruptMsg{}
	}
	return msg
}
