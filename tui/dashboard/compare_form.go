package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// Fields of the form that gives one task to several agents.
const (
	compareTask = iota
	compareAgents
	compareDirectory
	compareWorktrees // only where worktrees can be made
)

// mostAgents is the number of sessions that the screen shows side by side.
const mostAgents = 4

// inWorktrees is the value of the field that asks for worktrees.
const inWorktrees = "yes"

// CompareIntent shows new sessions side by side. Failure says why there are not more, or is "".
type CompareIntent struct {
	Sessions []string
	Failure  string
}

// Worktree is a git worktree for a new session.
type Worktree struct {
	Dir    string
	Labels map[string]string // of its session
	Undo   func() error      // removes it: there is no session
}

// compareConfig has what the form needs.
type compareConfig struct {
	*creator

	worktree func(ctx context.Context, dir, agent string) (Worktree, error) // as Config.Worktree
}

// newCompareForm returns the form that creates a session for each of several agents of the home
// server, with the same task.
func newCompareForm(c compareConfig) *ui.Form {
	fields := []ui.Field{
		ui.NewField("task", "", ""),
		ui.NewField("agents", strings.Join(c.twoAgents(), " "), "two to four names"),
		ui.NewField("directory", c.cwd, "(server's)"),
	}
	if c.worktree != nil {
		fields = append(fields, ui.NewField("worktrees", "", "(no) · →: a git worktree for each", inWorktrees))
	}
	f := ui.NewForm(c.requests.styles, "the same task to several agents", createHint, fields...)
	f.Submit = func(f *ui.Form) ui.Response { return ui.Response{Cmd: c.submit(f)} }
	return f
}

// twoAgents returns the proposed agent of the home server and another one, as far as there are two.
func (c *compareConfig) twoAgents() []string {
	var names []string
	for _, name := range append([]string{c.proposal()}, c.requests.server.Agents()...) {
		if len(names) < 2 && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// submit creates the sessions at the same time.
func (c *compareConfig) submit(f *ui.Form) tea.Cmd {
	task, agents := strings.TrimSpace(f.Value(compareTask)), strings.Fields(strings.ReplaceAll(f.Value(compareAgents), ",", " "))
	switch {
	case task == "":
		f.Fail("the task is empty", "")
		return nil
	case len(agents) < 2 || len(agents) > mostAgents:
		f.Fail(fmt.Sprintf("name two to %d agents", mostAgents), "")
		return nil
	}
	isolated := len(f.Fields) > compareWorktrees && strings.TrimSpace(f.Value(compareWorktrees)) == inWorktrees
	requests := make([]protocol.CreateData, len(agents))
	for i, agent := range agents {
		requests[i] = protocol.CreateData{
			Agent: agent, Title: agent + ": " + ui.Fit(format.JoinLines(task), maxNames*maxNameWidth),
			CWD: strings.TrimSpace(f.Value(compareDirectory)), Prompt: task, Check: true, ClientMessageID: c.newID(),
		}
	}
	f.Sending()
	results, failed := make([]string, len(agents)), make([]error, len(agents))
	return c.requests.Run(func(ctx context.Context) error {
		var wg sync.WaitGroup
		for i := range requests {
			wg.Go(func() { results[i], failed[i] = c.create(ctx, &requests[i], isolated) })
		}
		wg.Wait()
		return nil
	}, func(error) tea.Cmd {
		var intent CompareIntent
		for i, session := range results {
			if failed[i] == nil {
				intent.Sessions = append(intent.Sessions, session)
				continue
			}
			intent.Failure = agents[i] + ": " + remote.ErrorText(failed[i])
		}
		var err error
		if len(intent.Sessions) == 0 {
			err = errors.Join(failed...)
		}
		return c.requests.submitted(f, f, err, intent)
	})
}

// create creates a session, in its own worktree if isolated is set.
func (c *compareConfig) create(ctx context.Context, d *protocol.CreateData, isolated bool) (string, error) {
	var w Worktree
	if isolated {
		var err error
		if w, err = c.worktree(ctx, d.CWD, d.Agent); err != nil {
			return "", err
		}
		d.CWD, d.Labels = w.Dir, w.Labels
	}
	created, err := c.requests.server.Create(ctx, *d)
	var refused *protocol.Error
	if isolated && errors.As(err, &refused) && refused.Code != protocol.CodeInternal && refused.Code != protocol.CodeTimeout {
		err = errors.Join(err, w.Undo()) // else the session may exist
	}
	return created.Session, err
}
