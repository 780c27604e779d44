package sessionview

import tea "charm.land/bubbletea/v2"

// rowRange is a range of rows of the screen.
type rowRange struct{ from, to int }

func (r rowRange) contains(y int) bool { return y >= r.from && y < r.to }

// clickRows are the rows of the parts that a click focuses.
type clickRows struct{ queue, approval, composer rowRange }

// click handles a click. It moves the focus, selects a queued message, or expands an item of the
// transcript. It decides no request.
func (v *View) click(msg tea.MouseClickMsg) {
	rows := v.panels.rows
	switch {
	case msg.Button != tea.MouseLeft:
	case rows.approval.contains(msg.Y):
		v.setFocus(onApproval)
	case rows.queue.contains(msg.Y):
		v.setFocus(onQueue)
		v.panels.queue.click(msg.Y - rows.queue.from)
	case rows.composer.contains(msg.Y):
		v.setFocus(onComposer)
	default:
		v.transcript.click(msg.Y)
	}
}
