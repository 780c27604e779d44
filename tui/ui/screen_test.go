package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/keymap"
)

// screenRig is a screen that records what reaches the part below its overlays.
type screenRig struct {
	*Screen
	now    time.Time
	timers []tea.Msg
	input  []string // keys that no overlay handled
	draft  string   // what ctrl+c clears
}

func newScreenRig() *screenRig {
	r := &screenRig{now: tuitest.Start}
	r.Screen = NewScreen(ScreenConfig{
		Styles: NewStyles(time.UTC, ""), Now: func() time.Time { return r.now }, LeaveText: "leave?",
		After: func(_ time.Duration, msg tea.Msg) tea.Cmd { r.timers = append(r.timers, msg); return nil },
		Clear: func() (tea.Cmd, bool) {
			cleared := r.draft != ""
			r.draft = ""
			return nil, cleared
		},
		Palette: func(top Overlay) Overlay {
			if o, ok := top.(*fakeOverlay); ok && o.name == "palette" {
				return nil
			}
			return &fakeOverlay{name: "palette"}
		},
		Handle: func(i Intent) (tea.Cmd, Intent) { return nil, i },
		Input: func(msg tea.Msg) (tea.Cmd, Intent) {
			r.input = append(r.input, msg.(tea.KeyPressMsg).String())
			return nil, nil
		},
	})
	return r
}

// press sends keys and returns the last command and intent.
func (r *screenRig) press(keys ...string) (cmd tea.Cmd, intent Intent) {
	for _, key := range keys {
		cmd, intent = r.Route(tuitest.KeyPress(key))
	}
	return cmd, intent
}

// fakeOverlay takes all keys but x. The key i returns an intent.
type fakeOverlay struct {
	name string
	keys []string
}

func (o *fakeOverlay) View(int, int) ([]string, *tea.Cursor) { return []string{o.name}, nil }
func (o *fakeOverlay) Scope() keymap.Scope                   { return keymap.Global }
func (o *fakeOverlay) FullScreen() bool                      { return true }

func (o *fakeOverlay) Update(msg tea.Msg) Response {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return Response{}
	}
	switch key := press.String(); key {
	case "x":
		return Response{Pass: true}
	case "i":
		return Response{Intent: ActionIntent{keymap.ShowSessions}}
	default:
		o.keys = append(o.keys, key)
		return Response{}
	}
}

func TestOverlaysOfAScreenGetTheInputFirst(t *testing.T) {
	r, o := newScreenRig(), &fakeOverlay{}
	r.press("a")
	r.Overlays.Push(o)
	r.press("b", "x")
	if !slices.Equal(o.keys, []string{"b"}) || !slices.Equal(r.input, []string{"a", "x"}) {
		t.Errorf("the overlay gets %q, the screen %q", o.keys, r.input)
	}
	if _, intent := r.press("i"); intent != (ActionIntent{keymap.ShowSessions}) {
		t.Errorf("got the intent %v", intent)
	}
}

func TestKeysThatWorkAnywhereOpenPaletteAndHelp(t *testing.T) {
	r, field := newScreenRig(), &fakeOverlay{}
	r.Overlays.Push(field)
	r.press("ctrl+k")
	palette, ok := r.Overlays.Top().(*fakeOverlay)
	if !ok || palette.name != "palette" {
		t.Fatalf("ctrl+k opens %v", r.Overlays.Top())
	}
	if r.press("ctrl+k"); !slices.Equal(palette.keys, []string{"ctrl+k"}) {
		t.Errorf("the palette gets %q", palette.keys)
	}
	r.Overlays.Remove(palette)
	if r.press("f1"); r.Overlays.Top() == Overlay(field) {
		t.Error("f1 opens no help above an overlay")
	}
	if r.press("f1"); r.Overlays.Top() != Overlay(field) {
		t.Error("f1 does not close the help")
	}
}

func TestASecondCtrlCLeavesUnlessSomethingComesBetween(t *testing.T) {
	r := newScreenRig()
	for name, between := range map[string]func(){
		"a key":     func() { r.press("a") },
		"the timer": func() { r.Update(r.timers[len(r.timers)-1]) },
		"a draft":   func() { r.draft = "text"; r.press("ctrl+c") },
	} {
		if cmd, _ := r.press("ctrl+c"); cmd != nil || !strings.Contains(r.LeaveLine(40), "leave?") {
			t.Errorf("%s: the first ctrl+c does not ask", name)
		}
		if between(); r.LeaveLine(40) != "" {
			t.Errorf("%s does not cancel", name)
		}
	}
	r.press("ctrl+c")
	if cmd, _ := r.press("ctrl+c"); cmd == nil || cmd() != tea.Quit() {
		t.Error("the second ctrl+c does not leave")
	}
}

func TestAScreenTicksWhileItShowsAClock(t *testing.T) {
	r := newScreenRig()
	for _, shown := range []bool{false, true, true} {
		r.Tick(shown)
	}
	if !slices.Equal(r.timers, []tea.Msg{TickMsg{}}) {
		t.Fatalf("got the timers %v, want one tick", r.timers)
	}
	r.Canvas.Dirty = false
	r.Update(TickMsg{})
	if r.Tick(true); !r.Canvas.Dirty || len(r.timers) != 2 {
		t.Error("a tick does not redraw and start the next")
	}
}

func TestAStatusMessageOfAScreenExpires(t *testing.T) {
	r := newScreenRig()
	r.Status.Text = "done"
	r.Expire(false)
	r.now = r.now.Add(StatusTimeout)
	if r.Expire(true); r.Status.Text == "" {
		t.Error("a message that is kept expires")
	}
	if r.Expire(false); r.Status.Text != "" {
		t.Error("the message does not expire")
	}
	r.Status.Text = "again"
	if r.press("a"); r.Status.Text != "" {
		t.Error("a key does not clear the message")
	}
}
