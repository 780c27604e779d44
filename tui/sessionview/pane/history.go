package pane

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcriptview"
)

// nextPageDelay is the time from the small first page to the request of the next one, which shall
// not slow down the first frame.
const nextPageDelay = 50 * time.Millisecond

// history requests older turns, for the screen and for the jump that waits for them.
type history struct {
	panel.Base
	view *transcriptview.View
	add  func(page *protocol.HistoryResult, err error) tea.Cmd // adds an answer to the transcript

	jump *jump     // in progress, or nil
	next time.Time // of the request of the page after the first one; zero: none
}

// Deadline implements [ui.Timed]: a small first page is followed by another one.
func (h *history) Deadline() time.Time {
	if h.next.IsZero() && h.continues() {
		h.next = h.Now().Add(nextPageDelay)
	}
	return h.next
}

// Due implements [ui.Timed].
func (h *history) Due() (cmd tea.Cmd, changed bool) {
	h.next = time.Time{}
	if !h.continues() {
		return nil, false
	}
	return h.request(), false
}

// continues reports whether the page after a small first one can be requested.
func (h *history) continues() bool {
	return h.view.Short() && h.Replica.CaughtUp && h.Replica.Connected()
}

// request requests older turns, unless a request is in progress.
func (h *history) request() tea.Cmd {
	turns := transcriptview.HistoryPage
	if h.jump != nil {
		turns = transcriptview.MaxPage
	}
	data, ok := h.view.RequestPage(turns)
	if !ok {
		return nil
	}
	epoch, page := h.Replica.Epoch, new(protocol.HistoryResult)
	return h.Commands.Run(func(ctx context.Context) error {
		return h.Commands.Session.Do(ctx, protocol.DoHistory, data, page)
	}, func(err error) tea.Cmd {
		if epoch != h.Replica.Epoch || page.Epoch != "" && page.Epoch != epoch {
			return nil // of a log that was replaced
		}
		return h.add(page, err)
	})
}
