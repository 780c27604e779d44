package tui

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
)

func TestTheClickThatFocusesTheTerminalIsIgnored(t *testing.T) {
	const focus = "\x1b[I"
	synctest.Test(t, func(t *testing.T) {
		p := startDashboardWith(t, Options{Mouse: true}, tuitest.NewServer(), "")
		before := p.p.dashboard.Selected()
		tuitest.Wait(time.Second)
		p.press(focus + "\x1b[<0;6;6M")
		if got := p.p.dashboard.Selected(); got != before {
			t.Errorf("the click that focuses selects %s", got)
		}
		tuitest.Wait(time.Second)
		p.press("\x1b[<0;6;6M")
		if got := p.p.dashboard.Selected(); got == before {
			t.Error("a later click selects nothing")
		}
		p.stop()
	})
}

func TestTheWheelSendsArrowsInTheAlternateScreenOnly(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := &terminalWriter{file: file}
	for _, text := range []string{"a", "b" + enterAltScreen + "c", "d", "e" + leaveAltScreen, "f"} {
		if n, err := io.WriteString(out, text); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	got, err := os.ReadFile(file.Name())
	want := "ab" + enterAltScreen + "c" + enableAlternateScroll + "de" + leaveAltScreen + restoreAlternateScroll + "f"
	if err != nil || string(got) != want {
		t.Errorf("wrote %q, want %q (%v)", got, want, err)
	}
}

func TestAKeySwitchesTheMouseOnAndOff(t *testing.T) {
	const altM = "\x1bm"
	synctest.Test(t, func(t *testing.T) {
		p := startDashboardWith(t, Options{}, tuitest.NewServer(), "")
		plain := p.p.View()
		for _, screen := range []string{"the list", "a session"} {
			p.press(altM)
			if v := p.p.View(); v.MouseMode != tea.MouseModeCellMotion || !strings.Contains(v.Content, "mouse on") {
				t.Errorf("%s: the mouse is not on", screen)
			}
			tuitest.Wait(time.Second)
			p.press(altM)
			if v := p.p.View(); v.MouseMode != tea.MouseModeNone || !strings.Contains(v.Content, "mouse off") {
				t.Errorf("%s: the mouse is not off", screen)
			}
			tuitest.Wait(10 * time.Second) // the status message ends
			if v := p.p.View(); v.Content != plain.Content {
				t.Errorf("%s: after the mouse was on, the screen is\n%q\nnot\n%q", screen, v.Content, plain.Content)
			}
			p.press("\r")
			tuitest.Wait(time.Second)
			plain = p.p.View()
		}
		p.stop()
	})
}
