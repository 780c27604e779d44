//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/localserver"
)

// pipeArgs are arguments with which verbs do something, by path. Without an entry a verb has none.
var pipeArgs = map[string]string{
	"agents login":    "nonsense",
	"agents sessions": "nonsense",
	"approve":         "fix r1",
	"attach":          "fix",
	"backup":          "copy.db",
	"blob":            "fix b_000000000000000000000000",
	"check":           "--quick",
	"compact":         "fix",
	"fork":            "fix",
	"retry":           "fix",
	"undo":            "fix",
	"context":         "fix",
	"deny":            "fix r1",
	"events":          "fix --follow",
	"explain":         "fix r1",
	"export":          "fix",
	"history":         "fix",
	"import":          "nonsense",
	"interrupt":       "fix",
	"label":           "fix",
	"logs":            "--follow --timeout 1s",
	"login":           "--server ws://127.0.0.1:1",
	"new":             "--agent script:agent.script",
	"options":         "fix",
	"plan":            "fix",
	"plan run":        "fix nonsense",
	"queue edit":      "fix m1 text",
	"queue hold":      "fix",
	"queue mv":        "fix m1 0",
	"queue release":   "fix h1",
	"queue rm":        "fix m1",
	"queue":           "fix",
	"rename":          "fix fix",
	"restore":         "nonsense",
	"rm":              "nonsense",
	"rules revoke":    "fix rule1",
	"rules":           "fix",
	"search":          "hello",
	"send":            "fix hello --follow",
	"serve":           "--timeout 1s --data other",
	"set":             "fix mode ask",
	"state export":    "fix",
	"state restore":   "nonsense",
	"status":          "fix",
	"task cancel":     "fix t1",
	"task restart":    "fix t1",
	"token key add":   "k1 nonsense",
	"token key rm":    "k1",
	"token revoke":    "nonsense",
	"token user":      "ann --file users.json",
	"up":              "team.json",
	"wait":            "fix",
}

// TestNoVerbHangs runs every verb without input, in a pipe whose reader leaves after one line.
func TestNoVerbHangs(t *testing.T) {
	runEveryVerb(t, "", "", func(verb, out string) {
		for _, unusable := range []string{"missing argument", "unknown flag", "unknown command", "too many arguments"} {
			if strings.Contains(out, unusable) {
				t.Errorf("agentctl %s %s: not a call of it:\n%s", verb, pipeArgs[verb], out)
			}
		}
	})
}

// TestEveryVerbTakesTheConfigurationOfEarlierVersions runs every verb with files of users that have
// every setting and every action of an earlier version.
func TestEveryVerbTakesTheConfigurationOfEarlierVersions(t *testing.T) {
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
				runEveryVerb(t, path, flags, func(verb, out string) {
					if strings.Contains(out, "configuration "+path+":") {
						t.Errorf("agentctl %s:\n%s", verb, out)
					}
				})
			})
		}
	}
}

// runEveryVerb runs every verb with a configuration file of the user, or none, and with additional
// flags. judge gets the output of each.
func runEveryVerb(t *testing.T, userConfig, flags string, judge func(verb, out string)) {
	dir := t.TempDir()
	if err := copyFile(filepath.Join("testdata", "agent.script"), filepath.Join(dir, "agent.script")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "AGENTCTL_DATA="+filepath.Join(dir, "data"), "AGENTCTL_SERVER=", "AGENTCTL_TOKEN=",
		"AGENTCTL_CONFIG="+userConfig, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_RUNTIME_DIR=", "HOME="+dir, "USER=ann",
		"GORACE=atexit_sleep_ms=0")
	t.Cleanup(func() { endServer(t, localserver.Dir(filepath.Join(dir, "data"))) })
	sh := func(line string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), scriptTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := sh("agentctl " + flags + " new --name fix --agent script:agent.script --prompt hello --wait"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a := &app{env: func(string) string { return "" }}
	for _, verb := range leaves(newRoot(a)) {
		if verb == "stop" || verb == "help" {
			continue // last, and no verb
		}
		out, err := sh("agentctl " + flags + " " + verb + " " + pipeArgs[verb] + " </dev/null 2>errors | head -n 1; cat errors")
		if err != nil {
			t.Errorf("agentctl %s: %v\n%s", verb, err, out)
		}
		judge(verb, out)
	}
	if out, err := sh("agentctl " + flags + " stop </dev/null | head -n 1"); err != nil {
		t.Errorf("agentctl stop: %v\n%s", err, out)
	}
}

// leaves returns the paths of the verbs below a command that do something.
func leaves(cmd *cobra.Command) (paths []string) {
	for _, sub := range cmd.Commands() {
		if below := leaves(sub); len(below) > 0 {
			paths = append(paths, below...)
		}
		if sub.Runnable() && !sub.Hidden {
			paths = append(paths, verbPath(sub))
		}
	}
	return paths
}
