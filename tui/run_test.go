package tui

import (
	"context"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/panics"
	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// counting counts how often the model's screen is drawn anew, and lets the test
// look while the program runs.
type counting struct {
	*program
	mu     sync.Mutex
	draws  int
	last   *byte // of the content drawn last
	timers atomic.Int64
}

func (c *counting) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, cmd := c.program.Update(msg)
	return c, cmd
}

func (c *counting) View() tea.View {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.program.View()
	if at := unsafe.StringData(v.Content); at != c.last { // another string: it was drawn anew
		c.draws, c.last = c.draws+1, at
	}
	return v
}

func (c *counting) drawn() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.draws
}

func (c *counting) screen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ansi.Strip(c.program.View().Content)
}

// launch runs a whole program on the session; the function returned ends it and
// waits. It must run in a synctest bubble.
func launch(t *testing.T, r *tuitest.FakeSession, keys io.Reader, width, height int) (*counting, *tuitest.Output, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	build := testBuilder(ctx, Options{}, time.Now, func() string { return "client-new" })
	c := &counting{program: build.session(r)}
	after := c.sessions.view.After
	c.sessions.view.After = func(d time.Duration, msg tea.Msg) tea.Cmd {
		c.timers.Add(1)
		return after(d, msg)
	}
	out := &tuitest.Output{}
	ended := make(chan error, 1)
	go func() {
		ended <- build.runModel(c.program, c, tea.WithInput(keys), tea.WithOutput(out), tea.WithoutSignalHandler(),
			tea.WithWindowSize(width, height), tea.WithColorProfile(colorprofile.ASCII), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	}()
	return c, out, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the program ended with %v", err)
		}
	}
}

func TestAThousandDeltasASecondAreDrawnAtTheFrameRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		c, _, end := launch(t, r, keys, 100, 12)
		j := tuitest.Conversation()
		j.CaughtUp()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		tuitest.Wait(time.Second)
		before := c.drawn()
		const seconds = 60
		typed := ""
		for i := range seconds * 1000 {
			time.Sleep(time.Millisecond)
			if i%1000 == 500 { // a key is on the screen within two draws
				at := c.drawn()
				typed += string(rune('a' + i/1000%26))
				if _, err := typing.Write([]byte(typed[len(typed)-1:])); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if draws := c.drawn() - at; draws > 2 || !strings.Contains(c.screen(), "> "+typed) {
					t.Fatalf("after %d draws the screen does not show %q:\n%s", draws, typed, c.screen())
				}
			}
			j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: fmt.Sprintf(" word%d", i)})
			for _, u := range j.Take() {
				r.Feed <- u
			}
		}
		tuitest.Wait(time.Second)
		draws := c.drawn() - before
		_ = typing.Close() // the pipe has no reader that fails
		end()
		if most := seconds*int(time.Second/task.FrameTime) + 3*seconds; draws > most {
			t.Errorf("%d draws in %d s, want at most %d", draws, seconds, most)
		}
		if draws < seconds*20 {
			t.Errorf("only %d draws in %d s", draws, seconds)
		}
		if got := c.screen(); !strings.Contains(got, "word59999") {
			t.Errorf("the last word is not on the screen:\n%s", got)
		}
	})
}

func TestAnIdleProgramDrawsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		c, _, end := launch(t, r, nil, 60, 12)
		j := tuitest.NewJournal()
		j.CaughtUp()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		tuitest.Wait(time.Second)
		before := c.drawn()
		tuitest.Wait(time.Hour)
		if c.drawn() != before {
			t.Errorf("%d draws in an idle hour", c.drawn()-before)
		}
		end()
	})
}

func TestTheProgramSendsAndLeavesTheTerminalClean(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		_, out, end := launch(t, r, keys, 100, 30)
		j := tuitest.Scenes["approval"]()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		tuitest.Wait(time.Second) // longer than the Grace: the request is armed
		for _, key := range []string{"1", "h", "i", "\r"} {
			if _, err := typing.Write([]byte(key)); err != nil {
				t.Error(err)
			}
			tuitest.Wait(100 * time.Millisecond)
		}
		got := r.Commands()
		if len(got) != 2 || got[0].Verb != protocol.DoApprove || got[1].Verb != protocol.DoSend || got[1].Data.(protocol.SendData).Text != "hi" {
			t.Errorf("asked %+v", got)
		}
		_ = typing.Close() // the pipe has no reader that fails
		end()
		screen := out.String()
		for _, want := range []string{ansi.SetModeAltScreenSaveCursor, ansi.ResetModeAltScreenSaveCursor, ansi.ShowCursor} {
			if !strings.Contains(screen, want) {
				t.Errorf("the terminal never got %q", want)
			}
		}
		if strings.LastIndex(screen, ansi.ResetModeAltScreenSaveCursor) < strings.LastIndex(screen, ansi.SetModeAltScreenSaveCursor) {
			t.Error("the alternate screen is not left")
		}
	})
}

func TestASessionThatEndsIsOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		c, _, end := launch(t, r, nil, 60, 12)
		j := tuitest.Scenes["transcript"]()
		for _, u := range j.Take() {
			r.Feed <- u
		}
		close(r.Feed)
		tuitest.Wait(time.Second)
		if got := c.screen(); !strings.Contains(got, "offline") {
			t.Errorf("the screen does not say offline:\n%s", got)
		}
		end()
	})
}

func TestTheReconnectCountsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		c, _, end := launch(t, r, nil, 60, 12)
		j := tuitest.NewJournal()
		j.CaughtUp()
		j.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 2, Retry: time.Now().Add(5 * time.Second)})
		for _, u := range j.Take() {
			r.Feed <- u
		}
		for _, want := range []string{"reconnecting in 5s", "reconnecting in 3s", "reconnecting in 1s", "reconnecting (attempt 2)"} {
			tuitest.Wait(100 * time.Millisecond)
			if got := c.screen(); !strings.Contains(got, want) {
				t.Errorf("the screen does not say %q:\n%s", want, got)
			}
			tuitest.Wait(1900 * time.Millisecond)
		}
		end()
	})
}

func TestASlowScreenHoldsTheSessionBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		ctx, cancel := context.WithCancel(t.Context())
		var batches []int
		release := make(chan struct{})
		pumped := make(chan struct{})
		go func() {
			defer close(pumped)
			task.Pump(ctx, r.Updates, func(b []remote.Update) {
				batches = append(batches, len(b))
				<-release
			})
		}()
		fed := 0
		go func() {
			for range 3 * task.MaxBatch {
				select {
				case r.Feed <- remote.Update{Conn: &remote.Conn{}}:
					fed++
				case <-ctx.Done():
					return
				}
			}
		}()
		synctest.Wait()
		if most := cap(r.Feed) + 8; fed > most {
			t.Errorf("%d updates were taken while the screen was busy, want at most %d", fed, most)
		}
		close(release)
		tuitest.Wait(time.Second)
		cancel()
		<-pumped
		total := 0
		for _, n := range batches {
			total += n
			if n > task.MaxBatch {
				t.Errorf("a batch of %d", n)
			}
		}
		if total != 3*task.MaxBatch {
			t.Errorf("%d updates came through, want %d", total, 3*task.MaxBatch)
		}
	})
}

func TestAPanicOfTheSourceEndsThePump(t *testing.T) {
	given := 0
	err := task.Pump(t.Context(), func(context.Context) iter.Seq[int] {
		return func(yield func(int) bool) {
			yield(1)
			panic("out of order")
		}
	}, func(b []int) { given += len(b) })
	if broken := panics.As(err); broken == nil || broken.Value != "out of order" || given != 1 {
		t.Errorf("after %d updates it ended with %v", given, err)
	}
}

func TestALinkReachesTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		_, out, end := launch(t, r, keys, 100, 40)
		for _, u := range tuitest.Scenes["prose"]().Take() {
			r.Feed <- u
		}
		tuitest.Wait(time.Second)
		if got := out.String(); !strings.Contains(got, "\x1b]8;;https://example.org/docs\x07") && !strings.Contains(got, "\x1b]8;;https://example.org/docs\x1b\\") {
			t.Error("there is no link")
		}
		end()
		typing.Close()
	})
}

// coloured finds SGR that sets a colour.
var coloured = regexp.MustCompile(`\x1b\[([0-9:]+;)*([349][0-7]|10[0-7]|[34]8[;:][0-9;:]+)[;m]`)

func TestNoColorLeavesNoColor(t *testing.T) {
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
				go func() {
					ended <- build.run(build.session(r), append(c.options.program(), tea.WithInput(nil), tea.WithoutSignalHandler(), tea.WithWindowSize(80, 24))...)
				}()
				for _, scene := range []string{"queue", "cards"} { // code, changes and a program's own colours among them
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
					t.Error("nothing was drawn")
				}
				if got := coloured.MatchString(out.String()); got != c.colours {
					t.Errorf("colours: %v, want %v", got, c.colours)
				}
			})
		})
	}
}
