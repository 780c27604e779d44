package ui

import (
	"context"
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
	now   time.Time
	waits []TimerMsg
	clock bool     // the screen shows a clock
	kept  bool     // the status message stays
	input []string // keys that no overlay handled
	draft string   // what ctrl+c clears
}

func newScreenRig() *screenRig {
	r := &screenRig{now: tuitest.Start}
	r.Screen = NewScreen(ScreenConfig{
		Styles: NewStyles(time.UTC, ""), Now: func() time.Time { return r.now }, LeaveText: "leave?",
		After: func(_ time.Duration, msg tea.Msg) tea.Cmd {
			r.waits = append(r.waits, msg.(TimerMsg))
			return nil
		},
		Clock: func() bool { return r.clock }, KeepStatus: func() bool { return r.kept },
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

// advance moves the clock and ends the waits that are over then.
func (r *screenRig) advance(d time.Duration) {
	r.Wait()
	r.now = r.now.Add(d)
	waits := r.waits
	r.waits = nil
	for _, msg := range waits {
		if msg.At.After(r.now) {
			r.waits = append(r.waits, msg)
			continue
		}
		r.Update(msg)
		r.Wait()
	}
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
		return Response{Intent: ActionIntent{Action: keymap.ShowSessions}}
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
	if _, intent := r.press("i"); intent != (ActionIntent{Action: keymap.ShowSessions}) {
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
	if r.press("f1"); r.Overlays.Top() == Overlay(field) {
		t.Error("f1 does not show all keys first")
	}
	if r.press("f1"); r.Overlays.Top() != Overlay(field) {
		t.Error("f1 does not close the help of all keys")
	}
}

func TestASecondCtrlCLeavesUnlessSomethingComesBetween(t *testing.T) {
	r := newScreenRig()
	for name, between := range map[string]func(){
		"a key":     func() { r.press("a") },
		"the timer": func() { r.advance(LeaveTimeout) },
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

func TestATimerOfAnEarlierCtrlCDoesNotCancelALaterOne(t *testing.T) {
	r := newScreenRig()
	r.press("ctrl+c")
	r.advance(LeaveTimeout - time.Second)
	r.press("a", "ctrl+c")
	if r.advance(time.Second); r.LeaveLine(40) == "" {
		t.Error("the timer of the first ctrl+c cancels the second one")
	}
	if r.advance(time.Second); r.LeaveLine(40) != "" {
		t.Error("the second ctrl+c does not expire")
	}
}

func TestAScreenIsRedrawnEachSecondWhileItShowsAClock(t *testing.T) {
	r := newScreenRig()
	if r.Wait(); len(r.waits) != 0 {
		t.Fatalf("got the waits %v without a clock", r.waits)
	}
	r.clock = true
	for range 3 {
		r.Wait()
	}
	if want := []TimerMsg{{r.now.Add(time.Second)}}; !slices.Equal(r.waits, want) {
		t.Fatalf("got the waits %v, want %v", r.waits, want)
	}
	r.Canvas.Dirty = false
	if r.advance(time.Second); !r.Canvas.Dirty || len(r.waits) != 1 {
		t.Errorf("the clock does not redraw and wait for the next second: %v", r.waits)
	}
}

func TestAStatusMessageOfAScreenExpires(t *testing.T) {
	r := newScreenRig()
	r.Status.Text = "done"
	r.advance(StatusTimeout - time.Second)
	r.kept = true
	if r.advance(time.Second); r.Status.Text == "" {
		t.Error("a message that is kept expires")
	}
	r.kept = false
	if r.advance(0); r.Status.Text != "" {
		t.Error("the message does not expire")
	}
	r.Status.Text = "again"
	if r.press("a"); r.Status.Text != "" {
		t.Error("a key does not clear the message")
	}
	r.Status.ShowUndo("undo")
	if r.advance(StatusTimeout); r.Status.Text == "" {
		t.Error("a message that offers to undo expires early")
	}
	if r.advance(UndoTimeout - StatusTimeout); r.Status.Text != "" {
		t.Error("a message that offers to undo does not expire")
	}
}

// timedOverlay has a deadline until it is due.
type timedOverlay struct {
	fakeOverlay
	timedPart
}

func (o *timedOverlay) Update(msg tea.Msg) Response { return o.fakeOverlay.Update(msg) }

func TestOneWaitIsPendingForAllPartsOfAScreen(t *testing.T) {
	r := newScreenRig()
	overlay, part := &timedOverlay{}, &timedPart{at: r.now.Add(3 * time.Second)}
	overlay.at = r.now.Add(2 * time.Second)
	r.Overlays.Push(overlay)
	r.Overlays.Push(&fakeOverlay{}) // above it
	r.Parts = []Timed{part}
	r.Status.Text = "done"
	if r.Wait(); len(r.waits) != 1 {
		t.Fatalf("got the waits %v, want one", r.waits)
	}
	for range 3 {
		if r.advance(time.Second); len(r.waits) != 1 {
			t.Fatalf("got the waits %v, want one", r.waits)
		}
	}
	if overlay.due != 1 || part.due != 1 || r.Status.Text == "" {
		t.Errorf("the overlay was due %d times, the part %d times; status %q", overlay.due, part.due, r.Status.Text)
	}
}

// contextTasks are tasks that add nothing to a message.
type contextTasks struct{ ctx context.Context }

func (t contextTasks) Context() context.Context { return t.ctx }
func (contextTasks) Wrap(msg tea.Msg) tea.Msg   { return msg }

func TestAScreenEditsATextOfAnOverlay(t *testing.T) {
	for command, want := range map[string]string{`printf edited >`: "edited", "false": ""} {
		r := newScreenRig()
		r.Editor, r.Tasks = command, contextTasks{t.Context()}
		r.Exec = func(c tea.ExecCommand, done tea.ExecCallback) tea.Cmd {
			return func() tea.Msg { return done(c.Run()) }
		}
		got := ""
		cmd, intent := r.handle(EditIntent{Text: "text", Done: func(text string) { got = text }})
		if intent != nil {
			t.Errorf("%s: the program gets %v", command, intent)
		}
		r.Update(cmd())
		if got != want || (r.Status.Text == "") != (want != "") {
			t.Errorf("%s: got the text %q, want %q; status %q", command, got, want, r.Status.Text)
		}
	}
}
