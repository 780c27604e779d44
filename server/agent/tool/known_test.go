package tool

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"agentctl/server/agent/llm"
)

// restart opens the tools again with what the model has seen.
func (r *rig) restart(seen []llm.SeenFile) {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Fatal(err)
	}
	var err error
	r.Toolbox, err = Open(Options{CWD: r.dir, Env: os.Environ(), Host: r.host, Session: "s"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Recall(seen)
}

// After a restart a file that others changed, or that the model never read, is not replaced.
func TestAFileIsAsTheModelReadItAfterARestart(t *testing.T) {
	r := newRig(t, map[string]string{"same": "1\n", "changed": "1\n", "never": "1\n", "written": "1\n"})
	var seen []llm.SeenFile
	for _, name := range []string{"same", "changed", "written"} {
		_, result, err := r.run(t.Context(), "read", args{"path": name})
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, result.Seen...)
	}
	_, result, err := r.run(t.Context(), "write", args{"path": "written", "content": "2\n"})
	if err != nil {
		t.Fatal(err)
	}
	seen = append(seen, result.Seen...)
	r.restart(seen)
	r.put("changed", "two hours of work\n")
	for name, want := range map[string]string{
		"same": "", "written": "", "changed": "has changed since", "never": "read it before",
	} {
		_, _, err := r.run(t.Context(), "write", args{"path": name, "content": "3\n"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// A file that the model has read in part is not replaced as a whole, but edited.
func TestAFileIsReadToItsEndBeforeItIsReplaced(t *testing.T) {
	var lines []string
	for i := range 5000 {
		lines = append(lines, fmt.Sprint("line ", i+1))
	}
	r := newRig(t, map[string]string{"big": strings.Join(lines, "\n") + "\n"})
	write := func() error {
		_, err := r.tool("write").Preview(t.Context(), r.call(args{"path": "big", "content": "x\n"}))
		return err
	}
	refused := func(seen, of int) {
		t.Helper()
		want := fmt.Sprintf("you have read %d of the %d lines", seen, of)
		if err := write(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	r.must("read", args{"path": "big"})
	refused(2000, 5000)
	r.must("read", args{"path": "big", "offset": 4001}) // leaves a gap
	refused(2000, 5000)
	r.must("edit", args{"path": "big", "old_string": "line 7\n", "new_string": "line 7\nnew\n"})
	refused(2000, 5001)
	_, result, err := r.run(t.Context(), "read", args{"path": "big", "offset": 2001})
	if err != nil || len(result.Seen) != 1 || result.Seen[0].Seen != 4000 {
		t.Fatalf("%+v, %v", result.Seen, err)
	}
	r.restart(slices.Clone(result.Seen))
	refused(4000, 5001)
	r.must("read", args{"path": "big", "offset": 4001})
	if err := write(); err != nil {
		t.Error(err)
	}
}
