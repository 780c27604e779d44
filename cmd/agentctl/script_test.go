//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/thorough"
	"agentctl/internal/localserver"
)

func TestMain(m *testing.M) {
	if program := linePrograms[filepath.Base(os.Args[0])]; program != nil {
		os.Exit(program())
	}
	testscript.Main(leakChecker{m}, map[string]func(){
		runnerName:         runCommands,
		"panicking-client": runPanickingClient,
		"fake-acp":         func() { os.Exit(fakeacp.Main()) },
		"fake-mcp":         runMCPServer,
	})
}

// A leakChecker fails the tests if a goroutine is left.
type leakChecker struct{ *testing.M }

func (m leakChecker) Run() int {
	if err := linkPrograms(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP) // the programs that tests start must not inherit that it is ignored
	thorough.Parallel(6)               // most tests wait for processes
	code := m.M.Run()
	signal.Stop(hup)
	if err := errors.Join(runners.close(), goleak.Find()); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// linkPrograms adds linePrograms to the programs in PATH. Main would make them commands of scripts, which are
// those of lineCommand.
func linkPrograms() error {
	runner, err := exec.LookPath(runnerName)
	for name := range linePrograms {
		err = errors.Join(err, os.Link(runner, filepath.Join(filepath.Dir(runner), name)))
	}
	return err
}

// scriptTimeout limits every wait of a script.
const scriptTimeout = time.Minute

// TestScripts runs testdata/script with the real program. Each script has its own data directory; a
// server that it leaves running is stopped. One of runners runs a line "agentctl ARG…"; a line "exec agentctl ARG…"
// is a process.
func TestScripts(t *testing.T) {
	t.Parallel()
	hooks := new(hookCommands)
	earlier, err := filepath.Abs(filepath.Join("..", "..", "internal", "config", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			dir := localserver.Dir(filepath.Join(e.WorkDir, "data"))
			for _, kv := range []string{
				"AGENTCTL_DATA=" + string(dir), "AGENTCTL_SERVER=", "AGENTCTL_TOKEN=", "AGENTCTL_DIALECT=",
				"AGENTCTL_DIALECT_OPTIONS=", "XDG_RUNTIME_DIR=", "USER=ann",
				"EARLIER=" + earlier, // the configuration of earlier versions
				"HOME=" + e.WorkDir, "TMPDIR=" + e.WorkDir, "GOCOVERDIR=" + os.Getenv("GOCOVERDIR"),
				"GORACE=atexit_sleep_ms=0 " + os.Getenv("GORACE"), // else every command takes a second to exit
				"GOGC=400", // a command runs for milliseconds
			} {
				k, v, _ := strings.Cut(kv, "=")
				e.Setenv(k, v)
			}
			if err := copyFile(filepath.Join("testdata", "agent.script"),
				filepath.Join(e.WorkDir, "agent.script")); err != nil {
				return err
			}
			e.Defer(func() { endServer(t, localserver.Dir(e.Getenv("AGENTCTL_DATA"))) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"agentctl":   lineCommand("agentctl"),
			"mcp-client": lineCommand("mcp-client"),

			"exits": cmdExits,
			"field": cmdField,
			"until": cmdUntil,
			"shows": cmdShows,
			"lines": cmdLines,

			"modelserver": cmdModelServer,

			"servedat":   cmdServedAt,
			"foreign":    cmdForeign,
			"withtoken":  cmdWithToken,
			"killserver": cmdKillServer,
			"damage":     cmdDamage,
			"preflight":  cmdPreflight,
			"receiver":   hooks.receiver,
			"link":       hooks.link,
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

func endServer(t *testing.T, dir localserver.Dir) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	if pid := dir.Holder(); pid != 0 {
		if err := dir.Stop(ctx, pid); err != nil {
			t.Error(err)
		}
	}
}

// cmdExits runs a program and requires an exit code: exits CODE PROGRAM ARG…
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := runProgram(ts, args[1:]).print(ts); got != want {
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

// cmdField sets a variable to a value of the JSON object in the last line of stdout: field VAR
// PATH, with PATH as a.0.b
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

// cmdUntil repeats a program until it exits with a code: until CODE PROGRAM ARG…
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	repeat(ts, args, func(r *commandResult) bool { return r.Code == want })
}

// cmdShows repeats a program until its output matches: shows REGEXP PROGRAM ARG…
func cmdShows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: shows REGEXP PROGRAM ARG…")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	repeat(ts, args, func(r *commandResult) bool { return want.MatchString(r.Stdout) })
}

// repeat runs the program after the first argument, which is what is awaited, until a result is final.
func repeat(ts *testscript.TestScript, args []string, final func(*commandResult) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	for pause := 20 * time.Millisecond; ; pause += pause / 2 {
		if result := runProgram(ts, args[1:]); final(result) {
			result.print(ts)
			return
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("%s: never %s", strings.Join(args[1:], " "), args[0])
		case <-time.After(min(pause, 200*time.Millisecond)):
		}
	}
}

// cmdLines requires N lines in stdout: [!] lines N
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

// cmdServedAt waits for the server of the data directory and sets a variable to its recorded URL:
// servedat VAR
func cmdServedAt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: servedat VAR")
	}
	dir := localserver.Dir(ts.Getenv("AGENTCTL_DATA"))
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !dir.Answers(ctx) {
		select {
		case <-ctx.Done():
			ts.Fatalf("no server answers on %s", dir)
		case <-tick.C:
		}
	}
	b, err := os.ReadFile(dir.Path("url"))
	ts.Check(err)
	line, _, _ := strings.Cut(string(b), "\n")
	url, _, _ := strings.Cut(line, " ") // a fingerprint may follow
	ts.Setenv(args[0], url)
}

// cmdWithToken runs a program with the local token in its environment: withtoken PROGRAM ARG…
func cmdWithToken(ts *testscript.TestScript, neg bool, args []string) {
	b, err := os.ReadFile(localserver.Dir(ts.Getenv("AGENTCTL_DATA")).Path("token"))
	ts.Check(err)
	ts.Setenv("AGENTCTL_TOKEN", string(b))
	defer ts.Setenv("AGENTCTL_TOKEN", "")
	if neg || len(args) == 0 {
		ts.Fatalf("usage: withtoken PROGRAM ARG…")
	}
	if code := runProgram(ts, args).print(ts); code != 0 {
		ts.Fatalf("%s exits %d", strings.Join(args, " "), code)
	}
}

// cmdKillServer kills the server with SIGKILL: killserver
func cmdKillServer(ts *testscript.TestScript, neg bool, args []string) {
	dir := localserver.Dir(ts.Getenv("AGENTCTL_DATA"))
	pid := dir.Holder()
	if neg || len(args) > 0 || pid == 0 {
		ts.Fatalf("usage: killserver, while a server runs")
	}
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	ts.Check(dir.WaitReleased(ctx, pid))
}

// cmdPreflight sends a CORS preflight request for a page of an origin and requires a status:
// preflight URL ORIGIN STATUS
func cmdPreflight(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: preflight URL ORIGIN STATUS")
	}
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodOptions, "http"+strings.TrimPrefix(args[0], "ws"), http.NoBody)
	ts.Check(err)
	r.Header.Set("Origin", args[1])
	r.Header.Set("Access-Control-Request-Method", http.MethodPost)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	ts.Check(err)
	ts.Check(answer.Body.Close())
	if got := strconv.Itoa(answer.StatusCode); got != args[2] {
		ts.Fatalf("origin %s: status %s, want %s", args[1], got, args[2])
	}
}

// cmdDamage runs SQL on the database of the data directory, whose server does not run.
func cmdDamage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage SQL")
	}
	conn, err := sqlite.OpenConn(filepath.Join(ts.Getenv("AGENTCTL_DATA"), "agentctl.db"), sqlite.OpenReadWrite)
	ts.Check(err)
	err = sqlitex.ExecuteScript(conn, args[0], nil)
	ts.Check(errors.Join(err, conn.Close()))
}
