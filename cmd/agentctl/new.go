package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type newOptions struct {
	app *app

	Name   string
	Title  string
	Agent  string
	CWD    string
	Env    []string
	Prompt string
	Key    string
}

func newNew(a *app, run func(context.Context, *newOptions) error) *cobra.Command {
	o := &newOptions{app: a}
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Create a session",
		Long: `Create a session and print its id. The agent is one that the server is configured with, a preset (see "agentctl agents"), or an
ad hoc command: "acp:COMMAND ARG…" for anything that speaks the Agent Client Protocol, "script:FILE" for a script. On the local
server the session works in this directory unless --cwd says otherwise.`,
		Example: "  agentctl new --name fix --agent claude --prompt \"make the tests pass\"\n  S=$(agentctl new --agent \"acp:my-agent --acp\")",
		Args:    takes(0, 0),
		RunE:    does(a, o, func([]string) error { return o.check() }, run),
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "unique `NAME` of the session")
	f.StringVar(&o.Title, "title", "", "what it is about, for people")
	f.StringVar(&o.Agent, "agent", "", "the `AGENT`: configured, preset, acp:COMMAND or script:FILE")
	f.StringVar(&o.CWD, "cwd", "", "`DIR` that the agent works in, on the server")
	f.StringArrayVar(&o.Env, "env", nil, "`K=V` in the agent's environment; may be repeated")
	f.StringVar(&o.Prompt, "prompt", "", "first message `TEXT`")
	f.StringVar(&o.Key, "id", "", "`KEY`: however often tried, it happens once")
	_ = cmd.RegisterFlagCompletionFunc("agent", a.agents)
	_ = cmd.RegisterFlagCompletionFunc("cwd", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	return cmd
}

func (o *newOptions) check() error {
	_, err := pairs("--env", o.Env)
	return err
}

// pairs reads K=V arguments.
func pairs(flag string, list []string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	m := make(map[string]string, len(list))
	for _, kv := range list {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return nil, usagef("%s is K=V, not %q", flag, kv)
		}
		m[k] = v
	}
	return m, nil
}

func runNew(ctx context.Context, o *newOptions) error {
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	env, err := pairs("--env", o.Env)
	if err != nil {
		return err
	}
	if d := o.app.flags.Dialect; d != "" && o.CWD != "" {
		return unsupportedf("the dialect %s cannot say where a session works: leave --cwd out", d)
	}
	data := protocol.CreateData{Name: o.Name, Title: o.Title, Agent: o.Agent, CWD: o.CWD, Env: env, Prompt: o.Prompt}
	if l.local {
		if err := here(&data); err != nil {
			return err
		}
	}
	res, err := askWithKey[protocol.CreateResult](l, protocol.DoCreate, "", o.Key, data)
	if err != nil {
		return err
	}
	return o.app.emit(res, func(w io.Writer) { fmt.Fprintln(w, res.Session) })
}

// here makes the paths of a new session absolute: the server runs in another directory.
func here(d *protocol.CreateData) error {
	cwd, err := filepath.Abs(d.CWD) // "" is the current directory
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		return usagef("--cwd %s is not a directory", d.CWD)
	}
	d.CWD = cwd
	if file, ok := strings.CutPrefix(d.Agent, schemeScript); ok {
		if file, err = filepath.Abs(file); err != nil {
			return fmt.Errorf("script: %w", err)
		}
		d.Agent = schemeScript + file
	}
	return nil
}
