//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"agentctl/internal/cli"
	"agentctl/internal/cli/verb"
	"agentctl/internal/dev/thorough"
)

// hostile is text that controls a terminal: DEL, C1 controls, changes of text direction.
const hostile = "a\u007fb\u0085c\u009b2Jd\u202ee\u2066f"

// screenVerbs are the verbs that own the screen, run other programs, or do not end by themselves.
// The tests of the screen and of the server's log have their output.
var screenVerbs = []string{"tour", "attach", "serve", "agents login"}

// TestNoOutputControlsATerminal runs every verb on a terminal, as text and as JSON, in a session
// whose every text is hostile.
func TestNoOutputControlsATerminal(t *testing.T) {
	t.Parallel()
	tt := newTerminalTest(t)
	tt.run("new", "--name", "h", "--title", hostile, "--agent", "script:"+tt.script())
	tt.run("send", "h", hostile, "--wait")
	tt.run("interrupt", "h", "--queue", "hold")
	tt.run("queue", "hold", "h")
	tt.run("send", "h", hostile, "--no-wait")
	tt.run("new", "--name", "asks", "--title", hostile, "--agent", "script:"+tt.script())
	tt.run("send", "asks", "ask", "--no-wait")
	bad := "no" + hostile
	lines := map[string][]string{
		"new": {"new --name " + hostile + " --agent " + bad, "new --agent script:" + bad},
		"send": {
			"send h " + hostile + " --wait --timeout 1s", "send " + bad + " x", "send asks " + hostile + " --follow",
		},
		"export": {
			"export h --format md", "export h --format html", "export h --format jsonl", "export h --format asciicast",
		},
		"approvals": {"approvals", "approvals asks"}, "explain": {"explain asks"},
		"wait":  {"wait asks --for idle --timeout 1s", "wait " + bad + " --for idle"},
		"queue": {"queue h"}, "set": {"set h " + bad + " " + bad}, "search": {"search a", "search " + hostile},
		"blob": {"blob h " + bad}, "rm": {"rm " + bad}, "rules revoke": {"rules revoke h " + bad},
		"queue edit": {"queue edit h " + bad + " " + hostile}, "queue rm": {"queue rm h " + bad},
		"queue mv": {"queue mv h " + bad + " 1"}, "queue release": {"queue release h " + bad},
		"state restore": {"state restore " + bad}, "login": {"login --server ws://" + bad},
		"plan": {"plan h"}, "plan run": {"plan run h " + bad},
		"task cancel": {"task cancel h " + bad}, "task restart": {"task restart h " + bad},
		"backup": {"backup " + hostile + ".db"}, "check": {"check", "check " + bad},
		"restore": {"restore " + bad}, "token": {"token --subject " + hostile},
		"token user": {"token user " + bad + " --timeout 300ms --file " + bad}, "deny": {"deny asks " + bad},
		"agents sessions": {"agents sessions " + bad}, "rename": {"rename h --title " + hostile},
		"label": {"label h " + hostile, "label h k=" + hostile},
		"watch": {
			"watch --timeout 500ms", "watch --summary --timeout 500ms",
			"watch --columns name,agent,about,turn,rate,lag --timeout 500ms",
		},
		"mcp": {"mcp --timeout 100ms"}, "connect": {"connect --timeout 100ms"},
	}
	for _, path := range verbPaths() {
		if slices.Contains(screenVerbs, path) {
			continue
		}
		list := lines[path]
		if list == nil {
			list = []string{path + " h", path}
		}
		for i, line := range list {
			formats := []string{"text", "json"}
			if (len(path)+i)%2 == 0 {
				slices.Reverse(formats)
			}
			for _, format := range thorough.Sample(formats, 1) {
				out := tt.rawOutput(append([]string{"-o", format, "--timeout", "5s"}, strings.Split(line, " ")...)...)
				if r := controlIn(out); r != 0 {
					t.Errorf("agentctl %q -o %s: %U in %q", line, format, r, out)
				}
			}
		}
	}
}

// verbPaths returns the paths of all verbs that can be run, the one that stops the server last.
func verbPaths() []string {
	var paths []string
	var walk func(*cobra.Command)
	walk = func(parent *cobra.Command) {
		for _, cmd := range parent.Commands() {
			if cmd.Runnable() && verb.Path(cmd) != "stop" {
				paths = append(paths, verb.Path(cmd))
			}
			walk(cmd)
		}
	}
	walk(cli.NewRoot(&verb.Context{Env: func(string) string { return "" }}))
	return append(paths, "stop")
}

// rawOutput runs a verb with its output and errors on a terminal, and returns both.
func (tt *terminalTest) rawOutput(args ...string) string {
	tt.t.Helper()
	line := tt.line(args...)
	line.Terminal = true
	result, err := runners.run(line)
	if err != nil {
		tt.t.Fatal(err)
	}
	return result.Stdout
}

// controlIn returns a rune that controls a terminal, or 0.
func controlIn(text string) rune {
	for _, r := range text {
		if r < 0x20 && !strings.ContainsRune("\n\r\t", r) || r >= 0x7f && r < 0xa0 ||
			unicode.Is(unicode.Bidi_Control, r) {
			return r
		}
	}
	return 0
}
