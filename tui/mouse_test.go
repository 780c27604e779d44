package tui

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

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
