//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){"agentctl": func() { os.Exit(run()) }, "holder": hold, "breaks": breaks})
}

// leakless fails the tests when they leave a goroutine.
type leakless struct{ *testing.M }

func (m leakless) Run() int {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP) // whoever runs the tests may ignore it: the programs that they start must not
	code := m.M.Run()
	signal.Stop(hup)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// hold is a program that holds the data directory that it is told until its stdin ends.
func hold() {
	l, err := dataDir(os.Args[1]).lock()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	l.Close()
}

// scriptPatience bounds every wait of a script.
const scriptPatience = time.Minute

// TestScripts plays testdata/script with the real program: each script has a data directory of its own, and the server that it
// leaves there is ended.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			dir := dataDir(filepath.Join(e.WorkDir, "data"))
			for _, kv := range []string{
				"AGENTCTL_DATA=" + string(dir), "AGENTCTL_SERVER=", "AGENTCTL_TOKEN=", "AGENTCTL_DIALECT=", "AGENTCTL_DIALECT_OPTIONS=", "XDG_RUNTIME_DIR=", "USER=ann",
				"HOME=" + e.WorkDir, "TMPDIR=" + e.WorkDir, "GOCOVERDIR=" + os.Getenv("GOCOVERDIR"),
				"GORACE=atexit_sleep_ms=0 " + os.Getenv("GORACE"), // else every command takes a second to end
			} {
				k, v, _ := strings.Cut(kv, "=")
				e.Setenv(k, v)
			}
			if err := copyFile(filepath.Join("testdata", "agent.script"), filepath.Join(e.WorkDir, "agent.script")); err != nil {
				return err
			}
			e.Defer(func() { endServer(t, dataDir(e.Getenv("AGENTCTL_DATA"))) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits,
			"field": cmdField,
			"until": cmdUntil,
			"lines": cmdLines,

			"served":   cmdServed,
			"tokened":  cmdTokened,
			"murdered": cmdMurdered,
			"paged":    cmdPaged,
		},
	})
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

func endServer(t *testing.T, dir dataDir) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	if pid := dir.owner(); pid != 0 {
		if err := dir.stop(ctx, pid); err != nil {
			t.Error(err)
		}
	}
}

// cmdExits: "exits CODE PROGRAM ARG…" runs a program that must exit with that code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitCode(ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("%s exits %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// cmdField: "field VAR PATH" sets VAR to a value of the JSON object in the last line of stdout; PATH is a.0.b.
func cmdField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: field VAR PATH")
	}
	value, err := field(ts.ReadFile("stdout"), args[1])
	ts.Check(err)
	ts.Setenv(args[0], value)
}

func field(out, path string) (string, error) {
	lines := bytes.Split(bytes.TrimSpace([]byte(out)), []byte("\n"))
	var v any
	if err := json.Unmarshal(lines[len(lines)-1], &v); err != nil {
		return "", fmt.Errorf("stdout: %w", err)
	}
	for _, key := range strings.Split(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(in) {
				return "", fmt.Errorf("no %s in %s", path, lines[len(lines)-1])
			}
			v = in[i]
		default:
			v = nil
		}
	}
	if v == nil {
		return "", fmt.Errorf("no %s in %s", path, lines[len(lines)-1])
	}
	return fmt.Sprint(v), nil
}

// cmdUntil: "until CODE PROGRAM ARG…" runs a program again until it exits with that code.
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for exitCode(ts.Exec(args[1], args[2:]...)) != want {
		select {
		case <-ctx.Done():
			ts.Fatalf("%s does not exit %d", strings.Join(args[1:], " "), want)
		case <-tick.C:
		}
	}
}

// cmdLines: "lines N" says that stdout has N lines; "! lines N" that it has not.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: lines N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile("stdout"), "\n"); (got == want) == neg {
		ts.Fatalf("stdout has %d lines", got)
	}
}

// cmdServed: "served VAR" waits for the server of the data directory and sets VAR to the URL that it recorded.
func cmdServed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: served VAR")
	}
	dir := dataDir(ts.Getenv("AGENTCTL_DATA"))
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !answers(ctx, dir) {
		select {
		case <-ctx.Done():
			ts.Fatalf("no server answers on %s", dir)
		case <-tick.C:
		}
	}
	b, err := os.ReadFile(dir.path("url"))
	ts.Check(err)
	url, _, _ := strings.Cut(string(b), "\n")
	ts.Setenv(args[0], url)
}

// cmdTokened: "tokened PROGRAM ARG…" runs a program with the local token in its environment.
func cmdTokened(ts *testscript.TestScript, neg bool, args []string) {
	b, err := os.ReadFile(dataDir(ts.Getenv("AGENTCTL_DATA")).path("token"))
	ts.Check(err)
	ts.Setenv("AGENTCTL_TOKEN", string(b))
	defer ts.Setenv("AGENTCTL_TOKEN", "")
	if neg || len(args) == 0 {
		ts.Fatalf("usage: tokened PROGRAM ARG…")
	}
	ts.Check(ts.Exec(args[0], args[1:]...))
}

// cmdMurdered: "murdered" kills the server without a chance to end in peace.
func cmdMurdered(ts *testscript.TestScript, neg bool, args []string) {
	dir := dataDir(ts.Getenv("AGENTCTL_DATA"))
	pid := dir.owner()
	if neg || len(args) > 0 || pid == 0 {
		ts.Fatalf("usage: murdered, while a server runs")
	}
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	ts.Check(dir.gone(ctx, pid))
}

// cmdPaged: "paged URL ORIGIN STATUS" asks the server as a browser does for a page of that origin, before it says anything.
func cmdPaged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: paged URL ORIGIN STATUS")
	}
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodOptions, "http"+strings.TrimPrefix(args[0], "ws"), http.NoBody)
	ts.Check(err)
	r.Header.Set("Origin", args[1])
	r.Header.Set("Access-Control-Request-Method", http.MethodPost)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	ts.Check(err)
	ts.Check(answer.Body.Close())
	if got := strconv.Itoa(answer.StatusCode); got != args[2] {
		ts.Fatalf("a page of %s is answered %s, want %s", args[1], got, args[2])
	}
}
