package pane

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// inputRows are the rows of a screen below the transcript: rule, composer and status line.
const inputRows = 3

// rig is a pane on a screen without composer. Tab gives it the focus, and takes it away.
type rig struct {
	*paneltest.Rig
	t             *testing.T
	pane          *Pane
	width, height int    // of the screen
	text          string // for the message box
	files         fakeFiles
	git           fakeGit
}

// fakeFiles records the names of files that are opened.
type fakeFiles struct{ opened []string }

func (*fakeFiles) Save([]describe.File) tea.Cmd      { return nil }
func (*fakeFiles) OpenPlace(transcript.Item) tea.Cmd { return nil }

func (f *fakeFiles) Open(files []describe.File) tea.Cmd {
	for i := range files {
		f.opened = append(f.opened, files[i].Name)
	}
	return nil
}

// fakeGit is a git status that the test sets.
type fakeGit struct {
	files    []protocol.DirectoryFile
	requests int
	diff     func(path string) (*protocol.DiffResult, error)
}

func (g *fakeGit) Diff(path string, then func(*protocol.DiffResult, error)) tea.Cmd {
	return func() tea.Msg {
		result, err := g.diff(path)
		return request.DoneMsg{Err: err, Then: func(err error) tea.Cmd {
			then(result, err)
			return nil
		}}
	}
}

func (g *fakeGit) Files() []protocol.DirectoryFile { return g.files }

func (g *fakeGit) Request() tea.Cmd {
	g.requests++
	return nil
}

// open returns a rig that shows the pending events of a journal.
func open(t *testing.T, j *tuitest.Journal, width, height int) *rig {
	t.Helper()
	r := &rig{Rig: paneltest.New(t, j), t: t, width: width, height: height}
	r.pane = New(Config{
		Base:  panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now},
		Files: &r.files, Git: &r.git,
		Older: func(*protocol.HistoryResult) {},
	})
	r.Session.Reply = func(c tuitest.Command) (any, error) {
		switch c.Verb {
		case protocol.DoHistory:
			return protocol.HistoryResult{}, nil
		case protocol.DoSearch:
			return nil, tuitest.ErrCannotSearch
		}
		return nil, nil
	}
	r.Rig.Apply = r.pane.Apply
	r.Rig.Reset = func() { r.pane.Reset(r.Replica.State.Seq, width, height) }
	r.Rig.Lines = r.lines
	r.Rig.Update = r.update
	r.lines()
	r.applyJournal()
	return r
}

// openAtEnd returns a rig that attaches to a session at seq. The snapshot is pending in the journal
// until the next call of applyJournal.
func openAtEnd(t *testing.T, seq uint64) *rig {
	j := tuitest.NewJournal()
	j.Pending[1].Attached.After.Seq = seq
	j.Pending[1].Attached.Snapshot.State.Seq = seq
	j.Pending = j.Pending[:2]
	j.CaughtUp()
	r := open(t, &tuitest.Journal{At: tuitest.Start}, 60, 20)
	r.Journal = j
	return r
}

// applyJournal applies the pending events of the journal.
func (r *rig) applyJournal() {
	r.t.Helper()
	r.ApplyJournal()
	r.lines()
	for cmd := r.pane.RequestPage(); cmd != nil; cmd = r.pane.RequestPage() { // as the view after each answer
		r.Run(cmd)
		r.lines()
	}
}

// update applies a message, draws, and runs the command that it starts.
func (r *rig) update(msg tea.Msg) {
	cmd := r.start(msg)
	r.lines()
	r.Run(cmd)
}

// start applies a message and returns the command that it starts.
func (r *rig) start(msg tea.Msg) tea.Cmd {
	if done, ok := msg.(request.DoneMsg); ok {
		return done.Then(done.Err)
	}
	var cmds []tea.Cmd
	if !ui.IsInput(msg) {
		for _, part := range r.pane.Parts() {
			cmd, _ := part.Update(msg)
			cmds = append(cmds, cmd)
		}
	}
	if _, ok := msg.(tea.KeyPressMsg); ok {
		r.Commands.Status.Clear()
		r.pane.CancelJump()
	}
	cmd, intents, pass := r.Overlays.Update(msg)
	cmds = append(cmds, cmd)
	for _, intent := range intents {
		cmds = append(cmds, r.apply(intent.(panel.Result)))
	}
	if key, ok := msg.(tea.KeyPressMsg); ok && pass {
		cmds = append(cmds, r.key(key.String()))
	}
	return tea.Batch(append(cmds, r.pane.RequestPage())...)
}

// key handles a key that no overlay takes.
func (r *rig) key(key string) tea.Cmd {
	if r.pane.search.focused {
		if cmd, handled := r.pane.PressCopyMode(key); handled {
			return cmd
		}
	}
	action := r.Styles.Keys.At(keymap.Global, key)
	if action == keymap.FocusNext || action == keymap.FocusPrevious {
		r.pane.SetFocus(!r.pane.search.focused)
		return nil
	}
	if a, ok := r.pane.Actions()[action]; ok {
		return r.apply(a.Run(""))
	}
	if !r.pane.search.focused {
		return nil
	}
	return r.apply(r.pane.Press(key))
}

// apply carries out a result of the pane.
func (r *rig) apply(result panel.Result) tea.Cmd {
	if result.Leave || result.Focus {
		r.pane.SetFocus(result.Focus)
	}
	r.text += result.Text
	if result.Push != nil {
		r.Overlays.Push(result.Push)
	}
	return result.Cmd
}

// lines draws the pane, the line of the search and the rule below them.
func (r *rig) lines() []string {
	rows := r.height - inputRows
	var search []string
	if o := r.Overlays.Docked(); o != nil {
		lines, _ := o.View(r.width, rows)
		rows -= len(lines)
	} else {
		search = r.pane.SearchLine(r.width)
	}
	lines := r.pane.Lines(r.width, rows-len(search))
	rule := r.pane.CopyHint()
	if rule == "" && r.pane.search.focused {
		rule = r.pane.Hint()
	}
	return slices.Concat(lines, search, []string{rule, r.pane.Below()})
}

// press sends keys by name.
func (r *rig) press(names ...string) {
	r.t.Helper()
	for _, name := range names {
		r.update(tuitest.KeyPress(name))
	}
}

// typeText sends the keys of a text.
func (r *rig) typeText(text string) {
	for _, c := range text {
		r.update(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
}

// stopTyping searches the text that was typed, if it was not.
func (r *rig) stopTyping() {
	if s := &r.pane.search; !s.Deadline().IsZero() {
		cmd, _ := s.Due()
		r.lines()
		r.Run(cmd)
	}
}

// refuse makes every command but history fail with err.
func (r *rig) refuse(err error) {
	r.Session.Mu.Lock()
	defer r.Session.Mu.Unlock()
	r.Session.Reply = func(c tuitest.Command) (any, error) {
		if c.Verb == protocol.DoHistory {
			return protocol.HistoryResult{}, nil
		}
		return nil, err
	}
}
