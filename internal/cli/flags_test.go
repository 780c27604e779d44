package cli

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
)

func TestWrongArgumentsAreUsage(t *testing.T) {
	for _, line := range []string{
		"send", "send a b c", "events", "events s --since x:y:z", "wait s --for ever", "interrupt s --queue drop",
		"approve",
		"approve s --answer x", "approve s --option o --always", "deny s --option o --stop", "new extra", "new --env X",
		"rename s", "label", "label s a", "label s a=", "label s a=1 a-", "label s =1", "label s a/=1", "new --label a",
		"ls --filter x", "ls --filter x=1", "ls --filter status=", "ls --filter status=active",
		"wait s --message=", "wait s --turn=", "interrupt s --turn=", "token --session=", "approve s --option=",
		"send s --at= text", "send s --key= text", "ls --server=", "ls --on=", "ls --data=",
		"stop --server ws://127.0.0.1:1", "repair --server ssh://box", "token list --server ssh://box",
		"token key --server ssh://box",
		"queue mv s m", "queue mv s m -1", "queue mv s m x", "queue edit s", "queue rm s", "rules revoke s",
		"task cancel s", "plan run", "plan run s f --wait --no-wait", "task no", "state no",
		"export s --format pdf", "history s --limit -1", "rm", "status", "status a b", "serve --sync sometimes",
		"serve --listen-dialect myagent", "ls --dialect esperanto", "ls --dialect-option quiet=5s",
		"ls --dialect effectiveagent --dialect-option quiet",
		"ls --dialect effectiveagent --dialect-option quiet=soon",
		"ls --dialect effectiveagent --dialect-option loud=5s",
		"ls --dialect agentloop --dialect-option quiet=5s", "ls --dialect myagent --dialect-option heartbeat=5s",
		"serve extra", "ls --nope",
		"--output xml ls", "ls --timeout -3s", "no-such-verb", "attach --theme pink", "attach --keep 0",
	} {
		cli := &verb.Context{
			Stdin: strings.NewReader(""), Out: output.Printer{Stdout: io.Discard, Stderr: io.Discard},
			Env: func(string) string { return "" },
		}
		if got := Execute(t.Context(), cli, strings.Fields(line)); got != exit.Usage {
			t.Errorf("%q exits %d, want %d", line, got, exit.Usage)
		}
		if cli.Call.Started {
			t.Errorf("%q started the verb", line)
		}
	}
}

func TestAnEmptyNameIsWrongUsage(t *testing.T) {
	for _, args := range [][]string{
		{"attach", ""},
		{"approvals", ""},
		{"send", "", "text"},
		{"rm", "fix", ""},
		{"queue", "edit", "", "m1", "text"},
		{"search", "", "text"},
		{"approve", "fix", ""},
		{"deny", "fix", ""},
		{"queue", "hold", "fix", ""},
		{"queue", "release", "fix", ""},
		{"queue", "rm", "fix", "m1", ""},
		{"rules", "revoke", "fix", ""},
		{"check", ""},
		{"plan", "run", "fix", ""},
		{"new", "--worktree", ""},
		{"new", "--worktree="},
	} {
		cli := &verb.Context{
			Stdin: strings.NewReader(""), Out: output.Printer{Stdout: io.Discard, Stderr: io.Discard},
			Env: func(string) string { return "" },
		}
		if got := Execute(t.Context(), cli, args); got != exit.Usage || cli.Call.Started {
			t.Errorf("%q exits %d; started: %v", args, got, cli.Call.Started)
		}
	}
}

func TestEveryVerbHasAnExampleThatParses(t *testing.T) {
	root := NewRoot(&verb.Context{})
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: no short or long description, or no example", cmd.CommandPath())
		}
		if strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: %q ends with a period", cmd.CommandPath(), cmd.Short)
		}
		for line := range strings.Lines(cmd.Example) {
			_, after, _ := strings.Cut(line, "agentctl ")
			words := strings.Fields(after)
			if len(words) == 0 {
				continue
			}
			if found, _, err := root.Find(words); err != nil || found == root && words[0] != "--server" {
				t.Errorf("%s: example %q names no verb", cmd.CommandPath(), strings.TrimSpace(line))
			}
		}
	}
	visit(root)
}

func TestTheEnvironmentSetsMissingFlags(t *testing.T) {
	env := map[string]string{
		"AGENTCTL_SERVER": "ws://env", "AGENTCTL_TOKEN": "t", "AGENTCTL_DIALECT": "multiagent", "AGENTCTL_DATA": "/d",
		"NO_COLOR":                 "1",
		"AGENTCTL_DIALECT_OPTIONS": "thinking=true,domain=a b=c",
	}
	cli := &verb.Context{Env: func(k string) string { return env[k] }, Flags: verb.Flags{Server: "ws://flag", Output: verb.FormatText}}
	if err := cli.ReadEnvironment(); err != nil {
		t.Fatal(err)
	}
	want := verb.Flags{
		Server: "ws://flag", Token: "t", Dialect: "multiagent", Options: []string{
			"thinking=true",
			"domain=a b=c",
		}, Data: "/d", NoColor: true,
		Output: verb.FormatText,
	}
	if !reflect.DeepEqual(cli.Flags, want) {
		t.Errorf("%+v, want %+v", cli.Flags, want)
	}
	options, err := cli.Flags.DialectOptions()
	if err != nil || !reflect.DeepEqual(options, map[string]string{"thinking": "true", "domain": "a b=c"}) {
		t.Errorf("%v, %v", options, err)
	}
}

func TestJSONIsAskedForBeforeFlagsAreRead(t *testing.T) {
	for line, want := range map[string]bool{
		"send --bogus -o json": true, "-ojson x": true, "--output=json": true, "-o=json": true, "x --output json": true,
		"-o text": false, "": false, "-o": false, "send s -- -o json": false,
	} {
		if got := flagValue(strings.Fields(line), "--output", "-o") == "json"; got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestHelpFitsAnyTerminal(t *testing.T) {
	root := NewRoot(&verb.Context{})
	root.InitDefaultCompletionCmd()
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Name() == "completion" { // from cobra
			return
		}
		var help strings.Builder
		cmd.SetOut(&help)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(help.String()) {
			if line = strings.TrimSuffix(line, "\n"); len([]rune(line)) > helpWidth {
				t.Errorf("%s: %q", cmd.CommandPath(), line)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
}
