package sessions

import (
	"context"
	"errors"
	"slices"

	"agentctl/internal/cli/connection"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/internal/worktree"
	"agentctl/protocol"
)

// checkWorktrees returns the git worktrees to remove, by the session as it was named. With work
// that would be lost it returns an error; of selected sessions it leaves out those.
func (o *removeOptions) checkWorktrees(c *connection.Conn) (map[string]*worktree.Worktree, error) {
	if o.Keep || o.CLI.Flags.Dialect != "" {
		return nil, nil
	}
	found := make(map[string]*worktree.Worktree)
	var kept []string
	for _, session := range o.Sessions {
		w, err := o.findWorktree(c, session)
		if o.selects() && protocol.CodeOf(err) == protocol.CodeNoSession {
			continue // removed since then
		}
		if err != nil {
			return nil, err
		}
		if w == nil {
			continue
		}
		found[session] = w
		if o.Force {
			continue
		}
		hint := "commit and merge them, keep the directory with --keep-worktree, or remove it with --force"
		left, err := w.Left(c.Context())
		if err == nil && left == "" {
			hint = "keep the directory with --keep-worktree, or remove it and them with --yes"
			left, err = o.confirmIgnored(c.Context(), w)
		}
		if errors.Is(err, errRefused) {
			return nil, err
		}
		if err != nil {
			left = "an unknown state: " + err.Error()
		}
		switch {
		case left == "":
		case !o.selects():
			return nil, exit.Errorf(exit.Failure, protocol.CodeConflict, "cannot remove %s: the worktree %s has %s",
				session, w.Dir, left).WithHint("%s", hint)
		default:
			o.CLI.Out.Notef("%s is left alone: the worktree %s has %s", session, w.Dir, left)
			kept = append(kept, session)
		}
	}
	o.Sessions = slices.DeleteFunc(o.Sessions, func(s string) bool { return slices.Contains(kept, s) })
	return found, nil
}

// errRefused is the error of a question that the user has answered with no.
var errRefused = exit.Errorf(exit.Failure, exit.CodeFailed, "nothing was removed")

// confirmIgnored names the files in a worktree that git ignores, and returns them unless the user
// confirms that they are removed, or --yes does. A removal of selected sessions then leaves out
// this one; any other fails with errRefused.
func (o *removeOptions) confirmIgnored(ctx context.Context, w *worktree.Worktree) (left string, err error) {
	names, err := w.Ignored(ctx)
	if err != nil || len(names) == 0 {
		return "", err
	}
	left = worktree.IgnoredText(names)
	switch {
	case o.Yes:
		o.CLI.Out.Notef("with the worktree %s go %s", w.Dir, left)
		return "", nil
	case !o.hasTerminal():
		return left, nil
	}
	o.CLI.Out.Notef("the worktree %s has %s", w.Dir, left)
	switch yes, err := o.CLI.Input().Confirm(ctx, o.CLI.Out.Stderr, "remove them?"); {
	case err != nil:
		return "", err
	case yes:
		return "", nil
	case o.selects():
		return left, nil
	}
	return "", errRefused
}

// findWorktree returns the git worktree to remove with a session, or nil. On another machine its
// server alone finds it.
func (o *removeOptions) findWorktree(c *connection.Conn, session string) (*worktree.Worktree, error) {
	snap, err := c.Snapshot(session)
	if err != nil {
		return nil, err
	}
	st := snap.Snapshot.State
	if st.Labels[worktree.Label] == "" || o.KeepWorktree || !c.Local {
		return nil, nil
	}
	w := worktree.Find(c.Context(), st.CWD)
	if w == nil {
		return nil, nil
	}
	list, err := connection.Call[protocol.ListResult](c, protocol.DoList, "", nil)
	if err != nil {
		return nil, err
	}
	for i := range list.Sessions {
		other := &list.Sessions[i]
		if other.Session != st.Session && worktree.Within(other.CWD, w.Dir) &&
			!slices.Contains(o.Sessions, other.Session) {
			o.CLI.Out.Notef("the worktree %s stays: %s works there", w.Dir, other.Session)
			return nil, nil
		}
	}
	return w, nil
}

// removeWorktree removes the worktree of a session that was removed, unless the server did or it
// stays. The server removes none with changes.
func (o *removeOptions) removeWorktree(c *connection.Conn, w *worktree.Worktree, res *protocol.CloseResult) error {
	if w == nil && res.Worktree != "" && !c.Local {
		o.CLI.Out.Notef("the worktree %s stays: %s", res.Worktree, res.Reason)
	}
	if w == nil || worktree.Find(c.Context(), w.Dir) == nil {
		return nil
	}
	if err := w.Remove(c.Context(), o.Force); err != nil {
		const stays = "the session is removed, its worktree %s stays: %w"
		return exit.Errorf(exit.Failure, exit.CodeFailed, stays, w.Dir, err).
			WithHint("remove it with: git worktree remove %s", output.ShellWord(w.Dir))
	}
	return nil
}
