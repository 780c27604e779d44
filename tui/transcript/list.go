package transcript

import "github.com/charmbracelet/x/ansi"

// Item is the content of one item. The list calls it only for items on the
// screen, or passed by the scrolling of one.
type Item interface {
	// Block renders the item at a width of at least one cell.
	Block(width int, folded bool) Block
	// Estimate is about how many lines Block will have. It costs O(1).
	Estimate(width int, folded bool) int
}

// ID names an item of one list. It stays valid whatever is added around it,
// until Forget.
type ID int

type item struct {
	source  Item
	version uint64
	folded  bool
}

// List shows a window of lines over items of any number. No method loops over
// all items: drawing and scrolling cost what is on the screen, everything else
// O(log n).
type List struct {
	width, height int
	cache         *cache

	// Items grow at both ends, so that older ones can be paged in: back holds
	// IDs 0, 1, 2 …, front holds -1, -2 …, each with its heights.
	back, front   []item
	backH, frontH heights

	// The first line on the screen while not following: corrections of
	// estimated heights never move the screen.
	top      ID
	topLine  int
	follow   bool // the end of the last item is the end of the screen
	selected ID
	chosen   bool // something is selected

	highlight func(line string) string
	choice    choice
	landmarks landmarks
}

// NewList keeps rendered lines of up to cacheBytes. It follows the end.
func NewList(cacheBytes int) *List {
	return &List{width: 1, height: 1, cache: newCache(cacheBytes), follow: true}
}

// Len is the number of items.
func (l *List) Len() int { return len(l.back) + len(l.front) }

// First and Last are the ends of the list; Last is before First when it is empty.
func (l *List) First() ID { return ID(-len(l.front)) }

// Last is the newest item.
func (l *List) Last() ID { return ID(len(l.back) - 1) }

// Resize sets the window. Lines are laid out anew when they come on the screen.
func (l *List) Resize(width, height int) {
	l.width, l.height = max(width, 1), max(height, 1)
}

// Append adds an item at the end.
func (l *List) Append(s Item, folded bool) ID {
	l.back = append(l.back, item{source: s, folded: folded})
	l.backH.push(max(s.Estimate(l.width, folded), 1))
	l.landmarks.note(l.Last(), s)
	return l.Last()
}

// Prepend adds an item before the first.
func (l *List) Prepend(s Item, folded bool) ID {
	l.front = append(l.front, item{source: s, folded: folded})
	l.frontH.push(max(s.Estimate(l.width, folded), 1))
	l.landmarks.note(l.First(), s)
	return l.First()
}

// DropBefore drops every item before the one named, which becomes 0. It costs what
// is kept.
func (l *List) DropBefore(before ID) {
	if before <= l.First() {
		return
	}
	kept := *l
	*l = *NewList(l.cache.budget)
	l.width, l.height = kept.width, kept.height
	l.highlight = kept.highlight
	l.follow, l.top, l.topLine = kept.follow, kept.top-before, kept.topLine
	l.chosen, l.selected = kept.chosen && kept.selected >= before, kept.selected-before
	if l.top < 0 {
		l.top, l.topLine = 0, 0
	}
	for id := before; id <= kept.Last(); id++ {
		l.back = append(l.back, *kept.item(id))
		l.backH.push(kept.heightAt(id))
		l.landmarks.note(l.Last(), l.back[l.Last()].source)
	}
}

// Invalidate says that the item's content changed.
func (l *List) Invalidate(id ID) {
	it := l.item(id)
	it.version++
	l.setHeight(id, max(it.source.Estimate(l.width, it.folded), 1))
}

// Restyle says that every item looks different, at the height it had.
func (l *List) Restyle() { l.cache = newCache(l.cache.budget) }

// Collapsed tells whether the item is folded.
func (l *List) Collapsed(id ID) bool { return l.item(id).folded }

// SetCollapsed folds or unfolds an item; what is above it stays where it is.
func (l *List) SetCollapsed(id ID, folded bool) {
	it := l.item(id)
	if it.folded == folded {
		return
	}
	it.folded = folded
	if l.follow && l.Len() > 0 {
		l.top, l.topLine = l.bottomTop()
		l.follow = false
	}
	l.Invalidate(id)
}

// Item is the item's content.
func (l *List) Item(id ID) Item { return l.item(id).source }

// Lines draws the window: exactly its height in lines, none wider than its
// width. What is missing at the end is empty.
func (l *List) Lines() []string {
	out := make([]string, 0, l.height)
	l.settle()
	l.walk(func(p Point, line string) { out = append(out, l.dress(p, line)) })
	for len(out) < l.height {
		out = append(out, "")
	}
	return out
}

// Tail draws the last lines of the list in another window, in which nothing is
// chosen or marked. The window of the list stays where its reader is.
func (l *List) Tail(width, height int) []string {
	tail := *l // shares items, heights and cache, none of which know a window
	tail.Resize(width, height)
	tail.ScrollToBottom()
	tail.ClearSelection()
	tail.choice, tail.highlight = choice{}, nil
	return tail.Lines()
}

// ItemAt is the item drawn at a row of the window.
func (l *List) ItemAt(row int) (ID, bool) {
	l.settle()
	at, found, hit := 0, ID(0), false
	l.walk(func(p Point, _ string) {
		if at == row {
			found, hit = p.Item, true
		}
		at++
	})
	return found, hit
}

// walk visits the lines in the window from the settled anchor on.
func (l *List) walk(visit func(Point, string)) {
	if l.Len() == 0 {
		return
	}
	left := l.height
	for id, line := l.top, l.topLine; left > 0 && id <= l.Last(); id, line = id+1, 0 {
		b := l.block(id)
		for ; line < b.height() && left > 0; line++ {
			visit(Point{id, line}, b.line(line))
			left--
		}
	}
}

// SetHighlight has f dress every line that is drawn, last of all; nil ends it.
func (l *List) SetHighlight(f func(line string) string) { l.highlight = f }

func (l *List) dress(p Point, line string) string {
	if l.highlight != nil {
		line = l.highlight(line)
	}
	if len(line) > l.width && ansi.StringWidth(line) > l.width {
		line = ansi.Truncate(line, l.width, "")
	}
	if l.choice.holds(p) {
		return l.choice.dress(line)
	}
	if l.chosen && p.Item == l.selected && l.width > 2 {
		return selectionBar + ansi.TruncateLeft(line, 1, "")
	}
	return line
}

// selectionBar stands in the first column of a selected item's lines. Sources leave
// that column blank.
const selectionBar = "▌"

func (l *List) item(id ID) *item {
	if id < 0 {
		return &l.front[-1-id]
	}
	return &l.back[id]
}

// block renders the item, or takes it from the cache, and corrects its height.
func (l *List) block(id ID) *Block {
	it := l.item(id)
	key := cacheKey{item: int(id), width: l.width, fold: it.folded}
	b, ok := l.cache.get(key, it.version)
	if !ok {
		b = l.cache.put(key, it.version, it.source.Block(l.width, it.folded))
	}
	l.setHeight(id, b.height())
	return b
}

func (l *List) heightAt(id ID) int {
	if id < 0 {
		return l.frontH.at(int(-1 - id))
	}
	return l.backH.at(int(id))
}

func (l *List) setHeight(id ID, h int) {
	if id < 0 {
		l.frontH.set(int(-1-id), h)
	} else {
		l.backH.set(int(id), h)
	}
}

// Height is the number of rows of the window.
func (l *List) Height() int { return l.height }
