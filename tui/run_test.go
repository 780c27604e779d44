package tui

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// sessionProgram is a running Bubble Tea program with one session. It counts the redraws and the
// timers. A mutex guards the model, so that the test can read it.
type sessionProgram struct {
	*program
	mu          sync.Mutex
	draws       int
	messages    int
	lastContent *byte        // data of the content drawn last
	timers      atomic.Int64 // number of started timers
}

func (p *sessionProgram) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages++
	_, cmd := p.program.Update(msg)
	return p, cmd
}

func (p *sessionProgram) View() tea.View {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.program.View()
	if at := unsafe.StringData(v.Content); at != p.lastContent { // a new string is a redraw
		p.draws, p.lastContent = p.draws+1, at
	}
	return v
}

// drawCount returns the number of redraws.
func (p *sessionProgram) drawCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.draws
}

// wakeups returns the number of messages and the interval of the renderer. The interval is 0 if
// the version of Bubble Tea has no ticker for its renderer.
func (p *sessionProgram) wakeups() (messages int, renderer time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.renderClock.ticker == nil {
		return p.messages, 0
	}
	return p.messages, p.renderClock.interval
}

// screen returns the text on the screen without styles.
func (p *sessionProgram) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return ansi.Strip(p.program.View().Content)
}

// startSession starts a program that shows a session. It returns the program, its terminal output
// and a function that stops the program and waits for its end. It needs a synctest bubble.
func startSession(
	t *testing.T, r *tuitest.FakeSession, keys io.Reader, width, height int,
) (*sessionProgram, *tuitest.Output, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	build := testBuilder(ctx, Options{}, time.Now, func() string { return "client-new" })
	p := &sessionProgram{program: build.newSession(r)}
	after := p.sessions.viewConfig.After
	p.sessions.viewConfig.After = func(d time.Duration, msg tea.Msg) tea.Cmd {
		p.timers.Add(1)
		return after(d, msg)
	}
	out := &tuitest.Output{}
	ended := make(chan error, 1)
	go func() {
		ended <- build.run(p.program, p, testProgramOptions(keys, out, width, height)...)
	}()
	return p, out, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("got error %v from the program, want none", err)
		}
	}
}

func TestStreamIsDrawnAtFrameRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		p, _, stop := startSession(t, r, keys, 100, 12)
		j := tuitest.Conversation()
		j.CaughtUp()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		tuitest.Wait(time.Second)
		before := p.drawCount()
		seconds := thorough.Rounds(6, 60)
		typed := ""
		for i := range seconds * 1000 {
			time.Sleep(time.Millisecond)
			if i%1000 == 500 { // check that a key is on the screen within two redraws
				at := p.drawCount()
				typed += string(rune('a' + i/1000%26))
				if _, err := typing.Write([]byte(typed[len(typed)-1:])); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if draws := p.drawCount() - at; draws > 2 || !strings.Contains(p.screen(), "> "+typed) {
					t.Fatalf("after %d redraws: want %q on the screen, got:\n%s", draws, typed, p.screen())
				}
			}
			j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: fmt.Sprintf(" word%d", i)})
			for _, u := range j.Take() {
				r.Feed <- u
			}
		}
		tuitest.Wait(time.Second)
		draws := p.drawCount() - before
		_ = typing.Close() // always returns nil
		stop()
		if most := seconds*int(time.Second/task.FrameTime) + 3*seconds; draws > most {
			t.Errorf("got %d redraws in %d s, want at most %d", draws, seconds, most)
		}
		if draws < seconds*20 {
			t.Errorf("got %d redraws in %d s, want at least %d", draws, seconds, seconds*20)
		}
		if got := p.screen(); !strings.Contains(got, fmt.Sprint("word", seconds*1000-1)) {
			t.Errorf("want the last word on the screen, got:\n%s", got)
		}
	})
}

func TestIdleProgramDrawsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		p, _, stop := startSession(t, r, nil, 60, 12)
		j := tuitest.NewJournal()
		j.CaughtUp()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		tuitest.Wait(time.Second)
		before := p.drawCount()
		tuitest.Wait(time.Hour)
		if p.drawCount() != before {
			t.Errorf("got %d redraws in an idle hour, want none", p.drawCount()-before)
		}
		stop()
	})
}

// The first frame with the transcript waits neither for a frame of the updates nor for one of the
// renderer, although the state of the connection came just before.
func TestTheFirstFrameIsDrawnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		_, out, stop := startSession(t, r, keys, 60, 12)
		j := tuitest.NewJournal()
		r.Feed <- j.Take()[0] // the connection
		tuitest.Wait(30 * time.Millisecond)
		j = tuitest.NewJournal()
		j.UserMessage(tuitest.Ada, "m1", "question")
		j.CaughtUp()
		updates := j.Take()
		r.Feed <- updates[0]
		tuitest.Wait(time.Millisecond)
		for _, u := range updates[1:] {
			r.Feed <- u
		}
		if tuitest.Wait(2 * time.Millisecond); !strings.Contains(out.String(), "question") {
			t.Error("the transcript is not on the terminal 2 ms after it was there")
		}
		_ = typing.Close() // always returns nil
		stop()
	})
}

// An idle program handles no message, draws nothing and compares its views once a second.
func TestIdleProgramRarelyWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		p, out, stop := startSession(t, r, keys, 60, 12)
		j := tuitest.NewJournal()
		j.CaughtUp()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		for range 3 {
			tuitest.Wait(10 * time.Second) // a draft is saved
			draws := p.drawCount()
			before, _ := p.wakeups()
			tuitest.Wait(10 * time.Minute)
			messages, interval := p.wakeups()
			if messages != before || p.drawCount() != draws || interval != idleInterval {
				t.Errorf("10 idle minutes: %d messages, %d redraws and a renderer that wakes every %v",
					messages-before, p.drawCount()-draws, interval)
			}
			text := len(out.String())
			if _, err := typing.Write([]byte("x")); err != nil {
				t.Error(err)
			}
			if tuitest.Wait(10 * time.Millisecond); !strings.Contains(out.String()[text:], "x") {
				t.Error("a key is not on the terminal after 10 ms")
			}
		}
		if _, err := io.WriteString(typing, "\x1b[O"); err != nil { // the terminal loses the focus
			t.Error(err)
		}
		tuitest.Wait(10 * time.Second)
		if _, interval := p.wakeups(); interval != restInterval {
			t.Errorf("without the focus: the renderer wakes every %v", interval)
		}
		j.UserMessage(tuitest.Ada, "m1", "streamed")
		for _, u := range j.Take() {
			r.Feed <- u
		}
		if tuitest.Wait(100 * time.Millisecond); !strings.Contains(out.String(), "streamed") {
			t.Error("text is not on a terminal without the focus after 100 ms")
		}
		_ = typing.Close() // always returns nil
		stop()
	})
}

func TestProgramSendsAndRestoresTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		_, out, stop := startSession(t, r, keys, 100, 30)
		j := tuitest.Scenes["approval"]()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		tuitest.Wait(time.Second) // longer than approval.Grace: the request accepts a decision
		for _, key := range []string{"\t", "y", "\x1b", "h", "i", "\r"} {
			if _, err := typing.Write([]byte(key)); err != nil {
				t.Error(err)
			}
			tuitest.Wait(time.Second)
		}
		got := r.Commands()
		if len(got) != 2 || got[0].Verb != protocol.DoApprove || got[1].Verb != protocol.DoSend ||
			got[1].Data.(protocol.SendData).Text != "hi" {
			t.Errorf("got commands %+v, want approve and send of hi", got)
		}
		_ = typing.Close() // always returns nil
		stop()
		screen := out.String()
		for _, want := range []string{
			ansi.SetModeAltScreenSaveCursor, ansi.ResetModeAltScreenSaveCursor, ansi.ShowCursor,
		} {
			if !strings.Contains(screen, want) {
				t.Errorf("want %q in the terminal output", want)
			}
		}
		entered := strings.LastIndex(screen, ansi.SetModeAltScreenSaveCursor)
		left := strings.LastIndex(screen, ansi.ResetModeAltScreenSaveCursor)
		if left < entered {
			t.Error("the program does not leave the alternate screen")
		}
	})
}

func TestEndedSessionIsOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		p, _, stop := startSession(t, r, nil, 60, 12)
		j := tuitest.Scenes["transcript"]()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		close(r.Feed)
		tuitest.Wait(time.Second)
		if got := p.screen(); !strings.Contains(got, "offline") {
			t.Errorf("want offline on the screen, got:\n%s", got)
		}
		stop()
	})
}

func TestReconnectCountdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		p, _, stop := startSession(t, r, nil, 60, 12)
		j := tuitest.NewJournal()
		j.CaughtUp()
		j.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 2, Retry: time.Now().Add(5 * time.Second)})
		for _, u := range j.Take() {
			r.Feed <- u
		}
		for _, want := range []string{
			"reconnecting in 5s", "reconnecting in 3s", "reconnecting in 1s", "reconnecting (attempt 2)",
		} {
			tuitest.Wait(100 * time.Millisecond)
			if got := p.screen(); !strings.Contains(got, want) {
				t.Errorf("want %q on the screen, got:\n%s", want, got)
			}
			tuitest.Wait(1900 * time.Millisecond)
		}
		stop()
	})
}

func TestHyperlinkReachesTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		_, out, stop := startSession(t, r, keys, 100, 40)
		for _, u := range tuitest.Scenes["prose"]().Take() {
			r.Feed <- u
		}
		tuitest.Wait(time.Second)
		if got := out.String(); !strings.Contains(got, "\x1b]8;;https://example.org/docs\x07") &&
			!strings.Contains(got, "\x1b]8;;https://example.org/docs\x1b\\") {
			t.Error("want a hyperlink in the terminal output")
		}
		stop()
		typing.Close()
	})
}

// colourSequence matches an SGR sequence that sets a colour.
var colourSequence = regexp.MustCompile(`\x1b\[([0-9:]+;)*([349][0-7]|10[0-7]|[34]8[;:][0-9;:]+)[;m]`)

func TestNoColor(t *testing.T) {
	forced := []string{"TERM=xterm-256color", "TTY_FORCE=1"}
	for _, c := range []struct {
		name    string
		options Options
		colours bool
	}{
		{"a colour terminal", Options{Env: forced}, true},
		{"NO_COLOR", Options{Env: append(forced[:2:2], "NO_COLOR=yes")}, false},
		{"the option", Options{Env: forced, NoColor: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, out := tuitest.NewFakeSession(), &tuitest.Output{}
				c.options.Output = out
				ctx, cancel := context.WithCancel(t.Context())
				build := testBuilder(ctx, c.options, time.Now, func() string { return "" })
				ended := make(chan error)
				options := append(c.options.programOptions(nil),
					tea.WithInput(nil), tea.WithoutSignalHandler(), tea.WithWindowSize(80, 24))
				p := build.newSession(r)
				go func() { ended <- build.run(p, p, options...) }()
				// The scenes include code, changes and the colours of a program's output.
				for _, scene := range []string{"queue", "cards"} {
					for _, u := range tuitest.Scenes[scene]().Take() {
						r.Feed <- u
					}
					tuitest.Wait(time.Second)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if !strings.Contains(out.String(), "held by bob") || !strings.Contains(out.String(), "NOTES.md") {
					t.Error("the scenes are not on the screen")
				}
				if got := colourSequence.MatchString(out.String()); got != c.colours {
					t.Errorf("got colours: %v, want %v", got, c.colours)
				}
			})
		})
	}
}
