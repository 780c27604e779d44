package tour

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/cli/verb"
	"agentctl/internal/dev/screenshot"
	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/verbtest"
	"agentctl/internal/output"
	"agentctl/tui"
	"agentctl/tui/keymap"
	"agentctl/tui/tour"
)

// keyBytes are the bytes of the keys that are no single character.
var keyBytes = map[string]string{
	"tab": "\t", "enter": "\r", "esc": "\x1b", "F2": "\x1bOQ", "F4": "\x1bOS", "F5": "\x1b[15~", "F8": "\x1b[19~",
	"alt+k": "\x1bk", "shift+tab": "\x1b[Z",
}

// typed returns the bytes of a key in display form.
func typed(t *testing.T, key string) string {
	if b, ok := keyBytes[key]; ok {
		return b
	}
	if len(key) != 1 {
		t.Fatalf("the bytes of %q are not known", key)
	}
	return key
}

// A tourTest is a tour on a screen in virtual time.
type tourTest struct {
	*testing.T
	size   tui.Size
	screen verbtest.Screen
	notes  verbtest.Screen
	typing *io.PipeWriter
	done   chan error
	keys   *keymap.Map
}

// startTour starts the tour on a machine that has the given programs.
func startTour(t *testing.T, size tui.Size, custom keymap.Keys, programs ...string) *tourTest {
	keys, err := keymap.New(custom)
	if err != nil {
		t.Fatal(err)
	}
	input, typing := io.Pipe()
	tt := &tourTest{T: t, size: size, typing: typing, done: make(chan error, 1), keys: keys}
	env := map[string]string{"HOME": os.Getenv("TMPDIR"), "USER": "ada"}
	cli := &verb.Context{
		Stdin: input, Out: output.Printer{Stdout: &tt.screen, Stderr: &tt.notes},
		Env: func(name string) string { return env[name] },
	}
	cli.User.Keys = custom
	o := &tourOptions{
		Options: verb.Options{CLI: cli}, size: size, hasLines: func() bool { return false }, changed: func(string) bool { return false },
		lookPath: func(program string) (string, error) {
			for _, p := range programs {
				if p == program {
					return "/bin/" + p, nil
				}
			}
			return "", os.ErrNotExist
		},
	}
	go func() { tt.done <- runTour(t.Context(), o) }()
	t.Cleanup(func() { _ = typing.Close() })
	return tt
}

// lines returns the screen.
func (tt *tourTest) lines() []string {
	synctest.Wait()
	s, err := screenshot.Render(tt.screen.Bytes(), tt.size.Width, tt.size.Height)
	if err != nil {
		tt.Fatal(err)
	}
	out := make([]string, tt.size.Height)
	for y := range out {
		out[y] = s.Line(y)
	}
	return out
}

// panel returns the rows of the panel of the tour, on one line.
func (tt *tourTest) panel() string {
	lines := tt.lines()
	return strings.Join(strings.Fields(strings.Join(lines[len(lines)-tour.Rows(tt.size.Height):], " ")), " ")
}

// waitPanel waits until the panel has a text.
func (tt *tourTest) waitPanel(text string) {
	tt.Helper()
	for range 100 {
		time.Sleep(200 * time.Millisecond)
		if strings.Contains(tt.panel(), text) {
			return
		}
	}
	tt.Fatalf("the panel lacks %q:\n%s\n%s", text, strings.Join(tt.lines(), "\n"), tt.notes.Bytes())
}

func (tt *tourTest) write(keys string) {
	tt.Helper()
	if _, err := io.WriteString(tt.typing, keys); err != nil {
		tt.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond)
}

// text returns the text of a step with its keys.
func (tt *tourTest) text(step *tour.Step) string {
	text := step.Text
	for i, a := range step.Actions {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), tt.keys.Key(a))
	}
	return text
}

// walk follows the steps from the start to the end, with the keys that they name.
func (tt *tourTest) walk() {
	for i := range tour.Steps {
		step := &tour.Steps[i]
		tt.waitPanel(fmt.Sprintf("tour %d/%d", i+1, len(tour.Steps)))
		tt.waitPanel(tt.text(step)) // complete: no step has more text than the panel has rows
		time.Sleep(time.Second)     // no decision counts just after a request appeared
		if all := strings.Join(tt.lines(), "\n"); slices.Contains(step.Actions, keymap.Back) &&
			!strings.Contains(all, "rules · 1 rule ") {
			tt.Fatalf("the keys of the rule made none:\n%s", all)
		}
		for _, action := range step.Actions {
			tt.write(typed(tt.T, tt.keys.Key(action)))
		}
		if step.Leaves() {
			tt.leave()
			tt.write("x") // the reader of the screen that was left takes it
			tt.write("\n")
		} else if !step.Ends() && strings.Contains(tt.panel(), fmt.Sprintf("tour %d/", i+1)) {
			tt.Fatalf("the keys of step %d do nothing:\n%s", i+1, strings.Join(tt.lines(), "\n"))
		}
	}
	tt.leave()
	if err := <-tt.done; err != nil {
		tt.Error(err)
	}
}

// skipTo presses the key that skips until the panel has a text. A skipped step may complete others.
func (tt *tourTest) skipTo(text, key string, wait time.Duration) {
	tt.Helper()
	tt.waitPanel("tour 1/")
	for range tour.Steps {
		if strings.Contains(tt.panel(), text) {
			return
		}
		tt.write(key)
		time.Sleep(wait)
	}
	tt.Fatalf("no step has %q:\n%s", text, strings.Join(tt.lines(), "\n"))
}

// leave presses ctrl+c twice.
func (tt *tourTest) leave() {
	tt.write("\x03")
	tt.write("\x03")
}

// inBubble runs a test in virtual time, with files below its own directory.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TERM", "xterm-256color")
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt) // starts the runtime's goroutine for signals outside of the bubble
	signal.Stop(c)
	synctest.Test(t, f)
}

// TestTheKeysOfTheTourDoWhatItsStepsSay follows the tour to its end.
func TestTheKeysOfTheTourDoWhatItsStepsSay(t *testing.T) {
	for _, size := range thorough.Sample([]tui.Size{{Width: 80, Height: 24}, {Width: 120, Height: 40}}, 1) {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				tt := startTour(t, size, nil, "gemini")
				tt.walk()
				all := string(tt.screen.Bytes())
				want := "agentctl new --name try --agent gemini && agentctl attach try"
				if !strings.Contains(all, want) {
					t.Errorf("the end lacks %q:\n%s", want, all[max(0, len(all)-1000):])
				}
				if !bytes.Contains(tt.notes.Bytes(), []byte("it continues. Press enter to return")) {
					t.Errorf("leaving says %s", tt.notes.Bytes())
				}
			})
		})
	}
}

// TestEveryStepOfTheTourCanBeSkipped skips all steps, immediately and after a while.
func TestEveryStepOfTheTourCanBeSkipped(t *testing.T) {
	for _, wait := range []time.Duration{0, 15 * time.Second} {
		t.Run(wait.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				tt := startTour(t, tui.Size{Width: 80, Height: 24}, nil)
				tt.skipTo("End of the tour", typed(t, tt.keys.Key(keymap.SkipStep)), wait)
				if all := strings.Join(tt.lines(), "\n"); strings.Contains(all, "no connection") {
					t.Errorf("the connection stays cut:\n%s", all)
				}
				tt.leave()
				if err := <-tt.done; err != nil {
					t.Error(err)
				}
				if want := "No agent was found"; !tt.screen.Has(want) {
					all := string(tt.screen.Bytes())
					t.Errorf("the end lacks %q: %q", want, all[max(0, len(all)-700):])
				}
			})
		})
	}
}

// TestTheTourNamesTheKeysOfTheUser binds another key to an action of a step.
func TestTheTourNamesTheKeysOfTheUser(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		tt := startTour(t, tui.Size{Width: 80, Height: 24}, keymap.Keys{
			"sessions": {"alt+g"}, "jump": {}, "tour.skip": {"f12"},
		})
		tt.skipTo("Press alt+g for all sessions", "\x1b[24~", 0)
		tt.write("\x1bg")
		tt.waitPanel("Press F8 to decide what waits")
		tt.leave()
		if err := <-tt.done; err != nil {
			t.Error(err)
		}
	})
}
