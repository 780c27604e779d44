package dashboard

import (
	"cmp"
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
	"agentctl/tui/sessionlist"
	"agentctl/tui/ui"
)

// searchResults is an overlay with the hits of a search in all sessions. It stays open when a hit
// is opened.
type searchResults struct {
	styles   *ui.Styles
	requests *requester
	list     *sessionlist.List // for session names
	notice   func() string     // returns the text that replaces the key hints, or ""

	input    *ui.TextInput   // nil unless the search is being edited
	text     string          // the search as entered
	query    *protocol.Query // nil before the first search
	hits     searchHits
	selected int // index in hits.all
	rows     int // height of the list at the last View
}

// searchHits holds the hits received so far.
type searchHits struct {
	running bool           // a request is running
	all     []protocol.Hit // newest first
	cursor  string         // where the next page begins; "" after the last page
	skipped int            // number of unreadable sessions
	err     string
}

// readAhead is the number of hits to load beyond the selected one.
const readAhead = 100

// newSearchResults returns the search in all sessions.
func newSearchResults(r *requester, list *sessionlist.List, notice func() string) *searchResults {
	return &searchResults{
		styles: r.styles, requests: r, list: list, notice: notice, input: r.styles.NewTextInput(""),
	}
}

func (r *searchResults) Scope() keymap.Scope { return keymap.Lists }
func (r *searchResults) FullScreen() bool    { return true }

func (r *searchResults) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if r.input != nil {
			return r.pressInput(msg)
		}
		return r.press(msg.String())
	case tea.PasteMsg:
		if r.input != nil {
			r.input.Paste(msg.Content)
		}
	case tea.MouseWheelMsg:
		return ui.Response{Cmd: r.move(ui.WheelRows(msg))}
	case ui.RowMsg:
		if msg.Wheel == 0 && msg.Row == r.selected {
			return r.choose()
		}
		return ui.Response{Cmd: r.move(msg.Target(r.selected) - r.selected)}
	}
	return ui.Response{}
}

// press handles a key, global keys first.
func (r *searchResults) press(key string) ui.Response {
	keys, all := r.styles.Keys, len(r.hits.all)
	action := cmp.Or(keys.At(keymap.Global, key), keys.At(keymap.Lists, key))
	rows := map[keymap.Action]int{
		keymap.Up: -1, keymap.Down: 1, keymap.First: -all, keymap.Last: all, keymap.PageUp: -r.rows, keymap.PageDown: r.rows,
	}
	if by, moves := rows[action]; moves {
		return ui.Response{Cmd: r.move(by)}
	}
	switch action {
	case keymap.ShowSessions, keymap.Back:
		return ui.Response{Close: true}
	case keymap.Find, keymap.ListFind:
		r.input = r.styles.NewTextInput(r.text)
	case keymap.Reconnect:
		return ui.Response{Intent: palette.Command{Action: action}}
	case keymap.Redraw:
		return ui.Response{Cmd: tea.ClearScreen}
	case keymap.Suspend:
		return ui.Response{Cmd: tea.Suspend}
	case keymap.Choose:
		return r.choose()
	}
	return ui.Response{}
}

// choose opens the selected hit.
func (r *searchResults) choose() ui.Response {
	if len(r.hits.all) == 0 {
		return ui.Response{}
	}
	return ui.Response{Intent: OpenHitIntent{r.hits.all[r.selected], r.text}}
}

// pressInput handles a key while the search is edited.
func (r *searchResults) pressInput(msg tea.KeyPressMsg) ui.Response {
	switch r.styles.FieldAction(msg) {
	case keymap.Back:
		r.input = nil
		return ui.Response{Close: r.query == nil}
	case keymap.Choose:
		text := r.input.Value()
		query, err := protocol.ParseQuery(text)
		if err != nil {
			return ui.Response{} // no words or too many
		}
		r.input, r.text, r.query = nil, ui.Excerpt(text), query
		r.hits, r.selected = searchHits{}, 0
		return ui.Response{Cmd: r.request()}
	}
	return r.input.Press(msg)
}

// move moves the selection and requests more hits if needed.
func (r *searchResults) move(by int) tea.Cmd {
	r.selected = max(0, min(r.selected+by, len(r.hits.all)-1))
	return r.requestMore()
}

// requestMore requests the next page if fewer than readAhead hits follow the selected one.
func (r *searchResults) requestMore() tea.Cmd {
	h := &r.hits
	if h.running || h.cursor == "" || len(h.all) > r.selected+readAhead || len(h.all) >= remote.MaxHits {
		return nil
	}
	return r.request()
}

// request requests the next page of hits.
func (r *searchResults) request() tea.Cmd {
	r.hits.running = true
	query := r.query
	data := protocol.SearchData{Query: query.String(), Limit: remote.HitsPerPage, Cursor: r.hits.cursor}
	var page protocol.SearchResult
	return r.requests.Run(func(ctx context.Context) (err error) {
		page, err = r.requests.server.Search(ctx, data)
		return err
	}, func(err error) tea.Cmd {
		if r.query != query {
			return nil // another search was started
		}
		return r.addPage(page, err)
	})
}

// addPage appends a page of hits, or records the error that ended the search.
func (r *searchResults) addPage(page protocol.SearchResult, err error) tea.Cmd {
	h := &r.hits
	h.running = false
	if err != nil {
		h.err, h.cursor = remote.ErrorText(err), ""
		return nil
	}
	h.all = append(h.all, page.Hits...)
	h.skipped += len(page.Skipped)
	h.cursor = page.Cursor
	return r.requestMore()
}

// title returns the search and the number of its hits.
func (r *searchResults) title() string {
	s, h := r.styles, &r.hits
	title := s.Bold.Render("search in all sessions")
	if r.query == nil {
		return title
	}
	title += " · " + s.User.Render("“"+r.text+"”")
	n := fmt.Sprint(len(h.all))
	if h.cursor != "" {
		n += "+"
	}
	switch {
	case len(h.all) > 0:
		title += fmt.Sprintf(" · %d of %s matches", r.selected+1, n)
	case h.running || h.cursor != "":
		title += s.Dim.Render(" …")
	case h.err == "":
		title += " · no matches"
	}
	if h.skipped > 0 {
		title += s.Warning.Render(" · " + format.Count(h.skipped, "session") + " cannot be read")
	}
	return title
}
