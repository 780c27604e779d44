package tui

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/protolog"
)

func TestTheWireGoesOnWhileItIsOpenAndPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		log := protolog.NewLog()
		keys, typing := io.Pipe()
		c, _, end := launch(t, r, keys, 100, 12)
		defer end()
		defer typing.Close()
		tuitest.Wait(time.Second)
		c.mu.Lock()
		c.sessions.shown.view.Session = tuitest.LoggedSession{FakeSession: r, Log: log}
		c.mu.Unlock()
		j := tuitest.Conversation()
		j.CaughtUp()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		tuitest.Wait(time.Second)
		hit := func(key string) {
			if _, err := io.WriteString(typing, key); err != nil {
				t.Fatal(err)
			}
			tuitest.Wait(time.Second)
		}
		say := func(word string) {
			log.AddFrame(time.Now(), true, false, protocol.MustEncode(protocol.Command{Command: protocol.Verb(word)}))
			tuitest.Wait(time.Second)
		}
		shows := func(word string, want bool) {
			t.Helper()
			if strings.Contains(c.screen(), word) != want {
				t.Errorf("%s shows: %v\n%s", word, !want, c.screen())
			}
		}
		hit("\x1b[18~")
		say("before")
		shows("before", true)
		hit("p")
		say("meanwhile")
		shows("meanwhile", true) // it was being waited for already
		say("later")
		shows("later", false)
		hit("p")
		shows("later", true)
		hit("\x1b[18~")
		shows("later", false)
	})
}

// wiredPort is a fleet whose connection can be looked at.
type wiredPort struct {
	*port
	log *protolog.Log
}

func (p wiredPort) ProtocolLog() *protolog.Log { return p.log }

func TestTheWireShowsOverAllSessions(t *testing.T) {
	d := testBuilder(t.Context(), Options{}, func() time.Time { return tuitest.Start }, func() string { return "" }).dashboard(wiredPort{newPort(), tuitest.SampleLog()}, "")
	noTimers(d)
	shows := func(words string, want bool) {
		t.Helper()
		if got := ansi.Strip(d.View().Content); strings.Contains(got, words) != want {
			t.Errorf("%q shows: %v\n%s", words, !want, got)
		}
	}
	d.Update(tea.WindowSizeMsg{Width: 100, Height: 16})
	_, cmd := d.Update(tuitest.KeyPress("f7"))
	batch := tuitest.FirstMessage(cmd)
	d.Update(batch)
	shows("approve error conflict", true)
	d.Update(tuitest.KeyPress("enter"))
	shows(`"code": "conflict"`, true)
	d.Update(tuitest.KeyPress("q"))
	d.Update(tuitest.KeyPress("f7"))
	shows("protocol log", false)
	d.Update(batch) // which comes too late
	shows("protocol log", false)
}
