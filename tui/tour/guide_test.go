package tour

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// A fakeLink counts what the guide does with the connection.
type fakeLink struct{ cuts, restores int }

func (l *fakeLink) Cut()     { l.cuts++ }
func (l *fakeLink) Restore() { l.restores++ }

func newStyles(t *testing.T, custom keymap.Keys) *ui.Styles {
	t.Helper()
	keys, err := keymap.New(custom)
	if err != nil {
		t.Fatal(err)
	}
	s := ui.NewStyles(time.UTC, ui.ThemeDark)
	s.Keys = keys
	return s
}

// TestTextsFitThePanel draws each text of each step at 80 columns.
func TestTextsFitThePanel(t *testing.T) {
	s := newStyles(t, nil)
	for i := range Steps {
		for _, ready := range []bool{false, true} {
			g := &Guide{step: i, ready: ready}
			lines := g.View(s, 80, 24)
			if len(lines) != Rows(24) {
				t.Errorf("step %d has %d rows, want %d", i+1, len(lines), Rows(24))
			}
			shown := strings.Fields(ansi.Strip(strings.Join(lines[1:], " ")))
			if want := strings.Fields(g.text(s.Keys)); strings.Join(shown, " ") != strings.Join(want, " ") {
				t.Errorf("step %d shows %q, want %q", i+1, shown, want)
			}
			for _, line := range lines {
				if w := ansi.StringWidth(line); w > 80 {
					t.Errorf("step %d has a row of %d columns: %q", i+1, w, line)
				}
			}
			if rows := g.View(s, 30, 8); len(rows) != Rows(8) {
				t.Errorf("step %d has %d rows on a small screen", i+1, len(rows))
			}
		}
	}
}

// TestEveryTextNamesTheKeysOfItsActions looks for the keys in the text, default ones and others.
func TestEveryTextNamesTheKeysOfItsActions(t *testing.T) {
	custom := keymap.Keys{}
	for i := range Steps {
		for _, a := range Steps[i].Actions {
			if custom[string(a)] == nil {
				custom[string(a)] = []string{fmt.Sprintf("ctrl+alt+f%d", len(custom)+1)}
			}
		}
	}
	for _, s := range []*ui.Styles{newStyles(t, nil), newStyles(t, custom)} {
		for i := range Steps {
			text := (&Guide{step: i, ready: true}).text(s.Keys)
			for _, a := range Steps[i].Actions {
				if key := s.Keys.Key(a); key == "" || !strings.Contains(text, key) {
					t.Errorf("step %d lacks the key %q of %s: %s", i+1, key, a, text)
				}
			}
			if strings.ContainsAny(text, "{}") {
				t.Errorf("step %d: %s", i+1, text)
			}
		}
	}
}

// TestAStepThatIsNotReadyIsNotDone observes the step of the lost connection.
func TestAStepThatIsNotReadyIsNotDone(t *testing.T) {
	link := new(fakeLink)
	g := NewGuide(link)
	for !Steps[g.step].cut {
		g.Skip()
	}
	at, state := g.step, new(protocol.State)
	if link.cuts != 1 || link.restores != 0 {
		t.Errorf("the link is cut %d times and restored %d times", link.cuts, link.restores)
	}
	for _, o := range []struct {
		conn remote.ConnState
		done bool
	}{{remote.Connected, false}, {remote.Reconnecting, false}, {remote.Connected, true}} {
		g.Observe(&Screen{Session: state, Conn: o.conn})
		if done := g.step != at; done != o.done {
			t.Errorf("%s: done is %t", o.conn, done)
		}
	}
	if link.restores != 1 {
		t.Errorf("the link is restored %d times", link.restores)
	}
}

// TestAUserAwayFromTheSessionIsLedBack observes the list of sessions.
func TestAUserAwayFromTheSessionIsLedBack(t *testing.T) {
	g, s := NewGuide(new(fakeLink)), newStyles(t, nil)
	g.Observe(&Screen{Scope: keymap.Sessions, Conn: remote.Connected})
	if text := g.text(s.Keys); !strings.Contains(text, "Press enter to open the session again") {
		t.Errorf("on the list it says %q", text)
	}
	g.Observe(&Screen{Session: new(protocol.State), Conn: remote.Connected})
	if text := g.text(s.Keys); text != Steps[0].Wait {
		t.Errorf("in the session it says %q", text)
	}
}

// TestOnlyTheStepThatLeavesIsFollowedByAReturn asks each step.
func TestOnlyTheStepThatLeavesIsFollowedByAReturn(t *testing.T) {
	for i := range Steps {
		g := &Guide{link: new(fakeLink), step: i}
		if left := g.Leave(); left != Steps[i].Leaves() || left != (g.step != i) {
			t.Errorf("step %d: Leave is %t, then step %d", i+1, left, g.step+1)
		}
	}
}
