package dashboard

import (
	"context"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/gitbranch"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// branches holds the git branches of sessions whose directories are on this machine. A branch is
// read when its session comes on the screen, when a turn of it starts or ends, and when the
// terminal gets the focus.
type branches struct {
	local bool // the home server has the file system of this machine
	known map[string]branch
	last  int // number of the last reading
}

// branch is the branch of one session.
type branch struct {
	of   branchKey
	name string // "": none, or not read yet
	read int    // number of the reading that sets name
}

// branchKey is what a session had when its branch was read. A change makes the branch out of date.
type branchKey struct {
	cwd, turn string
	turns     int
}

// of returns the branch of a session, or "".
func (b *branches) of(session string) string {
	return ui.Excerpt(b.known[session].name)
}

// forget makes all branches out of date. Their names stay until they are read again.
func (b *branches) forget() {
	for session, known := range b.known {
		known.of = branchKey{}
		b.known[session] = known
	}
}

// differ reports whether sessions are known to be on different branches, or some on none.
func (b *branches) differ() bool {
	first, any := "", false
	for _, known := range b.known {
		if any && known.name != first {
			return true
		}
		first, any = known.name, true
	}
	return false
}

// read returns a command that reads the branches of home's sessions on the screen that are out of
// date, or nil.
func (b *branches) read(visible []protocol.Summary, servers *servers, requests *requester) tea.Cmd {
	wanted := map[string]string{} // directory by session
	b.last++
	for _, s := range visible {
		key := branchKey{s.CWD, s.Turn, s.Turns}
		known := b.known[s.Session]
		if known.of == key || !filepath.IsAbs(s.CWD) || servers.other(s.Session) != "" {
			continue
		}
		if known.of.cwd != s.CWD && known.of.cwd != "" {
			known.name = ""
		}
		b.known[s.Session] = branch{of: key, name: known.name, read: b.last}
		wanted[s.Session] = s.CWD
	}
	if len(wanted) == 0 {
		return nil
	}
	read := b.last
	names := make(map[string]string, len(wanted))
	return requests.Run(func(context.Context) error {
		for session, dir := range wanted {
			names[session] = gitbranch.Of(dir)
		}
		return nil
	}, func(error) tea.Cmd {
		b.set(names, read)
		return nil
	})
}

// set sets the branches of a reading, unless a later one has begun.
func (b *branches) set(names map[string]string, read int) {
	for session, name := range names {
		if known, ok := b.known[session]; ok && known.read == read {
			known.name = name
			b.known[session] = known
		}
	}
}
