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
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/internal/dev/thorough"
)

// A commandRunner runs the command lines of a script one after another in one process, which spares each the
// start of a program. The process does for each what main does: directory, environment, arguments and
// standard files are new. It starts with the first line; close ends it.
type commandRunner struct {
	process *exec.Cmd
	lines   io.WriteCloser
	results *json.Decoder
	stderr  bytes.Buffer // of the process, not of a command: a race, a panic
}

type commandLine struct {
	Dir       string
	Env, Args []string
}

type commandResult struct {
	Code           int
	Stdout, Stderr string
}

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
		if err := results.Encode(line.run()); err != nil {
			panic(err)
		}
	}
}

func (l *commandLine) run() (r commandResult) {
	os.Clearenv()
	for _, kv := range l.Env {
		k, v, _ := strings.Cut(kv, "=")
		must(os.Setenv(k, v))
	}
	must(os.Chdir(l.Dir))
	os.Args = append([]string{"agentctl"}, l.Args...)
	empty, end, err := os.Pipe()
	must(err)
	must(end.Close())
	defer empty.Close()
	os.Stdin = empty
	stdout, stderr := capture(&os.Stdout), capture(&os.Stderr)
	r.Code = run()
	r.Stdout, r.Stderr = stdout(), stderr()
	return r
}

// capture sets a standard file to a pipe. finish closes it and returns what was written.
func capture(file **os.File) (finish func() string) {
	r, w, err := os.Pipe()
	must(err)
	*file = w
	written := make(chan []byte)
	go func() {
		defer r.Close()
		b, err := io.ReadAll(r)
		must(err)
		written <- b
	}()
	return func() string { must(w.Close()); return string(<-written) }
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (r *commandRunner) start() error {
	r.process = exec.Command("agentctl") //nolint:noctx // close ends it
	r.process.Args[0] = runnerName
	r.process.Stderr = &r.stderr
	var err error
	if r.lines, err = r.process.StdinPipe(); err != nil {
		return err
	}
	results, err := r.process.StdoutPipe()
	if err != nil {
		return err
	}
	r.results = json.NewDecoder(results)
	return r.process.Start()
}

// run runs a line, which must end within scriptTimeout.
func (r *commandRunner) run(line commandLine) (*commandResult, error) {
	if r.process == nil {
		if err := r.start(); err != nil {
			return nil, err
		}
	}
	late := time.AfterFunc(scriptTimeout, func() { _ = r.process.Process.Kill() }) // fails only if it has ended
	defer late.Stop()
	if err := json.NewEncoder(r.lines).Encode(line); err != nil {
		return nil, err
	}
	result := new(commandResult)
	return result, r.results.Decode(result)
}

// close ends the process and returns what went wrong in it.
func (r *commandRunner) close() error {
	if r.process == nil {
		return nil
	}
	err := errors.Join(r.lines.Close(), r.process.Wait())
	if r.stderr.Len() > 0 {
		err = errors.Join(err, errors.New(r.stderr.String()))
	}
	return err
}

// runProgram runs a line of a script and returns its exit code. A line of agentctl is run by the commandRunner of
// the script, with an empty standard input; one that begins with exec is a process, as any other program. result is
// nil for a process, whose output the script has.
func runProgram(ts *testscript.TestScript, args []string) (code int, result *commandResult) {
	if args[0] != "agentctl" || thorough.All() {
		if args[0] == "exec" {
			args = args[1:]
		}
		return exitCode(ts.Exec(args[0], args[1:]...)), nil
	}
	env := reflect.ValueOf(ts).Elem().FieldByName("env") // the package has no way to list it
	line := commandLine{Dir: ts.MkAbs("."), Args: args[1:]}
	for i := range env.Len() {
		line.Env = append(line.Env, env.Index(i).String())
	}
	line.Env = append(line.Env, "PWD="+line.Dir)
	runner := ts.Value(runnerKey{}).(*commandRunner)
	result, err := runner.run(line)
	if err != nil {
		ts.Fatalf("%v", errors.Join(err, runner.close()))
	}
	return result.Code, result
}

// print makes the output of a line that of the script.
func (r *commandResult) print(ts *testscript.TestScript) {
	if r != nil {
		fmt.Fprint(ts.Stdout(), r.Stdout)
		fmt.Fprint(ts.Stderr(), r.Stderr)
	}
}

// runnerKey is the key of the commandRunner of a script.
type runnerKey struct{}

// cmdAgentctl runs a command line that must succeed, or fail: [!] agentctl ARG…
func cmdAgentctl(ts *testscript.TestScript, neg bool, args []string) {
	code, result := runProgram(ts, append([]string{"agentctl"}, args...))
	result.print(ts)
	if (code == 0) == neg {
		ts.Fatalf("agentctl exits %d", code)
	}
}
