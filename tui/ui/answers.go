package ui

import (
	"slices"
	"time"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
)

// answerTime is the time after which the screen shows that a request has no answer.
const answerTime = 3 * time.Second

// Answers holds the requests that wait for an answer which needs no work: a server that does not
// answer them has stalled. Its owner redraws each second while Waiting.
type Answers struct {
	now  func() time.Time
	sent []*sentRequest
}

// sentRequest is a request without an answer.
type sentRequest struct {
	server string // its name, or ""
	at     time.Time
}

// NewAnswers returns answers with a clock.
func NewAnswers(now func() time.Time) *Answers { return &Answers{now: now} }

// Expect records a request to a server, whose name may be "". Call done with its answer or error.
func (a *Answers) Expect(server string) (done func()) {
	r := &sentRequest{server, a.now()}
	a.sent = append(a.sent, r)
	return func() {
		a.sent = slices.DeleteFunc(a.sent, func(other *sentRequest) bool { return other == r })
	}
}

// Restart counts the time from now: there is a new connection.
func (a *Answers) Restart() {
	for _, r := range a.sent {
		r.at = a.now()
	}
}

// Waiting reports whether a request waits for an answer.
func (a *Answers) Waiting() bool { return len(a.sent) > 0 }

// Text returns how long the oldest request has waited, or "" for a short time.
func (a *Answers) Text() string {
	if len(a.sent) == 0 {
		return ""
	}
	oldest := slices.MinFunc(a.sent, func(x, y *sentRequest) int { return x.at.Compare(y.at) })
	waited := a.now().Sub(oldest.at).Truncate(time.Second)
	if waited < answerTime {
		return ""
	}
	text := "no answer for " + format.Duration(waited)
	if oldest.server != "" {
		text = format.JoinLines(oldest.server) + keymap.Separator + text
	}
	return text
}
