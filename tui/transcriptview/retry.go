package transcriptview

import (
	"fmt"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// retry is the newest of the retries of an agent that follow each other. A note shows it, and counts
// down to the next attempt.
type retry struct {
	protocol.RetryData
	due time.Time // of the next attempt
}

// newRetry returns the retry of an event.
func newRetry(e *protocol.Event) *retry {
	r := &retry{RetryData: *remote.DecodeData[protocol.RetryData](e.Data)}
	r.due = e.Time.Add(format.Millis(r.DelayMS))
	return r
}

// text returns the text of the note.
func (r *retry) text(now time.Time) string {
	in := ""
	if left := r.due.Sub(now); left > 0 {
		in = fmt.Sprintf(" in %ds", format.SecondsLeft(left))
	}
	return fmt.Sprintf("↻ retry %d of %d%s: %s", r.Attempt, r.Limit, in, r.Cause)
}

// showRetry shows a retry in the note of the one before, or in a new one if something came between.
func (v *View) showRetry(e *protocol.Event, add addFunc) {
	if v.List.Len() > 0 {
		if n, ok := v.List.Item(v.List.Last()).(*note); ok && n.retry != nil {
			n.retry = newRetry(e)
			v.retrying, v.retryItem = n, v.List.Last()
			v.List.Invalidate(v.retryItem)
			return
		}
	}
	n := v.eventNote(e)
	n.retry = newRetry(e)
	v.retrying, v.retryItem = n, add(n, false)
}
