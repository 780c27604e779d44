package review

import "testing"

func TestSearchShowsMatches(t *testing.T) {
	r := open(t, smallPatch, 100, 30)
	r.press("/")
	r.write("store")
	r.mustShow("find: store")
	r.press("enter")
	r.mustShow("> next", "< previous", "close search")
	before := r.text()
	for range 9 {
		r.press(">")
	}
	r.press("j")
	if got := r.text(); got == before {
		t.Error("j does not move in the changes while there is a search")
	}
	r.press("esc")
	if r.last.Close {
		t.Error("esc closes the review instead of ending the search")
	}
	r.mustHide("close search")
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
		r.mustShow("no match for “nowhere”")
		if r.search.Active() {
			t.Error("a search without a match does not end")
		}
		r.press("/")
		for range "nowhere" {
			r.press("backspace")
		}
		r.write("v2_3")
		r.press("enter")
		r.mustShow("file 3 of 4", "v2_3")
		if m := r.body.items[r.body.currentPiece()].layout(r.body.width())[r.body.current.Line]; m.line < 0 {
			t.Errorf("width %d: the current line is no line of the patch", width)
		}
		r.press("g", ">")
		r.mustShow("file 3 of 4")
	}
}

func TestSearchGoesOnAfterAChangeOfTheContent(t *testing.T) {
	r := open(t, smallPatch, 100, 30)
	r.press("/")
	r.write("dirty")
	r.press("enter")
	at := r.body.current
	r.SetContent(r.content)
	r.press("g", ">")
	r.mustShow("close search")
	if r.body.current != at {
		t.Errorf("the match is at %v, want %v", r.body.current, at)
	}
}
