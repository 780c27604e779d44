package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

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

	Own []string // directories of agentctl, absolute and without links

	Box *sandbox.Box // of the session
}

// A Toolbox has the tools of one session. It implements llm.Toolbox.
type Toolbox struct {
	// Static after Open.
	options      Options
	dir          *directory
	tools        []llm.Tool
	instructions string

	journal journal
	files   fileOperations

	known   known   // files as the model read them
	outputs outputs // long outputs of commands
}

var (
	_ llm.Toolbox  = (*Toolbox)(nil)
	_ llm.Recaller = (*Toolbox)(nil)
)

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
		options: o, dir: dir, instructions: readInstructions(dir), files: osFiles{},
		outputs: outputs{parent: o.Outputs},
	}
	b.tools = []llm.Tool{
		&applyPatch{b}, &editFile{b}, &globFiles{b}, &grepFiles{b}, &listFiles{b}, &readFile{b}, &shell{b},
		todo{},
		&writeFile{b},
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

// Instructions implements llm.Toolbox.
func (b *Toolbox) Instructions() string { return b.instructions }

// Close implements llm.Toolbox. The commands have ended: their calls have.
func (b *Toolbox) Close() error { return errors.Join(b.outputs.close(), b.dir.close()) }

// instructionFiles are the files with instructions for agents. The first that exists is read.
var instructionFiles = []string{"AGENTS.md", "CLAUDE.md"}

// maxInstructions is the size limit of all instruction files, in bytes.
const maxInstructions = 32 << 10

// readInstructions returns the instructions of a directory, or "".
func readInstructions(d *directory) string {
	for _, name := range instructionFiles {
		p, err := d.locate(name)
		if err != nil || p.outside {
			continue
		}
		c, err := p.read()
		if err != nil || !c.exists || !utf8.Valid(c.bytes) {
			continue
		}
		text := string(c.bytes)
		if len(text) > maxInstructions {
			text = strings.ToValidUTF8(text[:maxInstructions], "") + "\n[the rest of " + name + " was left out]"
		}
		if text = strings.TrimSpace(text); text != "" {
			return "Instructions of the file " + name + " of the directory:\n\n" + text
		}
	}
	return ""
}
