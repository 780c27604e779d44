//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli"
	"agentctl/internal/cli/verb"
	"agentctl/internal/dev/thorough"
	"agentctl/internal/localserver"
)

// TestNoVerbHangs runs every verb without input, in a pipe whose reader leaves after one line.
func TestNoVerbHangs(t *testing.T) {
	t.Parallel()
	runVerbs(t, everyVerb(), "", "", func(verb, out string) {
		for _, unusable := range []string{"missing argument", "unknown flag", "unknown command", "too many arguments"} {
			if strings.Contains(out, unusable) {
				t.Errorf("agentctl %s %s: not a call of it:\n%s", verb, trial(verb), out)
			}
		}
	})
}

// TestVerbsTakeTheConfigurationOfEarlierVersions runs verbs with files of users that have
// every setting and every action of an earlier version.
func TestVerbsTakeTheConfigurationOfEarlierVersions(t *testing.T) {
	t.Parallel()
	versions, err := filepath.Glob(filepath.Join("..", "..", "internal", "config", "testdata", "*-*"))
	if err != nil || len(versions) == 0 {
		t.Fatalf("%v, %v", versions, err)
	}
	for _, version := range versions {
		for file, flags := range map[string]string{"config.json": "--on local", "keys.json": ""} {
			path, err := filepath.Abs(filepath.Join(version, file))
			if err != nil {
				t.Fatal(err)
			}
			t.Run(filepath.Base(version)+"/"+file, func(t *testing.T) {
				runVerbs(t, thorough.Sample(everyVerb(), 12), path, flags, func(verb, out string) {
					if strings.Contains(out, "configuration "+path+":") {
						t.Errorf("agentctl %s:\n%s", verb, out)
					}
				})
			})
		}
	}
}

// everyVerb returns the paths of all verbs but stop.
func everyVerb() []string {
	all := leaves(cli.NewRoot(&verb.Context{Env: func(string) string { return "" }}))
	return slices.DeleteFunc(all, func(path string) bool { return path == "stop" || path == "help" })
}

// runVerbs runs verbs, and stop at the end, with a configuration file of the user, or none, and with additional
// flags. judge gets the output of each.
func runVerbs(t *testing.T, verbs []string, userConfig, flags string, judge func(verb, out string)) {
	dir := t.TempDir()
	if err := copyFile(filepath.Join("testdata", "agent.script"), filepath.Join(dir, "agent.script")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "AGENTCTL_DATA="+filepath.Join(dir, "data"), "AGENTCTL_SERVER=", "AGENTCTL_TOKEN=",
		"AGENTCTL_CONFIG="+userConfig, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_RUNTIME_DIR=", "HOME="+dir, "USER=ann",
		"GORACE=atexit_sleep_ms=0")
	t.Cleanup(func() { endServer(t, localserver.Dir(filepath.Join(dir, "data"))) })
	// run runs agentctl and returns its first line and its errors. The reader of its output then leaves.
	run := func(args string) string {
		ctx, cancel := context.WithTimeout(t.Context(), scriptTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, "agentctl", strings.Fields(flags+" "+args)...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(stdout).ReadString('\n') // which may be missing
		stdout.Close()
		_ = cmd.Wait() // it may fail
		if ctx.Err() != nil {
			t.Errorf("agentctl %s: still runs after %s", args, scriptTimeout)
		}
		return line + stderr.String()
	}
	run("new --name fix --agent script:agent.script --prompt hello --wait")
	if out := run("status fix"); !strings.HasPrefix(out, "session") {
		t.Fatal(out)
	}
	for _, verb := range verbs {
		judge(verb, run(verb+" "+trial(verb)))
	}
	run("stop")
	if pid := localserver.Dir(filepath.Join(dir, "data")).Holder(); pid != 0 {
		t.Errorf("agentctl stop leaves the server with pid %d", pid)
	}
}

// leaves returns the paths of the verbs below a command that do something.
func leaves(cmd *cobra.Command) (paths []string) {
	for _, sub := range cmd.Commands() {
		if below := leaves(sub); len(below) > 0 {
			paths = append(paths, below...)
		}
		if sub.Runnable() && !sub.Hidden {
			paths = append(paths, verb.Path(sub))
		}
	}
	return paths
}

// trial returns arguments with which a verb does something, by its path.
func trial(path string) string {
	if v := verb.Find(cli.Verbs(), path); v != nil {
		return v.Trial
	}
	return ""
}
