package tui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// note is an event told in words between what is said and done.
type note struct {
	landmark
	style *lipgloss.Style // of the look
	text  string
	told  bool // an event, and not where something ends
	space bool // a blank line before it
}

func (n *note) Estimate(width int, _ bool) int { return 1 + len(n.text)/max(width-indent, 1) }

func (n *note) Block(width int, _ bool) transcript.Block {
	text := transcript.NewText()
	text.Append(n.text)
	body, bytes := text.Lines(width - indent)
	b := transcript.Block{Body: body, Bytes: bytes, RenderLine: func(line string) string { return "   " + n.style.Render(line) }}
	if n.space {
		b.Header = []string{""}
	}
	return b
}

// tells puts an event into words; ok is false for what shows elsewhere.
func (l *look) tells(typ protocol.Type, data json.RawMessage) (n *note, ok bool) {
	say := func(style *lipgloss.Style, format string, args ...any) (*note, bool) {
		return &note{style: style, text: fmt.Sprintf(format, args...), told: true, space: true}, true
	}
	switch typ {
	case protocol.ErrorRaised:
		d := decode[protocol.ErrorData](data)
		return say(&l.bad, "✗ %s", errorText(d))
	case protocol.RetryScheduled:
		d := decode[protocol.RetryData](data)
		return say(&l.warn, "↻ retry %d of %d in %s: %s", d.Attempt, d.Limit, took(ms(d.DelayMS)), d.Cause)
	case protocol.RecoveryStarted:
		d := decode[protocol.RecoveryData](data)
		return say(&l.warn, "↻ recovery: %s%s", d.Action, because(d.Cause))
	case protocol.RecoverySucceeded:
		d := decode[protocol.RecoveryData](data)
		return say(&l.good, "✓ recovered: %s", d.Action)
	case protocol.RecoveryFailed:
		d := decode[protocol.RecoveryData](data)
		return say(&l.bad, "✗ recovery failed: %s%s", d.Action, because(d.Failure))
	case protocol.Notice:
		d := decode[protocol.NoticeData](data)
		if d.Level == protocol.LevelWarning {
			return say(&l.warn, "! %s", d.Message)
		}
		return say(&l.dim, "%s", d.Message)
	case protocol.ContextCompacted:
		d := decode[protocol.ContextCompactedData](data)
		return say(&l.dim, "context compacted: %s → %s tokens", thousands(d.Before), thousands(d.After))
	case protocol.StateExported:
		return say(&l.dim, "state exported")
	case protocol.StateRestored:
		return say(&l.dim, "state restored from session %s", decode[protocol.StateRestoredData](data).Session)
	case protocol.Raw:
		d := decode[protocol.RawData](data)
		return say(&l.dim, "%s message %s", d.Source, d.Method)
	case protocol.SessionClosed:
		return say(&l.warn, "the session was closed%s", because(decode[protocol.SessionClosedData](data).Reason))
	case protocol.PlanStarted:
		return say(&l.dim, "planning%s", because(decode[protocol.PlanStartedData](data).Question))
	case protocol.PlanUpdated:
		return say(&l.dim, "plan: %s", count(len(decode[protocol.PlanTasksData](data).Tasks), "task"))
	case protocol.PlanCompleted:
		d := decode[protocol.PlanTasksData](data)
		return say(&l.dim, "plan done: %s%s", count(len(d.Tasks), "task"), because(d.Summary))
	case protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed:
		d := decode[protocol.PlanErrorData](data)
		return say(&l.bad, "plan %s%s", last(typ), because(d.Message))
	case protocol.TaskStarted, protocol.TaskCancelled, protocol.TaskRestarted, protocol.TaskProgress:
		d := decode[protocol.TaskData](data)
		return say(&l.dim, "task %s %s%s", taskName(d), last(typ), because(d.Message))
	case protocol.TaskCompleted:
		d := decode[protocol.TaskData](data)
		return say(&l.good, "✓ task %s%s", taskName(d), because(d.Result))
	case protocol.TaskFailed:
		d := decode[protocol.TaskData](data)
		return say(&l.bad, "✗ task %s%s", taskName(d), because(d.Message))
	case protocol.AggregateStarted:
		return say(&l.dim, "putting %s together", count(decode[protocol.AggregateData](data).Tasks, "result"))
	}
	return nil, false
}

// ends is the line under a turn.
func (l *look) ends(d *protocol.TurnEndedData, by *protocol.Actor) *note {
	style := &l.dim
	if d.Failed() {
		style = &l.bad
	}
	parts := []string{string(d.Reason) + byWhom(by)}
	if d.Code == protocol.CodeServerRestart {
		parts[0] = "the server restarted"
	} else if d.Message != "" {
		parts[0] += ": " + d.Message
	}
	if d.DurationMS > 0 {
		parts = append(parts, took(ms(d.DurationMS)))
	}
	if u := d.Usage; u != nil {
		parts = append(parts, thousands(u.Input)+" in", thousands(u.Output)+" out")
	}
	return &note{style: style, text: "── " + strings.Join(parts, " · "), space: true}
}

// byWhom names who caused something, if anybody did.
func byWhom(by *protocol.Actor) string {
	if by == nil || by.Name == "" {
		return ""
	}
	return " by " + by.Name
}

func errorText(d *protocol.ErrorData) string {
	s := d.Message
	if d.Code != "" {
		s += " (" + string(d.Code) + ")"
	}
	for _, field := range slices.Sorted(maps.Keys(d.Fields)) {
		s += "\n" + field + ": " + d.Fields[field]
	}
	return s
}

func decode[T any](data json.RawMessage) *T {
	d := new(T)
	// What cannot be decoded shows as what it is: an event without details.
	_ = json.Unmarshal(data, d)
	return d
}

func because(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func taskName(d *protocol.TaskData) string {
	if d.Title != "" {
		return d.Title
	}
	return d.Task
}

// last is the word after the dot of a type.
func last(t protocol.Type) string {
	_, word, _ := strings.Cut(string(t), ".")
	return word
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// thousands is a count for people: 950, 12.3k, 4.5M.
func thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}
