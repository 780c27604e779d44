package history

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
)

// An itemText is the searchable text of one item of a turn.
type itemText struct {
	kind protocol.HitKind
	id   string
	seq  uint64
	at   time.Time
	text string
}

// messageText returns the text of a turn's user message.
func messageText(t *protocol.Turn) itemText {
	return itemText{protocol.HitUser, t.Message.MessageID, t.First, t.Started, textOfMessage(&t.Message)}
}

func textOfMessage(m *protocol.Message) string {
	var b strings.Builder
	b.WriteString(m.Text)
	for _, p := range m.Parts {
		appendLines(&b, p.Name, p.Text)
	}
	return b.String()
}

// errorText returns the text of a failed turn's end.
func errorText(t *protocol.Turn) itemText {
	return itemText{protocol.HitError, "", t.Last, *t.Ended, t.End.Message}
}

// Numbers of the parts of a turn that are not items. Items count from 1.
const (
	messageItem = 0
	endItem     = math.MaxInt
)

// texts yields the searchable texts of a turn, oldest first, each with its number.
func texts(t *protocol.Turn) iter.Seq2[int, itemText] {
	return func(yield func(int, itemText) bool) {
		if !yield(messageItem, messageText(t)) {
			return
		}
		for i, it := range t.Items {
			if text, ok := textOf(it); ok && !yield(i+1, text) {
				return
			}
		}
		if t.End != nil && t.End.Failed() {
			yield(endItem, errorText(t))
		}
	}
}

// textOf returns the text of an item; ok is false for an item without searchable text.
func textOf(it *protocol.Item) (s itemText, ok bool) {
	s = itemText{id: it.ID, seq: it.Seq, at: it.Started}
	var b strings.Builder
	switch {
	case it.Kind == protocol.ItemText:
		s.kind, s.text = protocol.HitText, string(it.Text)
		return s, true
	case it.Steered != nil:
		s.kind, s.text = protocol.HitUser, textOfMessage(&it.Steered.Message)
		return s, true
	case it.Kind == protocol.ItemReasoning:
		s.kind, s.text = protocol.HitReasoning, string(it.Text)
		return s, true
	case it.Kind == protocol.ItemTool:
		s.kind = protocol.HitTool
		appendTool(&b, it)
	case it.Kind == protocol.ItemApproval:
		s.kind = protocol.HitApproval
		appendApproval(&b, it)
	case it.Type == protocol.ErrorRaised:
		var d protocol.ErrorData
		_ = json.Unmarshal(it.Data, &d) // other data has no text
		s.kind = protocol.HitError
		appendLines(&b, d.Message, string(d.Code))
	default:
		return s, false
	}
	s.text = b.String()
	return s, true
}

// hit returns the hit of a query that the text matches.
func (s *itemText) hit(session string, q *protocol.Query, t *protocol.Turn) protocol.Hit {
	h := protocol.Hit{
		Session: session, Turn: t.Turn, First: t.First, Seq: s.seq, Kind: s.kind, Item: s.id, Time: s.at,
		Count: q.Count(s.text),
	}
	h.Snippet, h.Matches = snippet(q, s.text)
	return h
}

// SearchTurn returns the hits of a query in a turn, newest first, as a search command would find
// them.
func SearchTurn(session string, q *protocol.Query, t *protocol.Turn) (hits []protocol.Hit) {
	for _, text := range texts(t) {
		if q.Match(text.text) {
			hits = append(hits, text.hit(session, q, t))
		}
	}
	slices.Reverse(hits)
	return hits
}

func appendTool(b *strings.Builder, it *protocol.Item) {
	t := it.Tool
	appendLines(b, t.Name, t.Title)
	if len(t.Input) > 0 {
		appendJSON(b, t.Input)
	} else {
		appendLines(b, string(t.InputText))
	}
	appendLines(b, string(it.Text))
	appendContent(b, t.Content)
	if t.End != nil {
		if len(it.Text) == 0 && len(t.Content) == 0 {
			appendJSON(b, t.End.Output)
		}
		appendLines(b, t.End.Error)
	}
}

func appendApproval(b *strings.Builder, it *protocol.Item) {
	if a := it.Approval; a != nil {
		appendLines(b, a.Title, a.Command, a.Why, a.Patch)
		appendLines(b, a.Paths...)
		appendContent(b, a.Content)
		for _, t := range a.Tasks {
			appendLines(b, t.Title, t.Description)
		}
		for _, q := range a.Questions {
			appendLines(b, q.Text, q.About)
		}
		if a.Page != nil {
			appendLines(b, a.Page.URL)
		}
		appendLines(b, a.Explained...)
	}
	if it.Resolved != nil {
		appendLines(b, it.Resolved.Reason)
	}
}

func appendContent(b *strings.Builder, content []protocol.Content) {
	for i := range content {
		c := &content[i]
		appendLines(b, c.Path, c.Text)
		if c.Old != nil {
			appendLines(b, *c.Old)
		}
		appendLines(b, c.New)
	}
}

// appendLines appends the texts that are not empty, one a line.
func appendLines(b *strings.Builder, texts ...string) {
	for _, t := range texts {
		if t == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(t)
	}
}

// appendJSON appends the member names, strings and numbers of a JSON value, one a line.
func appendJSON(b *strings.Builder, raw json.RawMessage) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		tok, err := d.Token()
		if err != nil {
			return // end of input, or not JSON
		}
		switch v := tok.(type) {
		case string:
			appendLines(b, v)
		case json.Number:
			appendLines(b, v.String())
		}
	}
}
