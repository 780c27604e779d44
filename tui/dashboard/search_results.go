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
	*ui.Picker[protocol.Hit]
	styles   *ui.Styles
	requests *requester
	list     *sessionlist.List // for session names
	notice   func() string     // returns the text that replaces the key hints, or ""

	input *ui.TextInput   // nil unless the search is being edited
	text  string          // the search as entered
	query *protocol.Query // nil before the first search
	hits  searchHits
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
func newSearchResults(requests *requester, list *sessionlist.List, notice func() string) *searchResults {
	s := requests.styles
	r := &searchResults{styles: s, requests: requests, list: list, notice: notice, input: s.NewTextInput("")}
	r.Picker = ui.NewPicker(s, ui.List[protocol.Hit]{
		Rows:   func(string) []protocol.Hit { return r.hits.all },
		ID:     func(h protocol.Hit) string { return fmt.Sprintf("%s %d", h.Session, h.Seq) },
		Draw:   func(h protocol.Hit, selected bool, width int) []string { return []string{r.row(&h, width, selected)} },
		Choose: func(h protocol.Hit) ui.Response { return ui.Response{Intent: OpenHitIntent{h, r.text}} },
		Press:  r.press,
	})
	return r
}

// Update implements [ui.Overlay]. It requests more hits after the selection has moved near the last one.
func (r *searchResults) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if r.input != nil {
			return r.pressInput(msg)
		}
	case tea.PasteMsg:
		if r.input != nil {
			r.input.Paste(msg.Content)
		}
	}
	out := r.Picker.Update(msg)
	out.Cmd = tea.Batch(out.Cmd, r.requestMore())
	return out
}

// press handles a key that is not one of every list.
func (r *searchResults) press(key string) (out ui.Response, handled bool) {
	keys := r.styles.Keys
	switch action := cmp.Or(keys.At(keymap.Global, key), keys.At(keymap.Lists, key)); action {
	case keymap.ShowSessions:
		out.Close = true
	case keymap.Find, keymap.ListFind:
		r.input = r.styles.NewTextInput(r.text)
	case keymap.Reconnect:
		out.Intent = palette.Command{Action: action}
	case keymap.Redraw:
		out.Cmd = tea.ClearScreen
	case keymap.Suspend:
		out.Cmd = tea.Suspend
	default:
		return out, false
	}
	return out, true
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
		r.hits = searchHits{}
		r.Reset()
		return ui.Response{Cmd: r.request()}
	}
	return r.input.Press(msg)
}

// requestMore requests the next page if fewer than readAhead hits follow the selected one.
func (r *searchResults) requestMore() tea.Cmd {
	h := &r.hits
	if h.running || h.cursor == "" || len(h.all) > r.Index()+readAhead || len(h.all) >= remote.MaxHits {
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
		title += fmt.Sprintf(" · %d of %s matches", r.Index()+1, n)
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
