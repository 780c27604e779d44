package agentprocess

import (
	"errors"
	"log/slog"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// commits commits immediately, with the error fail; nil: with success.
type commits struct{ fail error }

func (c *commits) Commit(*eventlog.Batch) error { return c.fail }

func TestAProcessIsKnownByItsGroupOrByItsNumberAndStart(t *testing.T) {
	stored := &commits{}
	p := New(nil, stored, slog.New(slog.DiscardHandler))
	g := agent.ProcessGroup{Session: "s_1", PID: 10, Start: "at 1"}
	if err := p.Record(g, 1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pid   int
		start string
		group int
		want  string
	}{
		{10, "at 1", 10, "s_1"},
		{10, "at 1", 11, "s_1"},
		{12, "at 2", 10, "s_1"},
		{10, "at 2", 11, ""},
		{12, "at 1", 12, ""},
	} {
		if got := p.SessionOf(c.pid, c.start, c.group); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	other := agent.ProcessGroup{Session: "s_2", PID: 20, Start: "at 1"}
	if err := p.Record(other, 1); protocol.CodeOf(err) != protocol.CodeAgentLimit || p.Len() != 1 {
		t.Errorf("beyond the limit: %v, %d run", err, p.Len())
	}
	g.Ended = true
	if err := p.Record(g, 1); err != nil {
		t.Error(err)
	}
	if got := p.SessionOf(10, "at 1", 10); got != "" {
		t.Errorf("after its end: %q", got)
	}
	stored.fail = errors.New("the disk is full")
	if err := p.Record(other, 1); !errors.Is(err, stored.fail) || p.Len() != 0 {
		t.Errorf("not stored: %v, %d run", err, p.Len())
	}
}
