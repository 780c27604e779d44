package pane

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
)

// Press handles a key while the pane has the focus.
func (p *Pane) Press(key string) panel.Result {
	list := p.View.List
	switch action := p.Styles.Keys.InList(keymap.Transcript, key); action {
	case keymap.Back:
		p.search.end()
		return panel.Result{Leave: true}
	case keymap.ListFind:
		return p.OpenSearch()
	case keymap.NextMatch:
		return panel.Result{Cmd: p.search.next(-1)}
	case keymap.PreviousMatch:
		return panel.Result{Cmd: p.search.next(1)}
	case keymap.Up:
		list.MoveSelection(-1)
	case keymap.Down:
		list.MoveSelection(1)
	case keymap.First:
		list.SelectItem(list.First())
	case keymap.Last:
		list.SelectItem(list.Last())
		list.ScrollToBottom()
	case keymap.DiffLayout:
		p.Styles.ToggleDiffLayout()
		list.Restyle()
	case keymap.EnterCopyMode:
		p.copying.enter()
	case keymap.ListHelp:
		return panel.Result{Intent: panel.RunIntent{Action: keymap.Help}}
	default:
		if id, selected := list.Selected(); selected {
			if r, handled := p.pressItem(action, key, id); handled {
				return r
			}
		}
		if to, ok := jumpKeys[action]; ok {
			return panel.Result{Cmd: p.history.jumpTo(to.kind, to.by)}
		}
	}
	return panel.Result{}
}

// pressItem handles the keys that do something with the selected item.
func (p *Pane) pressItem(action keymap.Action, key string, id transcript.ID) (r panel.Result, handled bool) {
	list, status := p.View.List, p.Commands.Status
	item := list.Item(id)
	request := transcriptview.Request(item)
	switch action {
	case keymap.Toggle, keymap.Choose:
		files := transcriptview.Files(item)
		switch {
		case request != nil:
			return p.showRequest(request), true
		case transcriptview.Collapsible(item):
			list.SetCollapsed(id, !list.Collapsed(id))
		case len(files) > 0 && p.Styles.Keys.At(keymap.Lists, key) == keymap.Choose:
			return panel.Result{Cmd: p.Files.Open(files)}, true
		default:
			status.Text = "there is nothing to expand here"
		}
	case keymap.ViewWhole:
		if session := transcriptview.SubAgent(item); session != "" {
			return panel.Result{Intent: panel.OpenIntent{Session: session}}, true
		}
		if request != nil {
			return p.showRequest(request), true
		}
		pager, ok := transcriptview.OpenItem(p.Styles, item)
		if ok {
			return panel.Result{Push: pager}, true
		}
		status.Text = "select a tool call or a request to view it"
	case keymap.ListFiles:
		return p.showChangesOf(id), true
	case keymap.SaveFile:
		return panel.Result{Cmd: p.Files.Save(transcriptview.Files(item))}, true
	case keymap.Open:
		return panel.Result{Cmd: p.Files.Open(transcriptview.Files(item))}, true
	case keymap.Edit:
		return panel.Result{Cmd: p.Files.OpenPlace(item)}, true
	case keymap.CopyItem:
		return panel.Result{Cmd: p.copier.copyItem(item)}, true
	case keymap.Copy:
		return panel.Result{Cmd: p.copier.copyCode(id)}, true
	default:
		return panel.Result{}, false
	}
	return panel.Result{}, true
}

// showRequest opens a request read only.
func (p *Pane) showRequest(item *protocol.Item) panel.Result {
	if item.Approval == nil {
		p.Commands.Status.Text = "the request is not loaded"
		return panel.Result{}
	}
	return panel.Result{Push: approval.NewRecord(p.Styles, approval.Record{
		Request: item.Approval, Resolved: item.Resolved, By: item.By, Dir: p.Replica.State.CWD,
	})}
}

// Hint returns the keys for the selected item, and those that go to another place.
func (p *Pane) Hint() string {
	var pairs []any
	if id, selected := p.View.List.Selected(); selected {
		item := p.View.List.Item(id)
		if transcriptview.Collapsible(item) {
			pairs = append(pairs, keymap.Toggle, "expand/collapse")
		}
		if files := transcriptview.Files(item); len(files) > 0 {
			key := keymap.Choose
			if transcriptview.Collapsible(item) {
				key = keymap.Open
			}
			pairs = append(pairs, key, describe.Opens(files))
		}
		switch {
		case transcriptview.SubAgent(item) != "":
			pairs = append(pairs, keymap.ViewWhole, "open the sub-agent")
		case transcriptview.IsToolCall(item), transcriptview.Request(item) != nil:
			pairs = append(pairs, keymap.ViewWhole, "view")
		}
	}
	pairs = append(pairs, keymap.Copy, "copy", keymap.Previous, "previous turn",
		keymap.Next, "next turn", keymap.ListFind, "find", keymap.Back, "back")
	return p.Styles.Keys.Hint(pairs...)
}

// Actions returns the actions of the pane that need no focus.
func (p *Pane) Actions() panel.Actions {
	result := func(f func() panel.Result) panel.Action {
		return panel.Action{Run: func(string) panel.Result { return f() }}
	}
	jump := func(by int) panel.Action {
		return panel.Run(func() tea.Cmd { return p.history.jumpTo(transcriptview.TurnAnchor, by) })
	}
	page := func() int { return max(1, p.View.List.Height()-1) }
	return panel.Actions{
		keymap.PageUp:       panel.Do(func() { p.Scroll(-page()) }),
		keymap.PageDown:     panel.Do(func() { p.Scroll(page()) }),
		keymap.Top:          panel.Do(func() { p.View.List.ScrollToTop() }),
		keymap.Bottom:       panel.Do(p.ScrollToBottom),
		keymap.ToggleLast:   panel.Do(p.toggleVisible),
		keymap.PreviousTurn: jump(-1),
		keymap.NextTurn:     jump(1),
		keymap.ShowChanges: result(func() panel.Result {
			if p.Beside != nil && p.Beside() {
				return panel.Result{Intent: panel.CompareIntent{Commands: p.Commands}}
			}
			return p.ShowChanges("")
		}),
		keymap.ShowOutline: result(p.OpenTurns),
		keymap.CopyLast:    panel.Run(p.copier.copyLastText),
		keymap.Find: {Text: true, Run: func(text string) panel.Result {
			if text == "" {
				return p.OpenSearch()
			}
			return p.Search(text)
		}},
	}
}

// Scroll scrolls by rows, towards the end if rows is positive.
func (p *Pane) Scroll(rows int) { p.View.List.Scroll(rows) }

// ScrollToBottom scrolls to the end and follows it.
func (p *Pane) ScrollToBottom() { p.View.List.ScrollToBottom() }

// toggleVisible expands all items on the screen, or collapses them if none is collapsed. Then the
// key that a collapsed item shows is true for each of them.
func (p *Pane) toggleVisible() {
	list := p.View.List
	var visible []transcript.ID
	collapsed := false
	list.VisitVisible(func(id transcript.ID, _, _ int) {
		if transcriptview.Collapsible(list.Item(id)) {
			visible = append(visible, id)
			collapsed = collapsed || list.Collapsed(id)
		}
	})
	for _, id := range visible {
		list.SetCollapsed(id, !collapsed)
	}
}

// Click opens the picture at a row of the screen, or else collapses or expands the item there.
func (p *Pane) Click(row int) tea.Cmd {
	list := p.View.List
	if row >= list.Height() {
		return nil
	}
	if id, ok := list.PictureAt(row); ok {
		return p.openPictures(list.Item(id))
	}
	if id, ok := list.ItemAt(row); ok && transcriptview.Collapsible(list.Item(id)) {
		list.SetCollapsed(id, !list.Collapsed(id))
	}
	return nil
}

// openPictures opens the images of an item.
func (p *Pane) openPictures(item transcript.Item) tea.Cmd {
	var files []describe.File
	all := transcriptview.Files(item)
	for _, picture := range transcriptview.Pictures(item) {
		files = append(files, all[picture.Index])
	}
	return p.Files.Open(files)
}
