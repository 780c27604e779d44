package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/transcript"
)

func TestSearchFindsLinesInBothDirectionsAndStartsAgain(t *testing.T) {
	s := NewStyles(time.UTC, "")
	list := transcript.NewList(CacheBytes)
	for _, text := range []string{"a one\nb", "c", "d one\ne one"} {
		for _, item := range TextItems(s, text, AsPreformatted) {
			list.Append(item, false)
		}
	}
	list.Resize(80, 10)
	search := NewSearch(s, list)
	enter := func(text string) bool {
		search.Open()
		search.input.SetValue(text)
		_, entered := search.Press(tea.KeyPressMsg{Code: tea.KeyEnter})
		return entered
	}
	if enter("") || search.Active() {
		t.Error("an empty text begins a search")
	}
	if !enter("one") {
		t.Fatal("a text begins no search")
	}
	point := func(item, line int) transcript.Point {
		return transcript.Point{Item: transcript.ID(item), Line: line}
	}
	for _, c := range []struct {
		from    transcript.Point
		by      int
		want    transcript.Point
		message string
	}{
		{point(0, 0), 0, point(0, 0), ""},
		{point(0, 0), 1, point(2, 0), ""},
		{point(2, 0), 1, point(2, 1), ""},
		{point(2, 1), 1, point(0, 0), "from the start"},
		{point(0, 1), -1, point(0, 0), ""},
		{point(0, 0), -1, point(2, 1), "from the end"},
		{point(9, 9), -1, point(2, 1), ""}, // the content has changed
	} {
		if got, message, ok := search.Find(c.from, c.by); !ok || got != c.want || message != c.message {
			t.Errorf("from %v by %d: got %v, %q, %v", c.from, c.by, got, message, ok)
		}
	}
	if lines := list.Lines(); lines[0] == "a one" || !strings.Contains(lines[0], "one") {
		t.Errorf("got line %q, want a match that stands out", lines[0])
	}
	search.SetList(transcript.NewList(CacheBytes))
	if _, _, ok := search.Find(point(0, 0), 1); ok {
		t.Error("an empty list has a match")
	}
	search.SetList(list)
	if enter("nowhere"); !search.Active() {
		t.Fatal("no search")
	}
	if at, message, ok := search.Find(point(0, 1), 1); ok || at != point(0, 1) || message != "no match for “nowhere”" {
		t.Errorf("got %v, %q, %v", at, message, ok)
	}
	search.Open()
	search.Press(tea.KeyPressMsg{Code: tea.KeyEscape})
	if search.Active() || search.Typing() {
		t.Error("esc does not end the search")
	}
}
