package pane

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// Config holds the dependencies of a pane.
type Config struct {
	panel.Base
	Clipboard ui.Clipboard
	Files     Files
	Git       Git

	// Beside reports whether another session is on the screen. It may be nil.
	Beside func() bool

	// Older is called with each page of older turns before the transcript shows it.
	Older func(*protocol.HistoryResult)
}

// Files saves and opens files of items.
type Files interface {
	Save([]describe.File) tea.Cmd
	Open([]describe.File) tea.Cmd
	OpenPlace(transcript.Item) tea.Cmd // that the item names
}

// Git is what git knows of the session's directory.
type Git interface {
	Files() []protocol.DirectoryFile
	Request() tea.Cmd
	Diff(path string, then func(*protocol.DiffResult, error)) tea.Cmd
}

// Pane is the transcript with selection, search, jumps, the list of turns and copy mode.
type Pane struct {
	Config
	View *transcriptview.View // the items

	history history
	search  search
	copying copyMode
	copier  copier
	pending *pendingHit // shown after the catch-up, or nil
}

// pendingHit is a hit of a search of all sessions that is shown after the catch-up.
type pendingHit struct {
	hit  protocol.Hit
	text string // text of the search
}

// New returns the pane of an empty transcript.
func New(c Config) *Pane {
	p := &Pane{Config: c, View: transcriptview.New(c.Styles)}
	p.history = history{Base: c.Base, view: p.View, add: p.addOlder}
	p.search = search{Base: c.Base, view: p.View, history: &p.history}
	p.copier = copier{view: p.View, status: c.Commands.Status, clipboard: c.Clipboard}
	p.copying = copyMode{styles: c.Styles, view: p.View}
	return p
}

// Parts returns the pane and its parts that follow messages and deadlines.
func (p *Pane) Parts() []panel.Part { return []panel.Part{p, &p.history, &p.search} }

// Apply adds a durable event to the transcript.
func (p *Pane) Apply(e *protocol.Event) {
	if !e.Durable() {
		return
	}
	if err := p.View.Apply(e); err != nil {
		p.Commands.Status.Text = err.Error()
	}
}

// Update lays the items out again after a change of the styles.
func (p *Pane) Update(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	_, restyle := msg.(ui.RestyleMsg)
	if restyle {
		p.View.List.Restyle()
	}
	return nil, restyle
}

// addOlder adds a page of older turns and continues the search or the jump that waits for it.
func (p *Pane) addOlder(page *protocol.HistoryResult, err error) tea.Cmd {
	if err == nil {
		p.Older(page)
		err = p.prepend(page)
	}
	if err != nil {
		p.View.StopPaging()
		p.history.jump = nil
		p.Commands.Status.Text = "older turns: " + remote.ErrorText(err)
	}
	if cmd, waited := p.search.paged(); waited {
		return cmd
	}
	return p.history.resume()
}

// prepend adds a page of older turns. Lines of items that the page completes move.
func (p *Pane) prepend(page *protocol.HistoryResult) error {
	c, m := &p.copying, &p.search.match
	var points []*transcript.Point
	if c.active {
		points = append(points, &c.cursor, &c.start)
	}
	if m.valid {
		points = append(points, &m.at)
	}
	err := p.View.PrependPage(page, points...)
	if c.active {
		c.move(c.cursor)
	}
	return err
}

// Reset empties the transcript after the replica was replaced by a snapshot at seq at.
func (p *Pane) Reset(at uint64, width, height int) {
	p.copying.leave()
	p.search.end()
	p.history.jump = nil
	p.View.Reset(at, p.Replica.State, width, height)
}

// SetFocus sets whether the pane has the focus. It ends copy mode.
func (p *Pane) SetFocus(focused bool) {
	p.search.focused = focused
	p.copying.leave()
	_, selected := p.View.List.Selected()
	switch {
	case !focused:
		p.View.List.ClearSelection()
	case !selected: // a search that found a line while its text was typed has selected its item
		p.View.List.MoveSelection(0)
	}
}

// RequestPage requests older turns when the first item is on the screen.
func (p *Pane) RequestPage() tea.Cmd {
	if !p.Replica.CaughtUp || p.Replica.Conn.State != remote.Connected || !p.View.List.AtTop() {
		return nil
	}
	return p.history.request()
}

// RequestOlder requests older turns, unless a request is in progress. It reports whether there may be
// some.
func (p *Pane) RequestOlder() (cmd tea.Cmd, older bool) {
	if p.View.OlderThan() == 0 || !p.Replica.Connected() {
		return nil, false
	}
	return p.history.request(), true
}

// Escape closes the search, or else goes to the end of the transcript. It reports false if there is
// nothing to do.
func (p *Pane) Escape() bool {
	switch {
	case p.search.query != nil:
		p.search.end()
	case !p.View.List.Following():
		p.ScrollToBottom()
	default:
		return false
	}
	return true
}

// Jumping reports whether a jump waits for older turns.
func (p *Pane) Jumping() bool { return p.history.jump != nil }

// CancelJump stops a jump that waits for older turns.
func (p *Pane) CancelJump() { p.history.jump = nil }

// Search searches the session for a text. Its matches get the focus.
func (p *Pane) Search(text string) panel.Result {
	p.search.typing = false
	cmd, ok := p.search.begin(text)
	return panel.Result{Cmd: cmd, Focus: ok}
}

// OpenSearch opens the input of a new search.
func (p *Pane) OpenSearch() panel.Result { return panel.Result{Push: p.search.open()} }

// SearchLine returns the line of the open search, if there is one.
func (p *Pane) SearchLine(width int) []string { return p.search.line(width) }

// ShowHit shows a hit of a search for text as soon as the catch-up is complete.
func (p *Pane) ShowHit(hit protocol.Hit, text string) panel.Result {
	p.pending = &pendingHit{hit, text}
	return p.ShowPendingHit()
}

// ShowPendingHit shows the hit that waits for the end of the catch-up.
func (p *Pane) ShowPendingHit() panel.Result {
	pending := p.pending
	if pending == nil || !p.Replica.CaughtUp {
		return panel.Result{}
	}
	p.pending = nil
	r := p.Search(pending.text)
	p.search.target = &pending.hit
	return r
}

// Lines returns the visible lines of the transcript.
func (p *Pane) Lines(width, rows int) []string {
	if rows <= 0 {
		return nil
	}
	p.View.List.Resize(width, rows)
	lines := p.View.List.Lines()
	if p.View.Empty() && p.Replica.CaughtUp {
		text := " no messages yet: write one"
		if p.Replica.Recorded {
			text = " no messages yet"
		}
		lines[0] = p.Styles.Dim.Render(ui.Fit(text, width))
	}
	return lines
}

// Below returns the number of lines below the screen and the key that shows them. It returns "" if
// the transcript follows its end.
func (p *Pane) Below() string {
	list := p.View.List
	if list.Following() {
		return ""
	}
	above, total := list.Position()
	lines := format.Count(max(0, total-above-list.Height()), "line") // approximate
	return "↓ " + lines + " below" + ui.Prefixed(keymap.Separator, p.Styles.Keys.Key(keymap.Bottom))
}
