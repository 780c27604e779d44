package create

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/worktree"
	"agentctl/protocol"
)

// worktreeFlags are the flags of a session in its own git worktree.
type worktreeFlags struct {
	Wanted bool
	Branch string // "": named after the session
	Base   string
}

// String returns the branch.
func (f *worktreeFlags) String() string { return f.Branch }

// Set enables the worktree. "true" is the value of the flag without one.
func (f *worktreeFlags) Set(branch string) error {
	if branch == "" {
		return errNoBranch
	}
	f.Wanted = true
	if branch != "true" {
		f.Branch = branch
	}
	return nil
}

// Type makes the value of the flag optional.
func (f *worktreeFlags) Type() string { return "bool" }

// add adds the flags to a command.
func (f *worktreeFlags) add(cmd *cobra.Command) {
	flag := cmd.Flags().VarPF(f, "worktree", "", "work in a new git worktree, on `[BRANCH]`")
	flag.NoOptDefVal = "true"
	cmd.Flags().StringVar(&f.Base, "base", "", "`BRANCH` or commit that its branch starts from")
	branches := func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completion.Timeout)
		defer cancel()
		dir, _ := cmd.Flags().GetString("cwd") // "": the current directory
		return worktree.Branches(ctx, dir), verb.NoFiles
	}
	_ = cmd.RegisterFlagCompletionFunc("worktree", branches)
	_ = cmd.RegisterFlagCompletionFunc("base", branches)
}

// setArgs takes the branch of "--worktree BRANCH", which parsing leaves as an argument.
func (f *worktreeFlags) setArgs(args []string) error {
	switch {
	case len(args) == 0:
	case !f.Wanted || f.Branch != "":
		return exit.Usagef("unexpected argument %q", args[0]).WithHint("--name names the session")
	case args[0] == "":
		return exit.Usagef("--worktree: %w", errNoBranch)
	default:
		f.Branch = args[0]
	}
	if f.Base != "" && !f.Wanted {
		return exit.Usagef("--base needs --worktree")
	}
	return nil
}

// errNoBranch is the error of --worktree with an empty BRANCH, such as an unset variable.
var errNoBranch = errors.New("BRANCH is empty: omit it for a branch named after the session")

// errNoWorktree is the error of --worktree where the client cannot make one.
var errNoWorktree = exit.Unsupportedf("cannot make a git worktree: the server has another file system").
	WithHint("run agentctl new --worktree on the server's machine, or pass a directory there: --cwd")

// makeWorktree makes the git worktree that the flags ask for and puts the session there. It
// returns nil if they ask for none.
func (o *newOptions) makeWorktree(c *connection.Conn, data *protocol.CreateData) (w *worktree.Worktree, err error) {
	f := &o.Worktree
	if !f.Wanted {
		return nil, nil
	}
	if !c.Local || o.CLI.Flags.Dialect != "" {
		return nil, errNoWorktree
	}
	if _, set := data.Labels[worktree.Label]; set {
		return nil, exit.Usagef("--worktree sets the label %s: omit --label %[1]s", worktree.Label)
	}
	if f.Branch == "" {
		f.Branch = cmp.Or(o.Name, "agentctl/"+rand.Text()[:6])
	}
	if data.Labels == nil {
		data.Labels = make(map[string]string)
	}
	data.Labels[worktree.Label] = f.Branch
	if err := protocol.CheckLabels(data.Labels); err != nil {
		return nil, err
	}
	ctx, stop := verb.NotifySignal(c.Context(), os.Interrupt)
	defer func() { err = cmp.Or(stop(), err) }()
	config := &o.CLI.User.Worktree
	w, err = worktree.Create(ctx, worktree.Request{
		Dir: data.CWD, Branch: f.Branch, Base: f.Base, Path: config.Path, Key: o.Key,
	})
	if err != nil {
		return nil, exit.Errorf(exit.Failure, exit.CodeFailed, "worktree: %w", err)
	}
	output := o.CLI.Out.Stderr
	if o.CLI.Out.JSON {
		output = io.Discard // stderr has errors as JSON
	}
	if err := w.Setup(ctx, config.Setup, output); err != nil {
		return nil, exit.Errorf(exit.Failure, exit.CodeFailed, "worktree: %w", o.undoWorktree(w, err))
	}
	data.CWD = w.Dir
	return w, nil
}

// undoWorktree removes a worktree after an error. It stays if an earlier request made it, or
// if its session may have been created.
func (o *newOptions) undoWorktree(w *worktree.Worktree, err error) error {
	if w == nil || w.Reused {
		return err
	}
	if failed := w.Undo(context.Background()); failed != nil {
		o.CLI.Out.Notef("the worktree %s stays: %v", w.Dir, failed)
	}
	return err
}

// createIn creates the session of new, in its git worktree if it wants one.
func (o *newOptions) createIn(c *connection.Conn, data *protocol.CreateData) (protocol.CreateResult, error) {
	w, err := o.makeWorktree(c, data)
	if err != nil {
		return protocol.CreateResult{}, err
	}
	res, err := connection.CallWithKey[protocol.CreateResult](c, protocol.DoCreate, "", o.Key, data)
	var coded *protocol.Error
	answered := errors.As(err, &coded) && coded.Code != protocol.CodeInternal && coded.Code != protocol.CodeTimeout
	switch {
	case err == nil || w == nil:
	case answered: // there is no session
		err = o.undoWorktree(w, err)
	default:
		o.CLI.Out.Notef("the worktree %s stays: its session may have been created", w.Dir)
	}
	return res, err
}
