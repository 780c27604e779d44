package session

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"agentctl/protocol"
)

// A saying is what one item of a turn says, as a search sees it.
type saying struct {
	kind protocol.HitKind
	id   string
	seq  uint64
	at   time.Time
	text string
}

func sayingOfUser(t *protocol.Turn) saying {
	var b strings.Builder
	b.WriteString(t.Message.Text)
	for _, p := range t.Message.Parts {
		say(&b, p.Name, p.Text)
	}
	return saying{protocol.HitUser, t.Message.MessageID, t.First, t.Started, b.String()}
}

func sayingOfEnd(t *protocol.Turn) saying {
	return saying{protocol.HitError, "", t.First, *t.Ended, t.End.Message}
}

// sayingOf returns what an item says; ok is false for one that says nothing to people.
func sayingOf(it *protocol.Item) (s saying, ok bool) {
	s = saying{id: it.ID, seq: it.Seq, at: it.Started}
	var b strings.Builder
	switch {
	case it.Kind == protocol.ItemText:
		s.kind, s.text = protocol.HitText, string(it.Text)
		return s, true
	case it.Kind == protocol.ItemReasoning:
		s.kind, s.text = protocol.HitReasoning, string(it.Text)
		return s, true
	case it.Kind == protocol.ItemTool:
		s.kind = protocol.HitTool
		sayTool(&b, it)
	case it.Kind == protocol.ItemApproval:
		s.kind = protocol.HitApproval
		sayApproval(&b, it)
	case it.Type == protocol.ErrorRaised:
		var d protocol.ErrorData
		_ = json.Unmarshal(it.Data, &d) // what is no error's data says nothing
		s.kind = protocol.HitError
		say(&b, d.Message, string(d.Code))
	default:
		return s, false
	}
	s.text = b.String()
	return s, true
}

// hit is a saying that holds the words, as it is told.
func (s *saying) hit(session string, q *protocol.Query, t *protocol.Turn) protocol.Hit {
	h := protocol.Hit{Session: session, Turn: t.Turn, First: t.First, Seq: s.seq, Kind: s.kind, Item: s.id, Time: s.at, Count: q.Count(s.text)}
	h.Snippet, h.Matches = snippet(q, s.text)
	return h
}

// Hits returns what in a turn holds every word of a query, the newest first: what a search finds in it.
func Hits(session string, q *protocol.Query, t *protocol.Turn) (hits []protocol.Hit) {
	look := func(of saying) {
		if q.Match(of.text) {
			hits = append(hits, of.hit(session, q, t))
		}
	}
	look(sayingOfUser(t))
	for _, it := range t.Items {
		if of, ok := sayingOf(it); ok {
			look(of)
		}
	}
	if t.End != nil && t.End.Failed() {
		look(sayingOfEnd(t))
	}
	slices.Reverse(hits)
	return hits
}

func sayTool(b *strings.Builder, it *protocol.Item) {
	t := it.Tool
	say(b, t.Name, t.Title)
	if len(t.Input) > 0 {
		sayJSON(b, t.Input)
	} else {
		say(b, string(t.InputText))
	}
	say(b, string(it.Text))
	sayContent(b, t.Content)
	if t.End != nil {
		if len(it.Text) == 0 && len(t.Content) == 0 {
			sayJSON(b, t.End.Output)
		}
		say(b, t.End.Error)
	}
}

func sayApproval(b *strings.Builder, it *protocol.Item) {
	if a := it.Approval; a != nil {
		say(b, a.Title, a.Command, a.Why, a.Patch)
		say(b, a.Paths...)
		sayContent(b, a.Content)
		for _, t := range a.Tasks {
			say(b, t.Title, t.Description)
		}
		for _, q := range a.Questions {
			say(b, q.Text)
		}
		say(b, a.Explained...)
	}
	if it.Resolved != nil {
		say(b, it.Resolved.Reason)
	}
}

func sayContent(b *strings.Builder, content []protocol.Content) {
	for i := range content {
		c := &content[i]
		say(b, c.Path, c.Text)
		if c.Old != nil {
			say(b, *c.Old)
		}
		say(b, c.New)
	}
}

// say appends texts, a line each.
func say(b *strings.Builder, texts ...string) {
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

// sayJSON appends the names and values of JSON, without what holds them together.
func sayJSON(b *strings.Builder, raw json.RawMessage) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		tok, err := d.Token()
		if err != nil {
			return // the end, or no JSON
		}
		switch v := tok.(type) {
		case string:
			say(b, v)
		case json.Number:
			say(b, v.String())
		}
	}
}

// Bytes of a snippet: how many come before the first word, and how many there are.
const (
	snippetLead = 40
	snippetSize = 160
)

// snippet returns a line of the text around the first word, and where the words are in it.
func snippet(q *protocol.Query, text string) (string, []protocol.Span) {
	first := q.Index(text)
	from := max(0, first-snippetLead)
	for from < first && !utf8.RuneStart(text[from]) {
		from++
	}
	to := min(len(text), from+snippetSize)
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	line := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text[from:to])
	matches := q.Spans(line)
	if matches == nil {
		matches = []protocol.Span{} // a word longer than the line
	}
	return line, matches
}
