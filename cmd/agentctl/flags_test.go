package main

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
)

// parse parses a command line and returns the options that the verb would run with.
func parse[O any](verb func(*app, func(context.Context, *O) error) *cobra.Command, line string) (*O, error) {
	var got *O
	a := &app{
		stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
		env: func(string) string { return "" },
	}
	cmd := verb(a, func(_ context.Context, o *O) error {
		got = o
		return nil
	})
	cmd.SetArgs(strings.Fields(line))
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return got, cmd.Execute()
}

// checkOptions compares the exported options that a command line is parsed into.
func checkOptions[O any](t *testing.T, verb func(*app, func(context.Context, *O) error) *cobra.Command, line string,
	want O,
) {
	t.Helper()
	got, err := parse(verb, line)
	if err != nil {
		t.Errorf("%q: %v", line, err)
		return
	}
	g, w := exportedFields(got), exportedFields(&want)
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%q gives %+v, want %+v", line, g, w)
	}
}

// exportedFields returns the exported fields of a struct.
func exportedFields(o any) map[string]any {
	v := reflect.ValueOf(o).Elem()
	m := map[string]any{}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			value := v.Field(i)
			if value.Kind() == reflect.Slice && value.Len() == 0 {
				m[f.Name] = "none"
				continue
			}
			m[f.Name] = value.Interface()
		}
	}
	return m
}

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	position := protocol.Position{Epoch: "e1", Seq: 7}
	name := "n"
	checkOptions(t, newSend, "s hello", sendOptions{Session: "s", Text: []string{"hello"}})
	checkOptions(t, newSend, "s -f --key k --front -",
		sendOptions{Session: "s", Text: []string{"-"}, turnWait: turnWait{Follow: true}, Key: "k", Front: true})
	checkOptions(t, newSend, "s --id k", sendOptions{Session: "s", Key: "k"})
	checkOptions(t, newSend, "s --wait", sendOptions{Session: "s", turnWait: turnWait{Wait: true}})
	checkOptions(t, newPlanRun, "s tasks.json -w --key k", planRunOptions{
		Session: "s", File: "tasks.json", turnWait: turnWait{Wait: true}, Key: "k",
	})
	checkOptions(t, newEvents, "s", eventsOptions{Session: "s"})
	checkOptions(t, newEvents, "s --since e1:7 --follow --fold",
		eventsOptions{Session: "s", Since: &position, Follow: true, Fold: true})
	checkOptions(t, newWait, "s", waitOptions{Session: "s", For: forIdle})
	checkOptions(t, newWait, "s --for turn", waitOptions{Session: "s", For: forTurn})
	checkOptions(t, newInterrupt, "s", interruptOptions{Session: "s", Queue: "keep"})
	checkOptions(t, newInterrupt, "s --queue clear --turn t", interruptOptions{Session: "s", Queue: "clear", Turn: "t"})
	checkOptions(t, newApprove, "s", decisionOptions{Session: "s", Decision: protocol.AllowOnce})
	checkOptions(t, newApprove, "s --yes", decisionOptions{
		Session: "s", Decision: protocol.AllowOnce, Yes: true,
	})
	checkOptions(t, newApprove, "s r --always --answer a=b --answer a=c", decisionOptions{
		Session: "s", Request: "r", Decision: protocol.AllowAlways, Always: true, Answers: []string{"a=b", "a=c"},
	})
	checkOptions(t, newDeny, "s r --reason no", decisionOptions{
		Session: "s", Request: "r", Decision: protocol.Deny,
		Reason: "no",
	})
	checkOptions(t, newDeny, "s --stop", decisionOptions{Session: "s", Decision: protocol.DenyStop, Stop: true})
	checkOptions(t, newExplain, "s", decisionOptions{Session: "s", Decision: protocol.Explain})
	checkOptions(t, newNew, "--name n --agent a --cwd /x --env K=V --env L=M --prompt p", newOptions{
		Name: "n", Agent: "a", CWD: "/x", Env: []string{"K=V", "L=M"}, Prompt: "p",
	})
	checkOptions(t, newNew, "--mode m --model n --option K=V --option L=M --lazy --no-check", newOptions{
		Settings: settingFlags{Mode: "m", Model: "n", Options: []string{"K=V", "L=M"}}, Lazy: true, NoCheck: true,
	})
	checkOptions(t, newSet, "s mode plan", setOptions{Session: "s", Setting: "mode", Value: "plan"})
	checkOptions(t, newAgentOptions, "s", agentOptionsOptions{Session: "s"})
	checkOptions(t, newNew, "--key k", newOptions{Key: "k"})
	checkOptions(t, newNew, "--id k", newOptions{Key: "k"})
	checkOptions(t, newStateRestore, "f --key k", stateRestoreOptions{File: "f", Key: "k"})
	checkOptions(t, newStateRestore, "f --id k", stateRestoreOptions{File: "f", Key: "k"})
	checkOptions(t, newRename, "s n", renameOptions{Session: "s", Name: &name})
	checkOptions(t, newRename, "s --title n", renameOptions{Session: "s", Title: &name})
	checkOptions(t, newLabel, "s a=1 b-", labelOptions{Session: "s", Changes: map[string]string{"a": "1", "b": ""}})
	checkOptions(t, newList, "--all --filter agent=b --filter dir=d", listOptions{
		All: true, Filter: []string{"agent=b", "dir=d"},
	})
	checkOptions(t, newNew, "--label a=1 --label b=2", newOptions{Labels: []string{"a=1", "b=2"}})
	checkOptions(t, newQueueMove, "s m 2", queueMoveOptions{Session: "s", Message: "m", Index: 2})
	checkOptions(t, newQueueEdit, "s m text", queueEditOptions{Session: "s", Message: "m", Text: []string{"text"}})
	checkOptions(t, newQueueHold, "s m", queueHoldOptions{Session: "s", Message: "m"})
	checkOptions(t, newQueueRelease, "s", queueReleaseOptions{Session: "s"})
	checkOptions(t, newExport, "s", exportOptions{Session: "s", Format: "md"})
	checkOptions(t, newHistory, "s -n 3", historyOptions{Session: "s", Limit: 3})
	checkOptions(t, newAttach, "--plain", attachOptions{Plain: true, Theme: "auto", Keep: 3})
	checkOptions(t, newAttach, "s --theme light --mouse --no-alert --keep 9",
		attachOptions{Session: "s", Theme: "light", Mouse: true, NoAlert: true, Keep: 9})
	checkOptions(t, newServe, "--listen :1 --listen :2 --default-agent a --insecure", serveOptions{
		Listen: []string{":1", ":2"}, overrides: overrides{DefaultAgent: "a"}, Insecure: true,
	})
}

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
		a := &app{
			stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
			env: func(string) string { return "" },
		}
		if got := a.execute(t.Context(), strings.Fields(line)); got != exit.Usage {
			t.Errorf("%q exits %d, want %d", line, got, exit.Usage)
		}
		if a.started {
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
		a := &app{
			stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
			env: func(string) string { return "" },
		}
		if got := a.execute(t.Context(), args); got != exit.Usage || a.started {
			t.Errorf("%q exits %d; started: %v", args, got, a.started)
		}
	}
}

func TestEveryVerbHasAnExampleThatParses(t *testing.T) {
	root := newRoot(&app{})
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
	a := &app{env: func(k string) string { return env[k] }, flags: globalFlags{Server: "ws://flag", Output: formatText}}
	if err := a.readEnvironment(); err != nil {
		t.Fatal(err)
	}
	want := globalFlags{
		Server: "ws://flag", Token: "t", Dialect: "multiagent", Options: []string{
			"thinking=true",
			"domain=a b=c",
		}, Data: "/d", NoColor: true,
		Output: formatText,
	}
	if !reflect.DeepEqual(a.flags, want) {
		t.Errorf("%+v, want %+v", a.flags, want)
	}
	options, err := a.dialectOptions()
	if err != nil || !reflect.DeepEqual(options, map[string]string{"thinking": "true", "domain": "a b=c"}) {
		t.Errorf("%v, %v", options, err)
	}
}

func TestJSONIsAskedForBeforeFlagsAreRead(t *testing.T) {
	for line, want := range map[string]bool{
		"send --bogus -o json": true, "-ojson x": true, "--output=json": true, "-o=json": true, "x --output json": true,
		"-o text": false, "": false, "-o": false, "send s -- -o json": false,
	} {
		if got := wantsJSON(strings.Fields(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestHelpFitsAnyTerminal(t *testing.T) {
	root := newRoot(&app{})
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
