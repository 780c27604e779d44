//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
)

// A realAgent is a pinned release of an agent and its setup for the fake model.
type realAgent struct {
	name      string
	title     string                                  // in the table of docs/agents.md
	npm       string                                  // its package
	program   string                                  // path below node_modules
	args      []string                                // arguments of program
	acp       int                                     // version of the protocol; 0: the default
	shellTool string                                  // name of its shell tool
	command   func(command string) obj                // arguments of its shell tool
	write     func(file string) (tool string, in any) // call that writes a file with the content written
	read      func(file string) (tool string, in any) // call that reads a file; nil: an edit needs none
	edit      func(file string) (tool string, in any) // call that replaces the text before by after
	delegate  func(task string) []toolCall            // calls that give a task to a sub-agent and wait for it; nil: it has none
	nest      bool                                    // its sub-agents get no sessions
	initial   string                                  // the mode in which it asks before it acts
	mode      string                                  // another mode
	env       func(home, endpoint string) map[string]string
	files     func(endpoint string) map[string]any // settings files, by path below its home: text or JSON; nil: none
	backdate  func(home string) error              // makes its conversations look older; nil: not needed
	denied    protocol.Reason                      // how a turn ends after a denial; empty: completed
	ask       func() (tool string, in any)         // call that asks the user; nil: it has no such tool
	limited   func(*fakemodel.Reply)               // answers as its provider does at a usage limit
	resets    bool                                 // it reports the end of a limit
	notes     map[string]note                      // by feature

	// serve starts it elsewhere, for sessions in cwd, and returns its entry in the configuration; nil: the
	// server runs it.
	serve func(t *testing.T, cwd string, entry obj) obj
	vague bool // that server passes on neither the agent's version nor the reason of a failure
}

// A toolCall is a call of a tool.
type toolCall struct {
	tool string
	in   obj
}

// A note is a remark on a feature of an agent: its condition, or why the agent lacks it.
type note struct {
	text string
	lack func(*testing.T, *testSession) // observes that the agent lacks the feature; nil: it has it
}

// written is the content of files that agents write, before and after the texts of an edit.
const (
	written = "one\ntwo\n"
	before  = "two"
	after   = "three"
)

type obj = map[string]any

// config writes the agent's settings into home and returns its entry in a server's configuration,
// with the file of its tap, if it has one. It fails the test if the agent is not installed.
func (a *realAgent) config(t *testing.T, home, cwd, endpoint string, tap bool) (entry obj, frames string) {
	t.Helper()
	program, err := filepath.Abs(filepath.Join(*modules, a.program))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is not installed, run internal/dev/interop/install: %v", a.name, err)
	}
	files := map[string]any{}
	if a.files != nil {
		files = a.files(endpoint)
	}
	for name, content := range files {
		b, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := content.(string); ok {
			b = []byte(text)
		}
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := a.env(home, endpoint)
	env["HOME"] = home
	entry = obj{"command": program, "args": a.args, "env": env}
	if a.serve != nil {
		return a.serve(t, cwd, entry), ""
	}
	if tap {
		entry, frames = tapped(t, program, a.args, env)
	}
	if a.acp != 0 {
		entry["acp"] = a.acp
	}
	if a.nest {
		entry["nest_sub_agents"] = true
	}
	return entry, frames
}

// backdateGemini renames conversation files to older times, each to its own, in their order. This
// release names each file by its start minute, and a load within the same minute overwrites the
// file before reading it. A load makes another file of the conversation.
func backdateGemini(home string) error {
	files, err := filepath.Glob(filepath.Join(home, ".gemini/tmp/*/chats/session-*"))
	if err != nil {
		return err
	}
	began := regexp.MustCompile(`session-\d{4}-\d\d-\d\dT\d\d-\d\d-`)
	for i, f := range files {
		aged := began.ReplaceAllString(filepath.Base(f), fmt.Sprintf("session-2026-01-01T00-%02d-", i))
		if err := os.Rename(f, filepath.Join(filepath.Dir(f), aged)); err != nil {
			return err
		}
	}
	return nil
}
