package dashboard

import (
	"context"
	"fmt"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionlist"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// searchResults is an overlay with the hits of a search of all sessions. It stays open while the hits are
// opened one after the other.
type searchResults struct {
	styles   *ui.Styles
	requests *requester
	list     *sessionlist.List // for the names of sessions
	notice   func() string     // what the last line shows instead of the keys, or ""

	input    *textinput.Model // while the search is typed, else nil
	text     string           // the search as it was typed
	query    *protocol.Query  // nil: nothing was searched yet
	hits     searchHits
	selected int // the selected hit
	rows     int // of hits on the screen
}

// searchHits are the hits of a search, as far as the server has sent them.
type searchHits struct {
	running bool           // a request is under way
	all     []protocol.Hit // newest first
	cursor  string         // where the server continues; empty: there are no more
	skipped int            // sessions that could not be read
	err     string
}

// readAhead is how many hits beyond the selected one are requested.
const readAhead = 100

// openSearch opens the search of all sessions.
func (d *Dashboard) openSearch() {
	d.overlays.Push(&searchResults{
		styles: d.Styles, requests: d.requests, list: d.list, notice: d.notice, input: ui.NewTextInput(""),
	})
}

func (r *searchResults) Scope() keymap.Scope { return keymap.SearchResults }
func (r *searchResults) FullScreen() bool    { return true }

func (r *searchResults) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if r.input != nil {
			return r.pressTyping(msg)
		}
		return r.press(msg.String())
	case tea.PasteMsg:
		if r.input != nil {
			ui.PasteText(r.input, msg.Content)
		}
	case tea.MouseWheelMsg:
		return ui.Response{Cmd: r.move(ui.WheelRows(msg))}
	}
	return ui.Response{}
}

func (r *searchResults) press(key string) ui.Response {
	keys := r.styles.Keys
	switch keys.At(keymap.Global, key) {
	case keymap.Help:
		return ui.Response{Push: ui.NewHelp(r.styles, keymap.Sessions)}
	case keymap.ShowSessions:
		return ui.Response{Close: true}
	case keymap.Find:
		r.input = ui.NewTextInput(r.text)
		return ui.Response{}
	case keymap.Reconnect:
		return ui.Response{Intent: reconnectIntent{}}
	case keymap.PageUp:
		return ui.Response{Cmd: r.move(-r.rows)}
	case keymap.PageDown:
		return ui.Response{Cmd: r.move(r.rows)}
	case keymap.Redraw:
		return ui.Response{Cmd: tea.ClearScreen}
	case keymap.Suspend:
		return ui.Response{Cmd: tea.Suspend}
	}
	switch keys.InList(keymap.SearchResults, key) {
	case keymap.Back:
		return ui.Response{Close: true}
	case keymap.NewSearch:
		r.input = ui.NewTextInput(r.text)
	case keymap.Up:
		return ui.Response{Cmd: r.move(-1)}
	case keymap.Down:
		return ui.Response{Cmd: r.move(1)}
	case keymap.First:
		return ui.Response{Cmd: r.move(-len(r.hits.all))}
	case keymap.Last:
		return ui.Response{Cmd: r.move(len(r.hits.all))}
	case keymap.Choose:
		if len(r.hits.all) > 0 {
			return ui.Response{Intent: OpenHitIntent{r.hits.all[r.selected], r.text}}
		}
	}
	return ui.Response{}
}

// pressTyping handles a key while the search is typed.
func (r *searchResults) pressTyping(msg tea.KeyPressMsg) ui.Response {
	switch msg.String() {
	case "esc":
		r.input = nil
		return ui.Response{Close: r.query == nil}
	case "enter":
		text := r.input.Value()
		query, err := protocol.ParseQuery(text)
		if err != nil {
			return ui.Response{} // no words, or too many
		}
		r.input, r.text, r.query = nil, ui.OneLine(transcript.Clean(text)), query
		r.hits, r.selected = searchHits{}, 0
		return ui.Response{Cmd: r.request()}
	}
	*r.input, _ = r.input.Update(msg)
	return ui.Response{}
}

// move moves the selection, and requests more hits in time.
func (r *searchResults) move(by int) tea.Cmd {
	r.selected = max(0, min(r.selected+by, len(r.hits.all)-1))
	return r.requestMore()
}

// requestMore requests more hits when those at hand do not reach far enough.
func (r *searchResults) requestMore() tea.Cmd {
	f := &r.hits
	if f.running || f.cursor == "" || len(f.all) > r.selected+readAhead || len(f.all) >= remote.MaxHits {
		return nil
	}
	return r.request()
}

// request requests a page of hits.
func (r *searchResults) request() tea.Cmd {
	r.hits.running = true
	query := r.query
	data := protocol.SearchData{Query: query.String(), Limit: remote.HitsPerPage, Cursor: r.hits.cursor}
	return r.requests.run(func(ctx context.Context) doneFunc {
		page, err := r.requests.server.Search(ctx, data)
		return func() (tea.Cmd, any) {
			if r.query != query {
				return nil, nil // another search has begun
			}
			return r.addPage(page, err), nil
		}
	})
}

// addPage takes a page of hits.
func (r *searchResults) addPage(page protocol.SearchResult, err error) tea.Cmd {
	f := &r.hits
	f.running = false
	if err != nil {
		f.err, f.cursor = remote.ErrorText(err), ""
		return nil
	}
	f.all = append(f.all, page.Hits...)
	f.skipped += len(page.Skipped)
	f.cursor = page.Cursor
	return r.requestMore()
}

// title says what is searched and how many hits there are.
func (r *searchResults) title() string {
	l, f := r.styles, &r.hits
	title := l.Bold.Render("search in all sessions")
	if r.query == nil {
		return title
	}
	title += " · " + l.User.Render("“"+r.text+"”")
	n := fmt.Sprint(len(f.all))
	if f.cursor != "" {
		n += "+"
	}
	switch {
	case len(f.all) > 0:
		title += fmt.Sprintf(" · %d of %s matches", r.selected+1, n)
	case f.running || f.cursor != "":
		title += l.Dim.Render(" …")
	case f.err == "":
		title += " · no matches"
	}
	if f.skipped > 0 {
		title += l.Warning.Render(" · " + ui.Count(f.skipped, "session") + " cannot be read")
	}
	return title
}
