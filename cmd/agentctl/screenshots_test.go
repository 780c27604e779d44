//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/cli/screen"
	"agentctl/internal/dev/screenshot"
	"agentctl/internal/dev/verbtest"
	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/embedded"
	"agentctl/tui"
	"agentctl/tui/ui"
	"agentctl/wsclient"
)

var draw = flag.Bool("draw", false, "redraw the screenshots of the documents")

var (
	dark  = screenshot.SVGOptions{Background: "#16181d", Foreground: "#d8dee9"}
	light = screenshot.SVGOptions{Background: "#fdfdfb", Foreground: "#1f2328"}
)

// A shot is one screenshot: the screen after keys.
type shot struct {
	name, title string
	sessions    []scene
	session     string // shown first; "": the dashboard
	keys        []string
	paper       *screenshot.SVGOptions // nil: dark
	columns     int                    // 0: shotColumns
	rows        int                    // 0: shotRows
	lost        bool                   // the connection, before the picture
}

// A scene is a session: its name, its agent, and what a user sends.
type scene struct {
	name, agent string
	messages    []string
}

var (
	race = scene{"fix-race", "claude", []string{
		"The tests of pkg/store fail now and then. Find the race.",
		"Then tidy the module", "And tell me what you changed",
	}}
	guide   = scene{"guide", "claude", []string{"Write the guide for newcomers"}}
	release = scene{"release", "codex", []string{"Prepare the release 1.4"}}
	migrate = scene{"schema-v7", "gemini", []string{
		"migrate the schema to version 7", "Then write down what changed",
		"Run the benchmarks and compare them with version 6", "Open a pull request",
	}}
	ordinary = []scene{guide, {"nightly", "codex", []string{"Run the nightly lint"}}, migrate, release, race}
	// The agent requests to run the message of each.
	waiting = []scene{
		{"api-limits", "claude", []string{"go test ./server/limit/... -run TestBurst -count=20"}},
		{"deps", "codex", []string{"npm install --save-dev vitest@3"}},
		{"docs-links", "gemini", []string{"curl -sSf https://example.org/sitemap.xml -o sitemap.xml"}},
		{"flaky-ci", "claude", []string{"git push --force-with-lease origin flaky-ci"}},
		{"i18n", "codex", []string{"python3 scripts/extract_messages.py --all"}},
		{"index-size", "gemini", []string{"psql -f migrations/0042_drop_index.sql staging"}},
		{"login-page", "claude", []string{"npx playwright test login --headed"}},
		{"old-branches", "codex", []string{"git branch --merged main | xargs git branch -d"}},
		{"profile", "gemini", []string{"sudo perf record -g -p 4121 -- sleep 30"}},
		{"release", "claude", []string{"git push origin v1.4.0"}},
	}
)

// Keys as a terminal sends them.
const (
	tab, down, focusPane = "\t", "\x1b[B", "\x1bw"
	f1, commands         = "\x1bOP", "\x0b"
)

var shots = slices.Concat(mainShots, atOtherSizes("waiting", "session", "command"))

var mainShots = []shot{
	{name: "start", title: "The first start: the agents of this machine, those that are ready first", keys: []string{"+"}},
	{name: "waiting", title: "Ten sessions that wait for a decision", sessions: waiting},
	{
		name: "sessions", title: "All sessions of a server, those that need a person first", sessions: ordinary,
		keys: []string{down, " "},
	},
	{name: "running", title: "A turn that runs, and a tool", sessions: []scene{
		{"schema-v7", "gemini", []string{"migrate the schema to version 7"}},
	}, session: "schema-v7"},
	{name: "finished", title: "A finished turn: Markdown and a diff", sessions: []scene{guide}, session: "guide"},
	{
		name: "light", title: "Markdown and a diff, on a light terminal", sessions: []scene{guide}, session: "guide",
		paper: &light,
	},
	{
		name: "command", title: "A shell command that waits for a decision", sessions: []scene{release},
		session: "release", keys: []string{tab},
	},
	{
		name: "session", title: "A session: a tool's output, a patch that waits for a decision, and the queue",
		sessions: []scene{race}, session: "fix-race", keys: []string{tab},
	},
	{
		name: "review", title: "The review of a patch, with the keys that decide", sessions: []scene{race},
		session: "fix-race", keys: []string{tab, "v"},
	},
	{
		name: "queue", title: "A queue of three messages, the second selected", sessions: []scene{migrate},
		session: "schema-v7", keys: []string{tab, down},
	},
	{
		name: "lost", title: "A lost connection, which is tried again", sessions: []scene{guide}, session: "guide",
		lost: true,
	},
	{
		name: "help", title: "The most important keys of a session", sessions: []scene{guide}, session: "guide",
		keys: []string{f1},
	},
	{
		name: "palette", title: "The commands by name, with their keys", sessions: []scene{guide}, session: "guide",
		keys: []string{commands, "se"},
	},
	{
		name: "panes", title: "Two sessions side by side", sessions: []scene{guide, release}, session: "guide",
		keys: []string{focusPane, "v", "release", "\r"}, columns: 160,
	},
}

// atOtherSizes returns shots on a small and on a large screen, with the number of columns in their names.
func atOtherSizes(names ...string) (out []shot) {
	for _, s := range mainShots {
		if !slices.Contains(names, s.name) {
			continue
		}
		for _, size := range []tui.Size{{Width: 80, Height: 24}, {Width: 200, Height: 50}} {
			other := s
			other.name, other.columns, other.rows = fmt.Sprintf("%s-%d", s.name, size.Width), size.Width, size.Height
			out = append(out, other)
		}
	}
	return out
}

// ids matches random ids: epochs, sessions and messages.
var ids = []*regexp.Regexp{regexp.MustCompile(`[ "]([a-z0-9]{6,12}):[0-9]+`), regexp.MustCompile(`\b[sm]_([a-z0-9]+)`)}

func maskIDs(s *screenshot.Screen) {
	for _, id := range ids {
		s.Mask(id, "k3f9ab7p2m")
	}
}

const (
	shotColumns = 120
	shotRows    = 36
)

// TestThePicturesAreOfThisProgram runs the sessions of the screenshots in a synctest bubble and
// compares the screen with the screenshots of the documents. After a change of the screen, redraw
// them and review them:
//
//	go test ./cmd/agentctl -run Picture -draw
func TestThePicturesAreOfThisProgram(t *testing.T) {
	startSignals()
	for _, s := range shots {
		t.Run(s.name, func(t *testing.T) {
			var written []byte
			size := tui.Size{Width: cmp.Or(s.columns, shotColumns), Height: cmp.Or(s.rows, shotRows)}
			synctest.Test(t, func(t *testing.T) { written = s.record(t, size) })
			screen, err := screenshot.Render(written, size.Width, size.Height)
			if err != nil {
				t.Fatal(err)
			}
			maskIDs(screen)
			var got bytes.Buffer
			paper := dark
			if s.paper != nil {
				paper = *s.paper
			}
			paper.Title = s.title
			if err := screen.WriteSVG(&got, paper); err != nil {
				t.Fatal(err)
			}
			comparePicture(t, s.name, got.String())
		})
	}
}

// startSignals starts the runtime's goroutine for signals outside of a bubble.
func startSignals() {
	wake := make(chan os.Signal, 1)
	signal.Notify(wake, syscall.SIGURG)
	signal.Stop(wake)
}

// comparePicture compares a picture of the documents, or draws it.
func comparePicture(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("..", "..", "docs", "screenshots", name+".svg")
	if *draw {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if g, w := firstDifference(strings.Split(got, "\n"), strings.Split(string(want), "\n")); g != w {
		t.Errorf("%s differs from the screen: review the change, then redraw it (go test ./cmd/agentctl -run Picture -draw)\n"+
			"screen: %s\nfile:   %s", file, g, w)
	}
}

// firstDifference returns the first lines that differ, or empty strings.
func firstDifference(as, bs []string) (one, other string) {
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

// screenshotAgents runs one script under every name.
type screenshotAgents struct{ *script.Script }

func (screenshotAgents) Names() []string { return []string{"claude", "codex", "gemini"} }

// record runs the sessions and returns the output to the terminal until the screenshot.
func (s *shot) record(t *testing.T, size tui.Size) []byte {
	time.Sleep(9*time.Hour + 41*time.Minute) // 09:41
	dial := startScript(t, "screenshots.script")
	createSessions(t, dial, s.sessions)
	return s.show(t, dial, size)
}

// startScript starts a server whose agents play a script, until the end of the test.
func startScript(t *testing.T, name string) dialFunc {
	agent, err := script.Load(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	server, err := embedded.Start(t.Context(), embedded.Options{
		Agents: screenshotAgents{agent}, DefaultAgent: "claude", Dir: t.TempDir(), Version: "1.0",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.Dialer("ws://" + embedded.Host)
}

type dialFunc = func(context.Context) (net.Conn, error)

// newClient connects to the server as name.
func newClient(t *testing.T, dial dialFunc, name string) *wsclient.Client {
	c := wsclient.New("ws://127.0.0.1:7777", wsclient.Options{ // of this machine: deltas come one by one
		Dial: dial, Name: name, UserAgent: "agentctl",
		Heartbeat: 24 * time.Hour, Rand: func() float64 { return 0.5 },
	})
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// createSessions creates the sessions and runs them up to the state of the screenshots.
func createSessions(t *testing.T, dial dialFunc, sessions []scene) {
	c := newClient(t, dial, "ada")
	defer c.Close()
	for _, of := range sessions {
		made, err := wsclient.Call[protocol.CreateResult](t.Context(), c, protocol.DoCreate, "",
			protocol.CreateData{Name: of.name, Agent: of.agent})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range of.messages {
			if _, err := wsclient.Call[protocol.SendResult](t.Context(), c, protocol.DoSend, made.Session,
				protocol.SendData{Text: text}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(40 * time.Second)
		}
	}
}

// show opens the screen, presses the keys and returns the output.
func (s *shot) show(t *testing.T, dial dialFunc, size tui.Size) []byte {
	var link net.Conn
	var lost error
	c := newClient(t, func(ctx context.Context) (_ net.Conn, err error) {
		if lost != nil {
			return nil, lost
		}
		link, err = dial(ctx)
		return link, err
	}, "ada")
	defer c.Close()
	theme := ui.ThemeDark
	if s.paper == &light {
		theme = ui.ThemeLight
	}
	typing, output, leave := openScreen(t, c, s.id(t, c), theme, size)
	for _, key := range s.keys {
		time.Sleep(2 * time.Second)
		if _, err := io.WriteString(typing, key); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2 * time.Second)
	synctest.Wait()
	if s.lost {
		lost = syscall.ECONNREFUSED
		_ = link.Close()
		time.Sleep(5 * time.Second)
		synctest.Wait()
	}
	defer leave()
	return output.Bytes()
}

// openScreen shows a session, or with "" the dashboard. It returns where keys are typed, the output
// to the terminal, and what ends the screen.
func openScreen(
	t *testing.T, c *wsclient.Client, session string, theme ui.Theme, size tui.Size,
) (typing io.Writer, output *verbtest.Screen, leave func()) {
	keys, w := io.Pipe()
	output = new(verbtest.Screen)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		left <- tui.RunDashboard(ctx, screen.Server{Client: c}, session, tui.Options{
			Input: keys, Output: output, Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "CLICOLOR_FORCE=1"},
			Theme: theme, Zone: time.UTC, Size: size,
			Parts: tui.Parts{Start: tui.Start{Agents: startAgents, Tour: "agentctl tour"}},
		})
	}()
	return w, output, func() {
		cancel()
		if err := <-left; err != nil {
			t.Error(err)
		}
		_ = w.Close()
	}
}

// startAgents are those that the first start offers.
func startAgents() []tui.StartAgent {
	return []tui.StartAgent{
		{Name: "claude", Ready: true, About: "installed, logged in"},
		{Name: "codex", Ready: true, About: "installed, logged in"},
		{Name: "gemini", About: "npm install -g @google/gemini-cli"},
		{Name: "opencode", About: "npm install -g opencode-ai"},
	}
}

// id returns the id of the session shown first, or "".
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
