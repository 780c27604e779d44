package statusline

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/gitbranch"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Maximum widths in the status line, in cells.
const (
	maxDirectoryWidth = 40
	maxBranchWidth    = 30
)

// directory is the session's directory for the status line. If it is on this machine, its git
// branch is read after a turn, when the session is shown and when the terminal gets the focus.
type directory struct {
	config *Config

	cwd    string // the directory when the branch was last requested
	turns  int    // ended turns at that time
	reads  int    // number of requests; an answer to an earlier one is ignored
	branch string
}

// update reads the branch if the directory has changed or a turn has ended.
func (d *directory) update() tea.Cmd {
	s := d.config.Replica.State
	if !d.config.Replica.CaughtUp || d.cwd == s.CWD && d.turns == s.Turns {
		return nil
	}
	return d.refresh()
}

// refresh reads the branch.
func (d *directory) refresh() tea.Cmd {
	s := d.config.Replica.State
	if d.cwd != s.CWD {
		d.branch = ""
	}
	d.cwd, d.turns = s.CWD, s.Turns
	if !d.config.Local || !filepath.IsAbs(d.cwd) {
		return nil
	}
	d.reads++
	read, cwd, branch := d.reads, d.cwd, ""
	return d.config.Commands.Run(func(context.Context) error {
		branch = gitbranch.Of(cwd)
		return nil
	}, func(error) tea.Cmd {
		if read == d.reads {
			d.branch = branch
		}
		return nil
	})
}

// text returns the directory, with ~ for the user's home directory, and the branch. A long
// directory loses its start.
func (d *directory) text() string {
	dir := d.config.Replica.State.CWD
	if d.config.Local {
		dir = shortenHome(dir, d.config.Home)
	}
	dir = ui.FitLeft(transcript.CleanLine(dir), maxDirectoryWidth)
	if d.branch != "" && dir != "" {
		dir += " (" + ui.Fit(transcript.CleanLine(d.branch), maxBranchWidth) + ")"
	}
	return dir
}

// shortenHome replaces the home directory at the start of a path by ~.
func shortenHome(path, home string) string {
	if home = strings.TrimSuffix(home, "/"); home == "" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}
