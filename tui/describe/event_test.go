package describe

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestEvent(t *testing.T) {
	for _, c := range []struct {
		typ  protocol.Type
		data any
		want string
	}{
		{
			protocol.ErrorRaised,
			protocol.ErrorData{Message: "no such model", Code: protocol.CodeAgentFailed},
			"✗ no such model",
		},
		{protocol.ErrorRaised, protocol.ErrorData{Code: protocol.CodeAgentFailed}, "✗ agent failed"},
		{
			protocol.RetryScheduled,
			protocol.RetryData{Attempt: 1, Limit: 3, DelayMS: 1500, Cause: "overloaded"},
			"↻ retry 1 of 3 in 1.5s: overloaded",
		},
		{
			protocol.RecoveryStarted,
			protocol.RecoveryData{Action: "restart", Cause: "crash"},
			"↻ recovery: restart: crash",
		},
		{protocol.RecoverySucceeded, protocol.RecoveryData{Action: "restart"}, "✓ recovered: restart"},
		{
			protocol.RecoveryFailed,
			protocol.RecoveryData{Action: "restart", Failure: "gone"},
			"✗ recovery failed: restart: gone",
		},
		{protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: "careful"}, "! careful"},
		{
			protocol.ContextCompacted,
			protocol.ContextCompactedData{Before: 120_000, After: 40_000},
			"context compacted: 120k → 40k tokens (67% less)",
		},
		{protocol.PlanInvalid, protocol.PlanErrorData{Message: "a circle"}, "plan invalid: a circle"},
		{protocol.TaskCompleted, protocol.TaskData{Task: "t1", Title: "Build", Result: "ok"}, "✓ task Build: ok"},
	} {
		line, ok := Event(c.typ, protocol.MustEncode(c.data))
		if text := line.String(); !ok || text != c.want {
			t.Errorf("Event(%s) = %q, %t, want %q", c.typ, text, ok, c.want)
		}
	}
	raw := protocol.MustEncode(protocol.RawData{Source: "acp", Method: "x/y"})
	for _, typ := range []protocol.Type{protocol.UsageUpdated, protocol.Raw} {
		if text, ok := Event(typ, raw); ok {
			t.Errorf("Event(%s) = %q, want no text", typ, text)
		}
	}
}

func TestDiffLines(t *testing.T) {
	for _, c := range []struct{ old, text, want string }{
		{"a\nb\nc\n", "a\nB\nc\n", "  a\n- b\n+ B\n  c\n"},
		{"", "new\nfile\n", "+ new\n+ file\n"},
		{"gone\n", "", "- gone\n"},
		{"a\n", "a\na\n", "  a\n+ a\n"},
		{"same\n", "same\n", ""},
	} {
		if got := diffLines(&c.old, c.text); got != c.want {
			t.Errorf("diffLines(%q, %q) = %q, want %q", c.old, c.text, got, c.want)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"command":"ls\nx","n":[1,{"a":2}]}`, `"text"`, `[1]`, `{"a"`, ``, `null`, `{"a":1}{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := JSON(raw)
		if json.Valid(raw) && utf8.Valid(raw) && !utf8.ValidString(got) {
			t.Errorf("JSON(%q) = %q, want UTF-8", raw, got)
		}
	})
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, old, text string) {
		got := diffLines(&old, text)
		for line := range strings.Lines(got) {
			if !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "+ ") && !strings.HasPrefix(line, "  ") {
				t.Errorf("diffLines(%q, %q) has line %q, want a mark first", old, text, line)
			}
		}
		if old == text && strings.ContainsAny(strings.ReplaceAll(got, "\n", "")[:min(1, len(got))], "+-") {
			t.Errorf("diffLines(%q, %q) = %q, want no changes", old, text, got)
		}
	})
}

func TestHold(t *testing.T) {
	for reason, want := range map[string]string{
		protocol.HoldUser: "held", protocol.HoldInterrupt: "held after an interrupt",
		protocol.HoldRestart: "held after a restart", protocol.HoldDenyStop: "held after a denial",
	} {
		if got := Hold(&protocol.Hold{Reason: reason}, nil); got != want {
			t.Errorf("Hold(%s) = %q, want %q", reason, got, want)
		}
		if got := Hold(&protocol.Hold{Reason: reason, By: &tuitest.Bob}, nil); got != want+" by bob" {
			t.Errorf("Hold(%s by bob) = %q, want %q", reason, got, want+" by bob")
		}
	}
	for by, want := range map[*protocol.Actor]string{
		nil:          "paused for an edit",
		&tuitest.Bob: "paused while bob edits",
	} {
		if got := Hold(&protocol.Hold{Reason: protocol.HoldEdit, By: by}, nil); got != want {
			t.Errorf("Hold(%s) = %q, want %q", protocol.HoldEdit, got, want)
		}
	}
}
