package changes

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/transcriptview"
)

// Load requests the file changes of the turns before those of a transcript, page by page, as long as they
// are wanted.
func Load(c *request.Sender, s remote.Session, t *transcriptview.View, wanted func() bool) tea.Cmd {
	if t.ChangesKnown() {
		return nil
	}
	return load(c, s, t.OlderChanges(), wanted)
}

func load(c *request.Sender, s remote.Session, older *transcriptview.OlderChanges, wanted func() bool) tea.Cmd {
	if !wanted() {
		return nil
	}
	data, ok := older.Request()
	if !ok {
		return nil
	}
	page := new(protocol.HistoryResult)
	return c.SendTo(s, "", protocol.DoHistory, data, page, func(err error) tea.Cmd {
		older.Add(page, err)
		return load(c, s, older, wanted)
	})
}
