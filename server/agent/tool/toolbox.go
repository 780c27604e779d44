package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentctl/server/agent"
	"agentctl/server/agent/llm"
	"agentctl/server/sandbox"
)

// Config are the tools of an agent in the configuration of the server.
type Config struct {
	// Fetch adds the tool that requests web pages.
	Fetch bool `json:"fetch"`

	// FetchPrivate lets it request addresses of private networks and of this machine.
	FetchPrivate bool `json:"fetch_private"`
}

// Options are the dependencies of a session's tools.
type Options struct {
	Config  Config
	Session string
	CWD     string   // empty: the directory of the server
	Env     []string // of commands, K=V, without keys of providers
	Host    agent.Host

	// Changes is a directory for records of changed files; empty: no records.
	Changes string

	// Outputs is a directory for long outputs of commands, which its owner empties after a kill of
	// the server; empty: the directory of temporary files.
	Outputs string

	Instructions string // the user's own file with instructions; empty: none

	Own []string // directories of agentctl, absolute and without links

	Box *sandbox.Box // of the session

	// Reader returns a sandbox that writes nothing and has no network, for commands that only read; nil: this
	// machine has none. It is called when it is first needed, and may be nil.
	Reader func() *sandbox.Box
}

// A Toolbox has the tools of one session. It implements llm.Toolbox.
type Toolbox struct {
	// Static after Open.
	options Options
	dir     *directory
	tools   []llm.Tool

	journal journal
	files   fileOperations

	known   known   // files as the model read them
	outputs outputs // long outputs of commands
}

var _ llm.Toolbox = (*Toolbox)(nil)

// Open returns the tools of a session. Its directory must exist.
func Open(o Options) (*Toolbox, error) {
	if o.CWD == "" {
		cwd, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("open tools: %w", err)
		}
		o.CWD = cwd
	}
	dir, err := openDirectory(o.CWD, o.Own, o.Box)
	if err != nil {
		return nil, err
	}
	b := &Toolbox{
		options: o, dir: dir, files: osFiles{}, outputs: outputs{parent: o.Outputs},
		known: known{files: map[string]llm.SeenFile{}},
	}
	b.tools = []llm.Tool{
		b.applyPatch(), b.editFile(), b.globFiles(), b.grepFiles(), b.listFiles(), b.readFile(), b.shell(), todo(),
		b.writeFile(),
	}
	if o.Changes != "" {
		b.journal.dir = filepath.Join(o.Changes, o.Session)
	}
	if lost := b.recover(); lost != nil {
		o.Host.Logf("files of %s that a killed server left changed: %s", o.Session, strings.Join(lost, ", "))
	}
	if o.Config.Fetch {
		b.tools = append(b.tools, newFetch(o.Config.FetchPrivate))
	}
	return b, nil
}

// Tools implements llm.Toolbox.
func (b *Toolbox) Tools() []llm.Tool { return b.tools }

// Close implements llm.Toolbox. The commands have ended: their calls have.
func (b *Toolbox) Close() error { return errors.Join(b.outputs.close(), b.dir.root.Close()) }
