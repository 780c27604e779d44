package create

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/internal/worktree"
	"agentctl/protocol"
)

type upOptions struct {
	verb.Options

	File   string
	DryRun bool
}

var upVerb = verb.Verb{
	Use:   "up FILE",
	Short: "Create the sessions that a file describes",
	Long: `Create the sessions of a file that do not exist, and change title, labels, mode, model, policy and
options of those that exist. Sessions are known by their names; none is removed. FILE is JSON or
YAML. The whole file is checked before the first change; if agent, directory, worktree or sandbox of
a session differ, nothing is changed. --dry-run prints what would be done. See docs/sessions.md.`,
	Example: "  agentctl up team.yaml --dry-run\n  agentctl up team.yaml -o json",
	Group:   verb.GroupStart, Sends: protocol.DoCreate,
	Trial: "team.json",

	Do: &verb.Steps[upOptions]{
		Flags: func(o *upOptions, cmd *cobra.Command) {
			cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "print what would be done")
		},
		Read: func(o *upOptions, args []string) error { o.File = args[0]; return nil },
		Run:  runUp,
	},
}

// The results of up for a session.
const (
	upCreated   = "created"
	upChanged   = "changed"
	upUnchanged = "unchanged"
)

// upResult is what up did, or would do, with a session.
type upResult struct {
	Session string   `json:"session,omitempty"` // absent: it does not exist yet
	Name    string   `json:"name"`
	Result  string   `json:"result"`
	Changes []string `json:"changes,omitempty"`
	DryRun  bool     `json:"dry_run,omitempty"`
}

// upStep is a session of the file and the changes that it needs.
type upStep struct {
	session  *upSession
	result   upResult
	commands []upCommand
}

// upCommand is a command that changes a session.
type upCommand struct {
	verb protocol.Verb
	data any
}

func runUp(ctx context.Context, o *upOptions) error {
	f, err := readUpFile(ctx, o.CLI.Input(), o.File)
	if err != nil {
		return err
	}
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer c.Close()
	list, err := connection.Call[protocol.ListResult](c, protocol.DoList, "", protocol.ListData{Closed: true})
	if err != nil {
		return err
	}
	steps := make([]*upStep, len(f.Sessions))
	for i := range f.Sessions {
		if s := &f.Sessions[i]; s.relative && !c.Local {
			return exit.Usagef("%s: dir: want an absolute path: the server is on another machine", s.Name)
		}
	}
	for i := range f.Sessions { // all are checked before the first change
		if steps[i], err = o.plan(c, &f.Sessions[i], list.Sessions); err != nil {
			return err
		}
	}
	if err := o.checkNew(c, steps); err != nil {
		return err
	}
	for _, step := range steps {
		if !o.DryRun {
			if err := o.apply(c, step); err != nil {
				e := *exit.From(err)
				e.Err = fmt.Errorf("%s: %w", step.session.Name, err)
				return &e
			}
		}
		step.result.DryRun = o.DryRun
		err := o.CLI.Out.Print(&step.result, func(w io.Writer) { fmt.Fprintln(w, step.result.line()) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *upResult) line() string {
	words := []string{output.OneLine(r.Name, 0), r.Result}
	if r.DryRun && r.Result != upUnchanged {
		words[1] = "would be " + r.Result
	}
	if len(r.Changes) > 0 {
		words = append(words, output.OneLine(strings.Join(r.Changes, ", "), 0))
	}
	return strings.Join(words, "  ")
}

// plan compares a session with the one of its name.
func (o *upOptions) plan(c *connection.Conn, s *upSession, list []protocol.Summary) (*upStep, error) {
	step := &upStep{session: s, result: upResult{Name: s.Name, Result: upCreated}}
	i := slices.IndexFunc(list, func(have protocol.Summary) bool { return have.Name == s.Name })
	if i < 0 {
		return step, nil
	}
	have := &list[i]
	step.result.Session, step.result.Result = have.Session, upUnchanged
	if err := s.checkFixed(have); err != nil {
		return nil, err
	}
	if s.Title != "" && s.Title != have.Title {
		step.add("title", protocol.DoRename, protocol.RenameData{Title: &s.Title})
	}
	labels := maps.Clone(s.Labels)
	maps.DeleteFunc(labels, func(key, value string) bool { return have.Labels[key] == value })
	if len(labels) > 0 {
		change := "labels " + strings.Join(pairs(labels), ",")
		step.add(change, protocol.DoLabel, protocol.LabelData{Labels: labels})
	}
	settings := s.settings()
	if len(settings) == 0 {
		return step, nil
	}
	snap, err := c.Snapshot(have.Session)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if now, known := settingOf(snap.Snapshot.State, name); !known || now != settings[name] {
			data := protocol.ConfigureData{Setting: name, Value: settings[name]}
			step.add(name+"="+settings[name], protocol.DoConfigure, data)
		}
	}
	return step, nil
}

// settingOf returns the value of a setting.
func settingOf(s *protocol.State, name string) (value string, known bool) {
	if s.Options == nil {
		return "", false
	}
	for _, o := range s.Options.Settings {
		if o.ID == name {
			return o.Value, true
		}
	}
	return "", false
}

// add adds a change.
func (step *upStep) add(change string, verb protocol.Verb, data any) {
	step.result.Result = upChanged
	step.result.Changes = append(step.result.Changes, change)
	step.commands = append(step.commands, upCommand{verb, data})
}

// checkFixed returns an error if a session differs in what cannot be changed.
func (s *upSession) checkFixed(have *protocol.Summary) error {
	differs := func(what, now, want string) error {
		return exit.Errorf(exit.Failure, protocol.CodeConflict, "%s: %s cannot be changed from %s to %s",
			s.Name, what, output.Cell(now, 0), output.Cell(want, 0)).
			WithHint("name another session, or remove it first: agentctl rm %s", output.ShellWord(s.Name))
	}
	branch := have.Labels[worktree.Label]
	sandbox, err := s.sandbox().value()
	if err != nil {
		return err
	}
	switch {
	case have.Status == protocol.Closed:
		return exit.Errorf(exit.Failure, protocol.CodeSessionClosed, "%s: the session is closed", s.Name).
			WithHint("remove it first: agentctl rm %s", output.ShellWord(s.Name))
	case s.Agent != "" && s.Agent != have.Agent:
		return differs("the agent", have.Agent, s.Agent)
	case s.Worktree != nil && s.branch() != branch:
		return differs("the worktree", branch, s.branch())
	case sandbox.Or(have.Sandbox) != have.Sandbox:
		return differs("the sandbox", have.Sandbox.String(), sandbox.String())
	case s.Worktree == nil && s.Dir != have.CWD:
		return differs("the directory", have.CWD, s.Dir)
	}
	return nil
}

// apply carries out a step.
func (o *upOptions) apply(c *connection.Conn, step *upStep) error {
	if step.result.Result == upCreated {
		res, err := step.session.newOptions(o.Options).create(c, nil)
		step.result.Session = res.Session
		return err
	}
	for _, change := range step.commands {
		if _, err := connection.Call[protocol.Empty](c, change.verb, step.result.Session, change.data); err != nil {
			return err
		}
	}
	return nil
}
