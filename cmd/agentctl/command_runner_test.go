//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/internal/dev/thorough"
)

// runners run the command lines of this package's tests that need no process of their own. leakChecker closes them.
var runners commandRunners

// commandRunners are processes that run command lines one after another, which spares each the start of a program.
// There are as many as lines have run at the same time.
type commandRunners struct {
	mu   sync.Mutex
	idle []*commandRunner
}

// A commandRunner is one process. For each line it does what main does, with the directory, the environment, the
// arguments and the standard files of the line.
type commandRunner struct {
	process *exec.Cmd
	lines   io.WriteCloser
	results *json.Decoder
	stderr  bytes.Buffer // of the process, not of a line: a race, a panic
}

type commandLine struct {
	Args     []string // a name of linePrograms, and its arguments
	Dir      string
	Env      []string
	Terminal bool // standard input, output and error are a terminal, whose input ends
}

type commandResult struct {
	Code           int
	Stdout, Stderr string
}

// linePrograms are the programs that a commandRunner runs.
var linePrograms = map[string]func() int{"agentctl": run, "mcp-client": runMCPClient}

// runnerName is the name under which agentctl is started as a commandRunner. The program keeps its path,
// with which it starts servers.
const runnerName = "agentctl-commands"

// runCommands is the program of a commandRunner.
func runCommands() {
	lines, results := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var line commandLine
		if err := lines.Decode(&line); err == io.EOF {
			return
		} else if err != nil {
			panic(err)
		}
		must(results.Encode(line.run()))
	}
}

func (l *commandLine) run() (r commandResult) {
	os.Clearenv()
	for _, kv := range l.Env {
		k, v, _ := strings.Cut(kv, "=")
		must(os.Setenv(k, v))
	}
	must(os.Chdir(l.Dir))
	os.Args = l.Args
	if l.Terminal {
		r.Stdout = onTerminal(func() { r.Code = linePrograms[l.Args[0]]() })
		return r
	}
	stdin, end, err := os.Pipe()
	must(err)
	must(end.Close())
	defer stdin.Close()
	stdoutReader, stdout, err := os.Pipe()
	must(err)
	stderrReader, stderr, err := os.Pipe()
	must(err)
	os.Stdin, os.Stdout, os.Stderr = stdin, stdout, stderr
	output, diagnostics := readAll(stdoutReader), readAll(stderrReader)
	r.Code = linePrograms[l.Args[0]]()
	must(errors.Join(stdout.Close(), stderr.Close()))
	r.Stdout, r.Stderr = <-output, <-diagnostics
	return r
}

// readAll reads to the end and closes r.
func readAll(r *os.File) <-chan string {
	text := make(chan string, 1)
	go func() {
		defer r.Close()
		b, err := io.ReadAll(r)
		must(err)
		text <- string(b)
	}()
	return text
}

// onTerminal calls run with a terminal as standard files and returns what it shows. run may leave a prompt that
// reads: it ends with the terminal.
func onTerminal(run func()) string {
	controller, tty, err := pty.Open()
	must(err)
	_, err = controller.WriteString("\x04\x04") // the end of input, of a password too
	must(err)
	os.Stdin, os.Stdout, os.Stderr = tty, tty, tty
	const end = "\x00the end\x00"
	text := make(chan string, 1)
	go func() {
		var b []byte
		for part := make([]byte, 32<<10); !bytes.HasSuffix(b, []byte(end)); {
			n, err := controller.Read(part)
			must(err)
			b = append(b, part[:n]...)
		}
		text <- strings.TrimSuffix(string(b), end)
	}()
	run()
	_, err = tty.WriteString(end)
	must(err)
	defer tty.Close()
	defer controller.Close()
	return <-text
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// run runs a line, which must end within scriptTimeout.
func (rs *commandRunners) run(line *commandLine) (*commandResult, error) {
	r, err := rs.take()
	if err != nil {
		return nil, err
	}
	result := new(commandResult)
	late := time.AfterFunc(scriptTimeout, func() { _ = r.process.Process.Kill() }) // fails only if it has ended
	err = json.NewEncoder(r.lines).Encode(line)
	if err == nil {
		err = r.results.Decode(result)
	}
	if !late.Stop() || err != nil {
		return nil, fmt.Errorf("%q: %w", line.Args, errors.Join(err, r.close()))
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.idle = append(rs.idle, r)
	return result, nil
}

// take returns an idle process, or a new one.
func (rs *commandRunners) take() (*commandRunner, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if n := len(rs.idle); n > 0 {
		r := rs.idle[n-1]
		rs.idle = rs.idle[:n-1]
		return r, nil
	}
	r := &commandRunner{process: exec.Command("agentctl")} //nolint:noctx // close ends it
	r.process.Args[0] = runnerName
	r.process.Env = append(os.Environ(), "TZ=UTC") // the zone is read once
	r.process.Stderr = &r.stderr
	var err error
	if r.lines, err = r.process.StdinPipe(); err != nil {
		return nil, err
	}
	results, err := r.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.results = json.NewDecoder(results)
	return r, r.process.Start()
}

// close ends the processes and returns what went wrong in them.
func (rs *commandRunners) close() (err error) {
	for _, r := range rs.idle {
		err = errors.Join(err, r.close())
	}
	return err
}

func (r *commandRunner) close() error {
	err := errors.Join(r.lines.Close(), r.process.Wait())
	if r.stderr.Len() > 0 {
		err = errors.Join(err, errors.New(r.stderr.String()))
	}
	return err
}

// runProgram runs a line of a script. A commandRunner runs a line of linePrograms, with an empty standard input; a
// line that begins with exec is a process, as any other program.
func runProgram(ts *testscript.TestScript, args []string) *commandResult {
	if linePrograms[args[0]] == nil || thorough.All() {
		if args[0] == "exec" {
			args = args[1:]
		}
		code := exitCode(ts.Exec(args[0], args[1:]...))
		return &commandResult{Code: code, Stdout: ts.ReadFile("stdout"), Stderr: ts.ReadFile("stderr")}
	}
	env := reflect.ValueOf(ts).Elem().FieldByName("env") // the package has no way to list it
	line := &commandLine{Args: args, Dir: ts.MkAbs(".")}
	for i := range env.Len() {
		line.Env = append(line.Env, env.Index(i).String())
	}
	line.Env = append(line.Env, "PWD="+line.Dir)
	result, err := runners.run(line)
	ts.Check(err)
	return result
}

// print makes the output of a line that of the script, and returns the exit code.
func (r *commandResult) print(ts *testscript.TestScript) int {
	fmt.Fprint(ts.Stdout(), r.Stdout)
	fmt.Fprint(ts.Stderr(), r.Stderr)
	return r.Code
}

// lineCommand returns a command of scripts that runs a program, which must succeed, or fail: [!] NAME ARG…
func lineCommand(name string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if code := runProgram(ts, append([]string{name}, args...)).print(ts); (code == 0) == neg {
			ts.Fatalf("%s exits %d", name, code)
		}
	}
}
