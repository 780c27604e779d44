package tui

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/protolog"
)

func TestProtocolLogFollowsAndPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		log := protolog.NewLog()
		keys, typing := io.Pipe()
		p, _, stop := startSession(t, r, keys, 100, 12)
		defer stop()
		defer typing.Close()
		tuitest.Wait(time.Second)
		p.mu.Lock()
		p.sessions.shown.view.Session = tuitest.LoggedSession{FakeSession: r, Log: log}
		p.mu.Unlock()
		j := tuitest.Conversation()
		j.CaughtUp()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		tuitest.Wait(time.Second)
		press := func(key string) {
			if _, err := io.WriteString(typing, key); err != nil {
				t.Fatal(err)
			}
			tuitest.Wait(time.Second)
		}
		record := func(word string) {
			log.AddFrame(time.Now(), true, false, protocol.MustEncode(protocol.Command{Command: protocol.Verb(word)}))
			tuitest.Wait(time.Second)
		}
		checkShown := func(word string, want bool) {
			t.Helper()
			if got := strings.Contains(p.screen(), word); got != want {
				t.Errorf("%q on the screen: got %v, want %v\n%s", word, got, want, p.screen())
			}
		}
		press("\x1b[18~")
		record("before")
		checkShown("before", true)
		press("p")
		record("meanwhile")
		checkShown("meanwhile", true) // the log was already waiting for the next entry
		record("later")
		checkShown("later", false)
		press("p")
		checkShown("later", true)
		press("\x1b[18~")
		checkShown("later", false)
	})
}

// loggingServer is a fake server with a protocol log.
type loggingServer struct {
	*fakeServer
	log *protolog.Log
}

func (p loggingServer) ProtocolLog() *protolog.Log { return p.log }

func TestDashboardProtocolLog(t *testing.T) {
	server := loggingServer{newFakeServer(), tuitest.SampleLog()}
	p := testDashboardModel(t.Context(), Options{}, fixedClock(tuitest.Start), server)
	checkShown := func(words string, want bool) {
		t.Helper()
		screen := ansi.Strip(p.View().Content)
		if got := strings.Contains(screen, words); got != want {
			t.Errorf("%q on the screen: got %v, want %v\n%s", words, got, want, screen)
		}
	}
	p.Update(tea.WindowSizeMsg{Width: 100, Height: 16})
	_, cmd := p.Update(tuitest.KeyPress("f7"))
	batch := tuitest.FirstMessage(cmd)
	p.Update(batch)
	checkShown("approve error conflict", true)
	p.Update(tuitest.KeyPress("enter"))
	checkShown(`"code": "conflict"`, true)
	p.Update(tuitest.KeyPress("q"))
	p.Update(tuitest.KeyPress("f7"))
	checkShown("protocol log", false)
	p.Update(batch) // the result of the closed log
	checkShown("protocol log", false)
}
