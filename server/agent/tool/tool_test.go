package tool

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"agentctl/internal/dev/thorough"
	"agentctl/server/agent"
	"agentctl/server/agent/llm"
)

func TestMain(m *testing.M) {
	thorough.Parallel(4) // tests wait for processes and disks
	goleak.VerifyTestMain(m)
}

// A host records process groups.
type host struct {
	agent.Host

	mu      sync.Mutex
	running map[int]bool
	started int
}

func (h *host) RecordProcessGroup(g agent.ProcessGroup) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running == nil {
		h.running = map[int]bool{}
	}
	if delete(h.running, g.PID); !g.Ended {
		h.started++
		h.running[g.PID] = true
	}
	return nil
}

// A rig is the tools of a directory.
type rig struct {
	*Toolbox
	t    *testing.T
	dir  string
	host *host
}

// newRig returns the tools of a new directory with files.
func newRig(t *testing.T, files map[string]string) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: filepath.Join(dir, "work"), host: &host{}}
	for name, text := range files {
		r.put(name, text)
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Toolbox, err = Open(Options{CWD: r.dir, Env: os.Environ(), Host: r.host, Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// put writes a file of the directory.
func (r *rig) put(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// link makes a symbolic link in the directory.
func (r *rig) link(target, name string) {
	r.t.Helper()
	if err := os.Symlink(target, filepath.Join(r.dir, name)); err != nil {
		r.t.Fatal(err)
	}
}

// tree returns the files of the directory and of the one above it, one a line with their texts: of a large one
// the hash.
func (r *rig) tree() string {
	r.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Dir(r.dir), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(r.dir, path)
		if err != nil {
			return err
		}
		if e.Type()&os.ModeSymlink != 0 {
			fmt.Fprintf(&b, "%s link\n", name)
			return nil
		}
		text, err := os.ReadFile(path)
		if len(text) > 1<<20 {
			fmt.Fprintf(&b, "%s %x\n", name, sha256.Sum256(text))
			return err
		}
		fmt.Fprintf(&b, "%s %q\n", name, text)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return b.String()
}

// tool returns a tool by its name.
func (r *rig) tool(name string) llm.Tool {
	r.t.Helper()
	for _, tool := range r.Tools() {
		if tool.Name == name {
			return tool
		}
	}
	r.t.Fatalf("no tool %s", name)
	return llm.Tool{}
}

// call returns a call with arguments.
func (r *rig) call(in any) *llm.ToolCall {
	r.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		r.t.Fatal(err)
	}
	return &llm.ToolCall{ID: "c", Input: b}
}

// args are the arguments of a call.
type args map[string]any

// run previews and runs a call.
func (r *rig) run(ctx context.Context, name string, in args) (llm.Preview, llm.ToolResult, error) {
	r.t.Helper()
	c := r.call(in)
	tool := r.tool(name)
	p, err := tool.Preview(ctx, c)
	if err != nil {
		return p, llm.ToolResult{}, err
	}
	result, err := p.Run(ctx, func(string) {})
	return p, result, err
}

// must returns the text of a call that succeeds.
func (r *rig) must(name string, in args) string {
	r.t.Helper()
	_, result, err := r.run(r.t.Context(), name, in)
	if err != nil || result.Failed {
		r.t.Fatalf("%s %v: %+v, %v", name, in, result, err)
	}
	return result.Text
}

func TestEveryToolHasAStrictSchema(t *testing.T) {
	r := newRig(t, nil)
	box, err := Open(Options{CWD: r.dir, Config: Config{Fetch: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	names := map[string]bool{}
	for _, tool := range box.Tools() {
		var s struct {
			Type       string
			Properties map[string]any
			Required   []string
		}
		if err := json.Unmarshal(tool.Schema, &s); err != nil || s.Type != "object" || s.Required == nil {
			t.Errorf("%s: %s, %v", tool.Name, tool.Schema, err)
		}
		if names[tool.Name] || tool.About == "" || tool.Kind == "" {
			t.Errorf("%+v", tool)
		}
		names[tool.Name] = true
		if _, err := tool.Preview(t.Context(), r.call(args{"unknown": 1})); err == nil {
			t.Errorf("%s takes an unknown argument", tool.Name)
		}
	}
	if !names["fetch"] || len(names) != len(r.Tools())+1 {
		t.Errorf("tools %v", names)
	}
}
