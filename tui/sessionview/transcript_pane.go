package sessionview

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/outline"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// transcriptPane is the transcript with selection, search, jumps and copy mode.
type transcriptPane struct {
	styles    *ui.Styles
	replica   *replica.Session
	commands  *request.Sender
	clipboard ui.Clipboard

	view       *transcriptview.View
	search     search
	typing     bool // the text of the search is being typed
	outline    outline.Outline
	jump       *jump // in progress, or nil
	copyMode   copyMode
	pendingHit *pendingHit // shown after the catch-up, or nil

	imagesPending bool // an imagesMsg is pending
	nextPending   bool // a nextPageMsg is pending
}

// pendingHit is a hit of a search of all sessions that is shown after the catch-up.
type pendingHit struct {
	hit  protocol.Hit
	text string // text of the search
}

// paneResult is the effect of a key press on the view.
type paneResult struct {
	cmd   tea.Cmd
	leave bool // give up the focus
	push  ui.Overlay
	help  bool
	file  keymap.Action // what to do with the files of the selected item; "": nothing
}

// olderMsg carries a page of history.
type olderMsg struct {
	epoch string
	page  *protocol.HistoryResult
	err   error
}

// press handles a key while the transcript has the focus.
func (p *transcriptPane) press(key string) paneResult {
	list := p.view.List
	id, selected := list.Selected()
	switch action := p.styles.Keys.InList(keymap.Transcript, key); action {
	case keymap.Back:
		p.endSearch()
		return paneResult{leave: true}
	case keymap.TranscriptFind:
		return paneResult{push: p.openSearch()}
	case keymap.TranscriptOutline:
		page, cmd := p.openOutline()
		return paneResult{push: page, cmd: cmd}
	case keymap.OlderMatch:
		return paneResult{cmd: p.nextMatch(-1)}
	case keymap.NewerMatch:
		return paneResult{cmd: p.nextMatch(1)}
	case keymap.Up:
		list.MoveSelection(-1)
	case keymap.Down:
		list.MoveSelection(1)
	case keymap.First:
		list.SelectItem(list.First())
	case keymap.Last:
		list.SelectItem(list.Last())
		list.ScrollToBottom()
	case keymap.Toggle, keymap.Choose:
		switch {
		case !selected:
		case transcriptview.Collapsible(list.Item(id)):
			list.SetCollapsed(id, !list.Collapsed(id))
		default:
			p.commands.Status.Text = "there is nothing to expand here"
		}
	case keymap.ViewItem:
		if selected {
			if pager, ok := transcriptview.OpenItem(p.styles, list.Item(id)); ok {
				return paneResult{push: pager}
			}
			p.commands.Status.Text = "select a tool call to view it"
		}
	case keymap.TurnChanges:
		if selected {
			if o := p.changesOf(id); o != nil {
				return paneResult{push: o}
			}
			p.commands.Status.Text = noChangedFiles
		}
	case keymap.SaveFile, keymap.OpenFile, keymap.OpenPlace:
		if selected {
			return paneResult{file: action}
		}
	case keymap.CopyItem:
		if selected {
			return paneResult{cmd: p.copyItem(list.Item(id))}
		}
	case keymap.CopyCode:
		if selected {
			return paneResult{cmd: p.copyCode(id)}
		}
	case keymap.DiffLayout:
		p.styles.ToggleDiffLayout()
		list.Restyle()
	case keymap.EnterCopyMode:
		p.enterCopyMode()
	case keymap.TranscriptHelp:
		return paneResult{help: true}
	default:
		return paneResult{cmd: p.pressJump(action)}
	}
	return paneResult{}
}

// hint returns the keys for the selected item, and those that go to another place.
func (p *transcriptPane) hint() string {
	var pairs []any
	if id, selected := p.view.List.Selected(); selected {
		item := p.view.List.Item(id)
		if transcriptview.Collapsible(item) {
			pairs = append(pairs, keymap.Toggle, "expand/collapse")
		}
		if transcriptview.IsToolCall(item) {
			pairs = append(pairs, keymap.ViewItem, "view")
		}
	}
	pairs = append(pairs, keymap.CopyItem, "copy", keymap.TranscriptPreviousTurn, "previous turn",
		keymap.TranscriptNextTurn, "next turn", keymap.TranscriptFind, "find", keymap.Back, "back")
	return p.styles.Keys.Hint(pairs...)
}

// pressJump handles the keys that jump to another item.
func (p *transcriptPane) pressJump(action keymap.Action) tea.Cmd {
	switch action {
	case keymap.TranscriptPreviousTurn:
		return p.jumpTo(transcriptview.TurnAnchor, -1)
	case keymap.TranscriptNextTurn:
		return p.jumpTo(transcriptview.TurnAnchor, 1)
	case keymap.PreviousTool:
		return p.jumpTo(transcriptview.ToolAnchor, -1)
	case keymap.NextTool:
		return p.jumpTo(transcriptview.ToolAnchor, 1)
	case keymap.PreviousApproval:
		return p.jumpTo(transcriptview.ApprovalAnchor, -1)
	case keymap.NextApproval:
		return p.jumpTo(transcriptview.ApprovalAnchor, 1)
	case keymap.PreviousError:
		return p.jumpTo(transcriptview.ErrorAnchor, -1)
	case keymap.NextError:
		return p.jumpTo(transcriptview.ErrorAnchor, 1)
	}
	return nil
}

// toggleVisible expands all items on the screen, or collapses them if none is collapsed. Then the
// key that a collapsed item shows is true for each of them.
func (p *transcriptPane) toggleVisible() {
	list := p.view.List
	var visible []transcript.ID
	collapsed := false
	for row := range list.Height() {
		id, ok := list.ItemAt(row)
		if !ok || slices.Contains(visible, id) || !transcriptview.Collapsible(list.Item(id)) {
			continue
		}
		visible = append(visible, id)
		collapsed = collapsed || list.Collapsed(id)
	}
	for _, id := range visible {
		list.SetCollapsed(id, !collapsed)
	}
}

// click collapses or expands the item at a row of the screen.
func (p *transcriptPane) click(row int) {
	list := p.view.List
	if row >= list.Height() {
		return
	}
	if id, ok := list.ItemAt(row); ok && transcriptview.Collapsible(list.Item(id)) {
		list.SetCollapsed(id, !list.Collapsed(id))
	}
}

// reset empties the transcript after the replica was replaced by a snapshot at seq at.
func (p *transcriptPane) reset(at uint64, width, height int) {
	p.leaveCopyMode()
	p.endSearch()
	p.jump = nil
	p.view.Reset(at, width, height)
	p.outline.Reset(at, p.replica.State)
}

// requestPage requests older turns when the first item is on the screen.
func (p *transcriptPane) requestPage() tea.Cmd {
	if !p.replica.CaughtUp || p.replica.Conn.State != remote.Connected || !p.view.List.AtTop() {
		return nil
	}
	return p.requestOlder()
}

// nextPageDelay is the time from the small first page to the request of the next one, which shall
// not slow down the first frame.
const nextPageDelay = 50 * time.Millisecond

// nextPageMsg requests the page after the first one.
type nextPageMsg struct{}

// scheduleNextPage schedules the request of the page after a small first one, unless it is pending.
func (v *View) scheduleNextPage() tea.Cmd {
	p := &v.transcript
	if !p.view.Short() || p.nextPending || !v.replica.CaughtUp || !v.replica.Connected() {
		return nil
	}
	p.nextPending = true
	return v.After(nextPageDelay, nextPageMsg{})
}

// requestNextPage requests the page after a small first one.
func (p *transcriptPane) requestNextPage() tea.Cmd {
	p.nextPending = false
	if !p.view.Short() || !p.replica.CaughtUp || !p.replica.Connected() {
		return nil
	}
	return p.requestOlder()
}

// requestOlder requests older turns, unless a request is in progress.
func (p *transcriptPane) requestOlder() tea.Cmd {
	turns := transcriptview.HistoryPage
	if p.jump != nil {
		turns = jumpPageTurns
	}
	data, ok := p.view.RequestPage(turns)
	if !ok {
		return nil
	}
	epoch := p.replica.Epoch
	return p.commands.Tasks.Run(func(ctx context.Context) tea.Msg {
		page := new(protocol.HistoryResult)
		err := p.commands.Session.Do(ctx, protocol.DoHistory, data, page)
		if ctx.Err() != nil {
			return nil
		}
		return olderMsg{epoch, page, err}
	})
}

// stale reports whether a page belongs to another epoch.
func (p *transcriptPane) stale(msg olderMsg) bool {
	epoch := p.replica.Epoch
	return msg.epoch != epoch || msg.page.Epoch != "" && msg.page.Epoch != epoch
}

// addOlder adds a page of history and continues the local search or the jump waiting for it.
func (p *transcriptPane) addOlder(msg olderMsg) tea.Cmd {
	err := msg.err
	if err == nil {
		err = p.prepend(msg.page)
	}
	if err != nil {
		p.view.StopPaging()
		p.jump = nil
		p.commands.Status.Text = "older turns: " + remote.ErrorText(err)
	}
	count := p.continueCount(p.search.count)
	if local := p.search.local; local != nil && local.paging {
		local.paging = false
		return tea.Batch(p.continueSearch(p.search.generation), count)
	}
	return tea.Batch(p.startJump(p.jump), count)
}

// prepend adds a page of history. Lines of items that the page completes move.
func (p *transcriptPane) prepend(page *protocol.HistoryResult) error {
	c, m := &p.copyMode, &p.search.match
	matched := transcript.Point{Item: m.item, Line: m.line}
	var points []*transcript.Point
	if c.active {
		points = append(points, &c.cursor, &c.start)
	}
	if m.valid {
		points = append(points, &matched)
	}
	err := p.view.PrependPage(page, points...)
	m.line = matched.Line
	if c.active {
		p.moveCursor(c.cursor)
	}
	return err
}

// below returns the approximate number of transcript lines below the screen.
func (p *transcriptPane) below() int {
	above, total := p.view.List.Position()
	return max(0, total-above-p.view.List.Height())
}
