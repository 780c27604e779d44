package review

import (
	"strings"
	"testing"
)

func TestSearchShowsMatchesWithCounts(t *testing.T) {
	r := open(t, smallPatch, 100, 30)
	r.press("/")
	r.write("store")
	r.mustShow("find: store")
	r.press("enter")
	r.mustShow("match 1 of 4", "> next", "< previous") // two lines, two paths
	before := r.text()
	r.press(">", ">")
	r.mustShow("match 3 of 4")
	r.press("<")
	r.mustShow("match 2 of 4")
	r.press(">", ">", ">")
	r.mustShow("from the start: match 1 of 4")
	r.press("j")
	if got := r.text(); got == before {
		t.Error("j does not move in the changes while there is a search")
	}
	r.press("<")
	r.mustShow("from the end: match 4 of 4")
	r.press("esc")
	if r.last.Close {
		t.Error("esc closes the review instead of ending the search")
	}
	r.mustHide("match")
	r.press("esc")
	if !r.last.Close {
		t.Error("esc does not close the review after the search")
	}
}

func TestSearchFindsTheLineOfAMatch(t *testing.T) {
	for _, width := range []int{60, 160} {
		r := open(t, manyFiles(4, 60), width, 20)
		r.press("/")
		r.write("nowhere")
		r.press("enter")
		r.mustShow("no match for nowhere")
		r.press("/")
		for range "nowhere" {
			r.press("backspace")
		}
		r.write("file")
		r.press("enter")
		r.mustShow("match 1 of")
		if piece := r.body.currentPiece(); piece != r.search.matches[0].piece {
			t.Errorf("width %d: the current line is in piece %d, want %d", width, piece, r.search.matches[0].piece)
		}
	}
	r := open(t, smallPatch, 100, 30)
	r.press("/")
	r.write("dirty")
	r.press("enter")
	m := r.search.matches[0]
	row := r.body.items[m.piece].layout(r.body.width())[r.body.current.Line]
	if !strings.Contains(row.text, "dirty") {
		t.Errorf("the current line is %q", row.text)
	}
}

func TestSearchKeepsItsMatchesAfterAChangeOfTheContent(t *testing.T) {
	r := open(t, smallPatch, 100, 30)
	r.press("/")
	r.write("one")
	r.press("enter", ">")
	r.SetContent(r.content)
	r.mustShow("match 2 of 3")
	r.press("/", "esc")
	r.mustShow("match 2 of 3") // esc leaves the input only
	other := open(t, manyFiles(1, 2), 100, 30)
	r.SetContent(other.content)
	r.mustHide("match")
}
