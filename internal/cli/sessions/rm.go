package sessions

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/format"
	"agentctl/internal/output"
	"agentctl/protocol"
)

type removeOptions struct {
	verb.Options

	Sessions  []string
	Keep      bool
	OlderThan time.Duration
	Closed    bool
	All       bool
	Yes       bool

	Force        bool
	KeepWorktree bool
}

var rmVerb = verb.Verb{
	Use:   "rm [SESSION…]",
	Short: "Remove sessions",
	Long: `Remove sessions with their transcripts; a current turn is interrupted. --older-than, --closed and
--all select sessions; the first two leave out sessions in use. The list is confirmed on a terminal;
elsewhere --yes is needed. The worktree of "agentctl new --worktree" is removed too, and files there
that git ignores once they are confirmed. If it has changes or its own commits, rm refuses without
--force or --keep-worktree. See docs/sessions.md.`,
	Example: "  agentctl rm fix\n  agentctl rm --keep fix\n  agentctl rm --older-than 720h --yes",
	Group:   verb.GroupSession, Sends: protocol.DoClose,
	Trial:    "nonsense",
	Complete: completion.Sessions,

	Do: &verb.Steps[removeOptions]{
		Flags: func(o *removeOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.BoolVar(&o.Keep, "keep", false, "close the session, keep its transcript")
			f.DurationVar(&o.OlderThan, "older-than", 0, "sessions without activity for that `TIME`, such as 720h")
			f.BoolVar(&o.Closed, "closed", false, "closed sessions")
			f.BoolVar(&o.All, "all", false, "all sessions")
			f.BoolVarP(&o.Yes, "yes", "y", false, "do not ask")
			f.BoolVar(&o.Force, "force", false, "remove the git worktree also with changes")
			f.BoolVar(&o.KeepWorktree, "keep-worktree", false, "keep the git worktree")
		},
		Read: func(o *removeOptions, args []string) error { o.Sessions = args; return o.check() },
		Run:  runRemove,
	},
}

// selects reports whether the sessions are selected and not named.
func (o *removeOptions) selects() bool { return o.OlderThan > 0 || o.Closed || o.All }

func (o *removeOptions) check() error {
	switch {
	case o.OlderThan < 0:
		return exit.Usagef("invalid --older-than %s: want a positive duration such as 720h", o.OlderThan)
	case o.All && (o.OlderThan > 0 || o.Closed):
		return exit.Usagef("--all excludes --older-than and --closed")
	case o.selects() && len(o.Sessions) > 0:
		return exit.Usagef("name sessions, or pass --older-than, --closed or --all")
	case !o.selects() && len(o.Sessions) == 0:
		return exit.Usagef("no session: name one, or pass --older-than, --closed or --all")
	case o.Force && (o.Keep || o.KeepWorktree):
		return exit.Usagef("--force excludes --keep and --keep-worktree")
	}
	return nil
}

// matches reports whether a session is selected.
func (o *removeOptions) matches(s *protocol.Summary, now time.Time) bool {
	if o.All {
		return true
	}
	unused := (s.Status == protocol.Idle || s.Status == protocol.Closed) && s.Queue == 0 &&
		s.Scheduled == nil && s.Clients == 0
	return unused && now.Sub(s.Updated) >= o.OlderThan && (!o.Closed || s.Status == protocol.Closed)
}

func runRemove(ctx context.Context, o *removeOptions) error {
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer c.Close()
	if o.selects() {
		if err := o.selectSessions(c); err != nil {
			return err
		}
	}
	worktrees, err := o.checkWorktrees(c)
	if err != nil {
		return err
	}
	if err := o.printSelected(); err != nil {
		return err
	}
	for _, session := range o.Sessions {
		data := protocol.CloseData{Delete: !o.Keep, KeepWorktree: o.KeepWorktree}
		res, err := connection.Call[protocol.CloseResult](c, protocol.DoClose, session, data)
		if o.selects() && protocol.CodeOf(err) == protocol.CodeNoSession {
			continue // removed since then
		}
		if err != nil {
			return err
		}
		if err := o.removeWorktree(c, worktrees[session], &res); err != nil {
			return err
		}
	}
	return nil
}

// selectSessions sets the sessions that are selected, if the user confirms them.
func (o *removeOptions) selectSessions(c *connection.Conn) error {
	list, err := connection.Call[protocol.ListResult](c, protocol.DoList, "", protocol.ListData{Closed: true})
	if err != nil {
		return err
	}
	now := time.Now()
	selected := slices.DeleteFunc(list.Sessions, func(s protocol.Summary) bool { return !o.matches(&s, now) })
	if len(selected) > 0 && !o.Yes {
		if err := o.confirm(c.Context(), selected, now); err != nil {
			return err
		}
	}
	for i := range selected {
		o.Sessions = append(o.Sessions, selected[i].Session)
	}
	return nil
}

// printSelected prints the sessions to remove, if they are selected and not named.
func (o *removeOptions) printSelected() error {
	if !o.selects() {
		return nil
	}
	return o.CLI.Out.Print(struct {
		Selected []string `json:"selected"`
	}{append([]string{}, o.Sessions...)}, func(w io.Writer) { fmt.Fprintf(w, "%d sessions\n", len(o.Sessions)) })
}

// confirm shows the sessions on the terminal and asks.
func (o *removeOptions) confirm(ctx context.Context, list []protocol.Summary, now time.Time) error {
	if !o.hasTerminal() {
		return exit.Usagef("%d sessions are selected and there is no terminal to confirm: pass --yes", len(list))
	}
	for _, s := range list {
		o.CLI.Out.Notef("%s  %s  %s  %s", s.Session, s.Status, format.Age(now.Sub(s.Updated)),
			output.Cell(strings.TrimSpace(s.Name+" "+s.Title), 60))
	}
	question := fmt.Sprintf("remove these %d sessions?", len(list))
	if yes, err := o.CLI.Input().Confirm(ctx, o.CLI.Out.Stderr, question); err != nil || yes {
		return err
	}
	return errRefused
}

// hasTerminal reports whether the user can be asked.
func (o *removeOptions) hasTerminal() bool {
	return output.IsTerminal(o.CLI.Stdin) && output.IsTerminal(o.CLI.Out.Stderr)
}
