//go:build unix

package instance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/agents"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/eventlog"
	"agentctl/server/session"
	"agentctl/wsclient"
)

// serverEnv makes the test binary a server on the directory it names.
const serverEnv = "LOCALSERVER_TEST_DIR"

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "serve" { // as backgroundServer starts it
		if err := serveSocket(localserver.Dir(os.Args[3])); err != nil {
			fmt.Fprintln(os.Stderr, "agentctl:", err)
			os.Exit(1)
		}
		return
	}
	if dir, ok := os.LookupEnv(serverEnv); ok {
		if err := runServer(localserver.Dir(dir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func testOptions() Options {
	return Options{Server: server.Config{Session: session.Config{Agents: &agents.Registry{}}}}
}

// runServer runs a server until stdin ends, or by signal as any process.
func runServer(dir localserver.Dir) error {
	i, err := Open(context.Background(), dir, testOptions())
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return i.Close()
}

// serveSocket serves the socket until SIGTERM. If another server runs, it returns nil.
func serveSocket(dir localserver.Dir) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	i, err := Open(ctx, dir, testOptions())
	if errors.Is(err, ErrRunning) {
		return nil
	}
	if err != nil {
		return err
	}
	socket, err := dir.PlaceSocket("")
	if err != nil {
		return errors.Join(err, i.Close())
	}
	l, err := server.ListenUnix(socket)
	if err != nil {
		return errors.Join(err, i.Close())
	}
	i.AddListener(l)
	return errors.Join(i.Serve(ctx, 0), i.Close())
}

// startServer runs a server in a separate process until stop is called.
func startServer(t *testing.T, dir localserver.Dir) (stop func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), serverEnv+"="+string(dir))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("the server writes %q, %v", line, err)
	}
	return func() {
		in.Close()
		_ = cmd.Wait() // a stopped server exits by its signal
	}
}

func TestOneServerHoldsADirectory(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	if pid := d.Holder(); pid != 0 {
		t.Errorf("a free directory is held by %d", pid)
	}
	stop := startServer(t, d)
	pid := d.Holder()
	if pid == 0 {
		t.Error("no holder while a server runs")
	}
	_, err := Open(t.Context(), d, testOptions())
	var e *exit.Error
	if !errors.Is(err, ErrRunning) || !errors.As(err, &e) || !strings.Contains(err.Error(), fmt.Sprint("pid ", pid)) ||
		!strings.Contains(e.Hint, "agentctl stop") {
		t.Errorf("opened beside a server: %v", err)
	}
	stop()
	i, err := Open(t.Context(), d, testOptions())
	if err != nil {
		t.Fatalf("after the server ended: %v", err)
	}
	if err := i.Close(); err != nil {
		t.Error(err)
	}
}

func TestStopWaitsUntilTheDirectoryIsFree(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	wait := startServer(t, d)
	if err := d.Stop(t.Context(), d.Holder()); err != nil {
		t.Fatal(err)
	}
	if pid := d.Holder(); pid != 0 {
		t.Errorf("stopped, yet held by %d", pid)
	}
	wait()
}

func TestAKilledServerFreesItsDirectory(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	wait := startServer(t, d)
	pid := d.Holder()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := d.WaitReleased(t.Context(), pid); err != nil {
		t.Fatal(err)
	}
	wait()
	i, err := Open(t.Context(), d, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Close(); err != nil {
		t.Error(err)
	}
}

// A killed server leaves the long outputs of its tools: the next one removes them.
func TestTheOutputsOfAKilledServerAreRemoved(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	left := filepath.Join(d.Path(Outputs), "agentctl-output-1")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	i, err := Open(t.Context(), d, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the outputs are left: %v", err)
	}
}

func TestWaitReleasedEndsWithItsContext(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	defer startServer(t, d)()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.WaitReleased(ctx, d.Holder()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestAnIdleServerEnds(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	i, err := Open(t.Context(), d, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	pipe := server.NewPipe()
	i.AddListener(pipe.Listener)
	if err := d.Addresses().Record([]string{"ws://127.0.0.1:1"}, ""); err != nil {
		t.Fatal(err)
	}
	if err := i.Serve(t.Context(), 20*time.Millisecond); err != nil {
		t.Error(err)
	}
	if err := i.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.Path("url")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the URLs are still recorded: %v", err)
	}
}

func TestWithoutAServerEnsureRunningSaysHowToStartOne(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	var e *exit.Error
	if err := d.EnsureRunning(t.Context(), false); !errors.As(err, &e) || e.Status != exit.Unreachable || e.Hint == "" {
		t.Errorf("%v", err)
	}
}

func TestAServerWithoutASocketIsNamed(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	defer startServer(t, d)() // it holds the directory, and has no socket
	for _, start := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the time is over
		var e *exit.Error
		err, pid := d.EnsureRunning(ctx, start), fmt.Sprintf("pid %d", d.Holder())
		if !errors.As(err, &e) || e.Status != exit.Unreachable ||
			!strings.Contains(err.Error(), pid) || !strings.Contains(e.Hint, "agentctl stop") {
			t.Errorf("start %v: %v", start, err)
		}
	}
}

func TestOneOfSeveralStartsWins(t *testing.T) {
	d := localserver.Dir(filepath.Join(t.TempDir(), "data"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var starts sync.WaitGroup
	for range 4 {
		starts.Go(func() {
			if err := d.EnsureRunning(ctx, true); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	pid := d.Holder()
	if pid == 0 || !d.Answers(ctx) {
		t.Fatalf("no server runs, holder %d", pid)
	}
	if err := d.EnsureRunning(ctx, true); err != nil || d.Holder() != pid {
		t.Errorf("another server started: %d, %v", d.Holder(), err)
	}
	if err := d.Stop(ctx, pid); err != nil {
		t.Error(err)
	}
	if d.Answers(ctx) {
		t.Error("the socket answers after the stop")
	}
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	if err := os.WriteFile(d.Path("agentctl.db"), []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	var e *exit.Error
	err := d.EnsureRunning(t.Context(), true)
	if !errors.As(err, &e) || e.Status != exit.Unreachable ||
		!strings.Contains(err.Error(), "the server did not start: ") ||
		!strings.Contains(e.Hint, "server.log") {
		t.Errorf("%v", err)
	}
}

func TestEnsureRunningEndsWithTheTimeout(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	defer startServer(t, d)() // it holds the directory, and has no socket
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, exit.ErrTimeout)
	defer cancel()
	if err := d.EnsureRunning(ctx, true); !errors.Is(err, exit.ErrTimeout) {
		t.Errorf("%v", err)
	}
}

// A server whose store has failed for good exits with the reason, so that the next start recovers.
func TestAServerEndsWhenItsStoreFails(t *testing.T) {
	i, err := Open(t.Context(), localserver.Dir(t.TempDir()), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "empty.script")
	if err := os.WriteFile(script, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := testOptions().Server
	cfg.Session.Store = &failedStore{Store: i.store}
	if err := i.server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if i.server, err = server.New(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	pipe := server.NewPipe()
	i.AddListener(pipe.Listener)
	served := make(chan error, 1)
	go func() { served <- i.Serve(t.Context(), 0) }()
	client := wsclient.New("ws://server", wsclient.Options{Dial: pipe.Dial})
	_, err = wsclient.Call[protocol.CreateResult](t.Context(), client, protocol.DoCreate, "",
		protocol.CreateData{Agent: agents.ScriptScheme + script})
	if protocol.CodeOf(err) != protocol.CodeStorage {
		t.Errorf("create: %v", err)
	}
	if err := <-served; !errors.Is(err, eventlog.ErrStoreFailed) || exit.From(err).Hint == "" {
		t.Errorf("the server ends with %v", err)
	}
	if err := errors.Join(client.Close(), i.Close()); err != nil {
		t.Error(err)
	}
}

// failedStore refuses every commit.
type failedStore struct{ session.Store }

func (*failedStore) Commit([]*eventlog.Batch) error {
	return fmt.Errorf("sync: %w", eventlog.ErrStoreFailed)
}

func TestTheTokenGoesNowhereButToARunningServersOwnURL(t *testing.T) {
	d := localserver.Dir(t.TempDir())
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Addresses().Record([]string{"ws://127.0.0.1:7777", "ws://[::1]:7777"}, ""); err != nil {
		t.Fatal(err)
	}
	if got := d.Addresses().Token("ws://127.0.0.1:7777"); got != "" {
		t.Error("no server runs: another program may have the port")
	}
	defer startServer(t, d)()
	for url, want := range map[string]string{
		"ws://127.0.0.1:7777": token, "http://127.0.0.1:7777/v1/ws": token, "ws://[::1]:7777/": token,
		"ws://127.0.0.1:7778": "", "wss://127.0.0.1:7777": "", "ws://localhost:7777": "",
		"ws://127.0.0.1:7777.evil.example": "",
		"ws://evil@127.0.0.1:77":           "", "unix:///x": "", "": "", "ws://": "",
	} {
		if got := d.Addresses().Token(url); got != want {
			t.Errorf("%s gets %q, want %q", url, got, want)
		}
	}
}

func TestTheConfigurationIsThatOfTheRunningServer(t *testing.T) {
	d, path := localserver.Dir(t.TempDir()), filepath.Join(t.TempDir(), "server.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.RecordConfig(path + ".old"); err != nil {
		t.Fatal(err)
	}
	if got := d.ConfigPath(); got != "" {
		t.Errorf("no server runs: %q", got)
	}
	for _, want := range []string{path, ""} {
		options := testOptions()
		options.Config = want
		i, err := Open(t.Context(), d, options)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.ConfigPath(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := ownPaths(d); slices.Contains(got, path) != (want != "") {
			t.Errorf("with the configuration %q no policy allows changes in %q", want, got)
		}
		if err := i.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.RecordConfig(path); err != nil {
		t.Fatal(err)
	}
	startServer(t, d)()
	if _, err := os.Stat(d.Path("config_path")); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}
