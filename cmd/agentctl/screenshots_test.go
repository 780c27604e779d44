//go:build unix

package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/screenshot"
	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/agent/script"
	"agentctl/server/session"
	"agentctl/server/sqlite"
	"agentctl/tui"
	"agentctl/tui/protolog"
	"agentctl/wsclient"
)

var draw = flag.Bool("draw", false, "draw the pictures of the documents anew")

var (
	dark  = screenshot.SVGOptions{Background: "#16181d", Foreground: "#d8dee9"}
	light = screenshot.SVGOptions{Background: "#fdfdfb", Foreground: "#1f2328"}
)

// A shot is one picture: the screen after keys.
type shot struct {
	name, title string
	theme       tui.Theme
	session     string // shown first; "": all of them
	keys        []string
	paper       screenshot.SVGOptions
	alone       bool // the session, without the others of the server: the wire carries less that comes by chance
}

var shots = []shot{
	{"session", "A session: a tool's output, a patch that waits for a decision, and the queue", tui.ThemeDark, "fix-race", []string{"\t"}, dark, false},
	{"sessions", "All sessions of a server, those that need a person first", tui.ThemeDark, "", []string{"\x1b[B", " "}, dark, false},
	{"wire", "The wire: what goes to the server and comes from it, message by message", tui.ThemeDark, "fix-race", []string{"1", "\x1b[18~"}, dark, true},
	{"light", "Markdown and a diff, on a light terminal", tui.ThemeLight, "guide", nil, light, false},
}

// ids are made by chance: epochs, and names of sessions and messages.
var ids = []*regexp.Regexp{regexp.MustCompile(`[ "]([a-z0-9]{6,12}):[0-9]+`), regexp.MustCompile(`\b[sm]_([a-z0-9]+)`)}

// frames are when a frame came on the wire, or that a message is of the frame above; places are the rows of messages. How messages
// share frames, and which of two at the same time is first, is chance.
var (
	frames = regexp.MustCompile(`<text [^>]*>(\d\d:\d\d:\d\d\.\d{3}|⋮)</text>\n`)
	places = regexp.MustCompile(` y="[0-9.]+"`)
)

// lines are those of a picture by which it is compared.
func (s *shot) lines(svg []byte) []string {
	if !s.alone {
		return strings.Split(string(svg), "\n")
	}
	lines := strings.Split(string(places.ReplaceAll(frames.ReplaceAll(svg, nil), nil)), "\n")
	slices.Sort(lines)
	return lines
}

const (
	shotColumns = 104
	shotRows    = 34
)

// TestThePicturesAreOfThisProgram plays the sessions of the pictures, on a clock of their own, and compares what the screen shows
// with the pictures in the documents. After a change of the screen that you have looked at:
//
//	go test ./cmd/agentctl -run Pictures -draw
func TestThePicturesAreOfThisProgram(t *testing.T) {
	wake := make(chan os.Signal, 1)
	signal.Notify(wake, syscall.SIGURG) // the runtime's own goroutine for signals is not to be born in a bubble
	signal.Stop(wake)
	for _, s := range shots {
		t.Run(s.name, func(t *testing.T) {
			var written []byte
			synctest.Test(t, func(t *testing.T) { written = s.take(t) })
			screen, err := screenshot.Render(written, shotColumns, shotRows)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				screen.Mask(id, "k3f9ab7p2m")
			}
			var got bytes.Buffer
			s.paper.Title = s.title
			if err := screen.WriteSVG(&got, s.paper); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("..", "..", "docs", "screenshots", s.name+".svg")
			if *draw {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if g, w := apart(s.lines(got.Bytes()), s.lines(want)); g != w {
				t.Errorf("%s is not what the screen shows: look at it, then draw it anew (see this test)\nthe screen:  %s\nthe picture: %s", file, g, w)
			}
		})
	}
}

// apart is where lines are not the same; nothing where they are.
func apart(as, bs []string) (one, other string) {
	for i := range max(len(as), len(bs)) {
		if i < len(as) {
			one = as[i]
		}
		if i < len(bs) {
			other = bs[i]
		}
		if one != other {
			return one, other
		}
	}
	return "", ""
}

// everyAgent plays the same script, whatever its name.
type everyAgent struct{ *script.Script }

func (everyAgent) Names() []string { return []string{"claude", "codex", "gemini"} }

// film is what a program writes to its terminal.
type film struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (f *film) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all.Write(b)
}

func (f *film) now() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.Clone(f.all.Bytes())
}

// take plays the sessions and returns what was written to the terminal until the picture is taken.
func (s *shot) take(t *testing.T) []byte {
	time.Sleep(9*time.Hour + 41*time.Minute) // it is a morning
	plot, err := script.Load(filepath.Join("testdata", "screenshots.script"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(t.Context(), server.Config{
		Session: session.Config{Store: store, Agents: everyAgent{plot}, DefaultAgent: "claude"}, Version: "1.0",
	})
	if err != nil {
		t.Fatal(err)
	}
	pipe := server.NewPipe()
	i := &instance{store: store, server: srv, listeners: []*server.Listener{pipe.Listener}}
	serving, end := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() {
		if err := i.serve(serving, 0); err != nil {
			t.Error(err)
		}
	})
	defer func() {
		end()
		served.Wait()
		if err := i.close(); err != nil {
			t.Error(err)
		}
	}()
	stage(t, pipe)
	return s.look(t, pipe)
}

// client connects as somebody.
func client(t *testing.T, pipe *server.Pipe, name string, tap func(wsclient.Frame)) *wsclient.Client {
	c := wsclient.New("ws://box:7777", wsclient.Options{Dial: pipe.Dial, Name: name, UserAgent: "agentctl", OnFrame: tap, Heartbeat: 24 * time.Hour})
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// stage brings the sessions to where the pictures show them.
func stage(t *testing.T, pipe *server.Pipe) {
	c := client(t, pipe, "ada", nil)
	defer c.Close()
	for _, of := range []struct {
		name, agent string
		says        []string
	}{
		{"guide", "claude", []string{"Write the guide for newcomers"}},
		{"nightly", "codex", []string{"Run the nightly lint"}},
		{"schema-v7", "gemini", []string{"migrate the schema to version 7", "Then write down what changed"}},
		{"release", "codex", []string{"Prepare the release 1.4"}},
		{"fix-race", "claude", []string{"The tests of pkg/store fail now and then. Find the race.", "Then tidy the module", "And tell me what you changed"}},
	} {
		made, err := wsclient.Call[protocol.CreateResult](t.Context(), c, protocol.DoCreate, "", protocol.CreateData{Name: of.name, Agent: of.agent})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range of.says {
			if _, err := wsclient.Call[protocol.SendResult](t.Context(), c, protocol.DoSend, made.Session, protocol.SendData{Text: text}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(40 * time.Second)
		}
	}
}

// look shows the screen, presses the keys and gives what was written.
func (s *shot) look(t *testing.T, pipe *server.Pipe) []byte {
	wire := protolog.NewLog()
	c := client(t, pipe, "ada", tapInto(wire))
	defer c.Close()
	keys, typing := io.Pipe()
	defer typing.Close()
	var screen film
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		o := tui.Options{
			Input: keys, Output: &screen, Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "CLICOLOR_FORCE=1"},
			Theme: s.theme, Zone: time.UTC, Width: shotColumns, Height: shotRows,
		}
		if s.alone {
			left <- tui.Run(ctx, &view{client: c, session: s.id(t, c), wire: wire}, o)
			return
		}
		left <- tui.Desk(ctx, fleet{client: c, wire: wire}, s.id(t, c), o)
	}()
	for _, key := range s.keys {
		time.Sleep(2 * time.Second)
		if _, err := io.WriteString(typing, key); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2 * time.Second)
	synctest.Wait()
	out := screen.now()
	leave()
	if err := <-left; err != nil {
		t.Error(err)
	}
	return out
}

// id is that of the session shown first.
func (s *shot) id(t *testing.T, c *wsclient.Client) string {
	all, err := wsclient.Call[protocol.ListResult](t.Context(), c, protocol.DoList, "", nil)
	if err != nil {
		t.Error(err)
	}
	for _, one := range all.Sessions {
		if one.Name == s.session {
			return one.Session
		}
	}
	return ""
}
