package policyfuzz

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"agentctl/protocol"
	"agentctl/server/policy"
)

// allowed reports whether rules that deny rm, and allow everything else, allow a line.
func allowed(line, dir string) bool {
	f := &protocol.PolicyFile{
		Deny: []protocol.PolicyRule{{Program: "rm"}}, Allow: []protocol.PolicyRule{{Tool: "shell"}},
	}
	call := policy.Call{Kind: protocol.ToolExecute, Dir: dir, Tool: "shell", Line: line, Text: line}
	return policy.JudgeFile(f, &call).Action == policy.Allow
}

// No line is allowed with which an interpreter of shells starts rm.
func TestNoAllowedLineStartsADeniedProgram(t *testing.T) {
	dir := t.TempDir()
	ran := 0
	for seed := range uint64(3000) {
		line := Line(rand.New(rand.NewPCG(seed, 0)))
		if !starts(t, line, dir) {
			continue
		}
		if ran++; allowed(line, dir) {
			t.Errorf("seed %d: %q is allowed", seed, line)
		}
	}
	if ran < 300 {
		t.Errorf("only %d lines run rm", ran)
	}
}

// starts reports whether an interpreter starts rm for a line. It starts and opens nothing, so it takes
// no process substitution, for which it would wait for a pipe.
func starts(t *testing.T, line, dir string) bool {
	if strings.Contains(line, "<(") || strings.Contains(line, ">(") {
		return false
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var calls atomic.Int32 // parts of a pipe run at the same time
	var rm atomic.Bool
	runner, err := interp.New(
		interp.Dir(dir), interp.Env(nil), interp.StdIO(nil, io.Discard, io.Discard),
		interp.OpenHandler(func(context.Context, string, int, os.FileMode) (io.ReadWriteCloser, error) {
			return nil, os.ErrPermission
		}),
		interp.ReadDirHandler2(func(context.Context, string) ([]os.DirEntry, error) { return nil, os.ErrPermission }),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
			return func(_ context.Context, args []string) error {
				if path.Base(args[0]) == "rm" {
					rm.Store(true)
				}
				if calls.Add(1) > 100 {
					cancel()
				}
				return nil
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	_ = runner.Run(ctx, file)
	return rm.Load()
}
