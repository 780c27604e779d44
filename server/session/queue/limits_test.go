package queue

import (
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestAQueueIsBounded(t *testing.T) {
	const size = 240 << 10
	for name, c := range map[string]struct {
		limits Limits
		text   string
		fit    int // messages
		limit  int64
	}{
		"messages":      {Limits{3, 4 << 20}, "hello", 3, 3},
		"bytes":         {Limits{100, 1 << 20}, strings.Repeat("x", size), 4, 1 << 20},
		"bytes in JSON": {Limits{100, 1 << 20}, strings.Repeat("\x01", 40<<10), 4, 1 << 20},
	} {
		r := newRig(t)
		r.limits = c.limits
		for range c.fit {
			if _, err := r.add(c.text); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		before := r.st.Seq
		_, err := r.add(c.text)
		if e := protocol.AsError(err); e.Code != protocol.CodeQueueFull || e.Limit != c.limit || r.st.Seq != before {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestAnEditedMessageFitsItsQueue(t *testing.T) {
	r := newRig(t)
	r.limits = Limits{1, 64 << 10}
	id, _ := r.add("short")
	edit := func(text string) error {
		_, err := do(r, anna, (*Queue).Edit, protocol.QueueEditData{MessageID: id, Text: text})
		return err
	}
	if err := edit("other"); err != nil {
		t.Error(err)
	}
	if err := edit(strings.Repeat("x", 65<<10)); protocol.CodeOf(err) != protocol.CodeQueueFull {
		t.Errorf("too long: %v", err)
	}
	if err := edit(""); protocol.CodeOf(err) != protocol.CodeInvalidMessage {
		t.Errorf("empty: %v", err)
	}
	if got := r.texts(); got != "other" {
		t.Errorf("queue %s", got)
	}
}

func TestAMessageFitsAnEvent(t *testing.T) {
	m := protocol.Message{Text: "a\xff"}
	if err := Sanitize(&m); err != nil || m.Text != "a\uFFFD" {
		t.Errorf("%q, %v", m.Text, err)
	}
	m.Text = strings.Repeat("x", protocol.MaxEvent)
	if err := Sanitize(&m); protocol.CodeOf(err) != protocol.CodeTooLarge {
		t.Errorf("too long: %v", err)
	}
}
