package tui

import (
	"math"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// finder looks for words in the whole session: the server says where they are.
// Where it cannot, the items are looked through here; see lookFrom.
type finder struct {
	input *textinput.Model // while the words are written
	text  string           // the words as they were written
	query *protocol.Query  // nil: nothing is looked for
	wave  int              // of the search under way; what comes of others is stale
	busy  bool
	asOf  uint64        // how far the session was when it began
	goal  *protocol.Hit // gone to first; nil: the newest

	hits   []protocol.Hit // the newest first
	counts []int          // of matches in a hit and all newer ones
	at     int            // the hit that was gone to last
	cursor string         // where the server goes on; empty: that is all
	stand  stand          // the line that was gone to last

	local bool          // the server cannot say
	item  transcript.ID // looked at next
	by    int           // -1: towards older items
	paged bool          // it goes on when the older turns are there
}

// stand is a line that has all words.
type stand struct {
	on   bool // there is one
	item transcript.ID
	line int
	has  int // matches on it
	past int // matches in its item that are newer: below it
}

const (
	hitsAtOnce = 200
	hitsMost   = 10_000 // that are kept
)

type hitsMsg struct {
	wave int
	page *protocol.SearchResult
	err  error
}

// write begins to ask for words.
func (f *finder) write() {
	f.stop()
	f.input = newWords(f.text)
}

// stop ends the search under way.
func (f *finder) stop() {
	f.wave++
	f.busy, f.paged = false, false
}

// forget looks for nothing any more.
func (f *finder) forget() {
	*f = finder{wave: f.wave + 1}
}

// Render is the line where the words are written, or what is looked for and how
// many matches there are.
func (f *finder) Render(l *look, width int) []string {
	const label = " find: "
	switch {
	case f.input != nil:
		f.input.SetWidth(max(1, width-len(label)-1))
		return []string{fit(l.key.Render(label)+f.input.View(), width)}
	case f.query == nil:
		return nil
	case f.busy && (len(f.hits) == 0 || f.goal != nil):
		return []string{l.dim.Render(fit(label+f.text+" …", width))}
	}
	places := f.matches()
	right := strings.Trim(places+" · "+l.keys.hint(doOlder, "older", doNewer, "newer", doBack, "ends it"), "· ") + " "
	if ansi.StringWidth(label+f.text+right) > width {
		right = places + " "
	}
	return []string{l.dim.Render(spread(label+f.text, right, width))}
}

// matches tells which of how many, "" when that is not known. The server counts
// those of a hit, and the screen may lay out less or more than that: then the
// number stays within the hit's.
func (f *finder) matches() string {
	if f.local || len(f.hits) == 0 {
		return ""
	}
	n := strconv.Itoa(f.counts[len(f.counts)-1])
	if f.cursor != "" {
		n += "+"
	}
	newer := f.newer(f.at)
	return strconv.Itoa(min(newer+f.stand.past+1, f.counts[f.at])) + " of " + n
}

// newer is how many matches are in the hits that are newer than one.
func (f *finder) newer(hit int) int {
	if hit == 0 {
		return 0
	}
	return f.counts[hit-1]
}

// add takes a hit that is older than all there are.
func (f *finder) add(h protocol.Hit) {
	h.Snippet, h.Matches = "", nil // the screen shows the item itself
	f.hits = append(f.hits, h)
	f.counts = append(f.counts, f.newer(len(f.counts))+max(h.Count, 1))
}

// looking is what a line is matched with; has is how many matches the last one had.
func (f *finder) looking() (match func(line string) bool, has *int) {
	has = new(int)
	return func(line string) bool {
		*has = f.query.Count(ansi.Strip(line))
		return *has > 0
	}, has
}

func (f *finder) column() int { return len(" find: ") + f.input.Cursor().X }

// findKey handles a key while the words are written.
func (m *model) findKey(key string, msg tea.KeyPressMsg) tea.Cmd {
	f := &m.finder
	switch key {
	case "esc":
		m.endFind()
	case "enter":
		return m.beginFind(f.input.Value())
	default:
		*f.input, _ = f.input.Update(msg)
	}
	return nil
}

func (m *model) endFind() {
	m.finder.forget()
	m.story.list.SetHighlight(nil)
}

// beginFind looks for words from the end of the session on.
func (m *model) beginFind(words string) tea.Cmd {
	m.endFind()
	query, err := protocol.ParseQuery(words)
	if err != nil {
		return nil // no words, or more than anybody means
	}
	f := &m.finder
	f.text, f.query, f.busy = oneLine(transcript.Clean(words)), query, true
	f.asOf = m.state.Seq
	m.story.list.SetHighlight(m.highlight)
	m.setFocus(onStory)
	if m.link.State != Connected {
		return m.lookFrom(m.story.list.Last(), -1)
	}
	return m.askHits()
}

// askHits asks the server for more hits.
func (m *model) askHits() tea.Cmd {
	f := &m.finder
	wave, page := f.wave, new(protocol.SearchResult)
	ask := protocol.SearchData{Query: f.query.String(), Limit: hitsAtOnce, Cursor: f.cursor}
	return m.do(protocol.DoSearch, ask, page, func(err error) tea.Cmd { return m.told(hitsMsg{wave, page, err}) })
}

// told takes hits, goes to the first and asks for the rest, so that they are
// counted.
func (m *model) told(msg hitsMsg) tea.Cmd {
	f := &m.finder
	switch {
	case msg.wave != f.wave:
		return nil
	case msg.err != nil && len(f.hits) > 0:
		f.busy, f.cursor = false, ""
		return m.tell(msg.err)
	case msg.err != nil:
		return m.lookFrom(m.story.list.Last(), -1)
	}
	fresh := len(f.hits)
	for _, h := range msg.page.Hits {
		f.add(h)
	}
	if f.cursor = msg.page.Cursor; f.cursor == "" || len(f.hits) >= hitsMost {
		f.busy = false
	}
	var next tea.Cmd
	if f.busy {
		next = m.askHits()
	}
	if len(f.hits) == 0 && !f.busy {
		m.word = "“" + f.text + "” is not there"
	}
	if i := f.reached(fresh); i >= 0 {
		return tea.Batch(m.goToHit(i, -1), next)
	}
	return next
}

// findNext goes to the next line with the words: older ones (by < 0) or newer
// ones, of the same item or of the next one.
func (m *model) findNext(by int) tea.Cmd {
	f := &m.finder
	switch {
	case f.query == nil:
		return nil
	case m.findWithin(by):
		return nil
	case f.local:
		id, ok := m.story.list.Selected()
		if !ok {
			id = m.story.list.Last() + 1
		}
		return m.lookFrom(id+transcript.ID(by), by)
	case f.at-by < 0 && m.state.Seq > f.asOf:
		return m.beginFind(f.query.String()) // there may be newer ones by now
	case f.at-by < 0:
		m.word = "that is the newest place"
	case f.at-by >= len(f.hits) && len(f.hits) > 0:
		m.word = "that is the oldest place"
		if f.cursor != "" {
			m.word = "that is the oldest place so far"
		}
	case len(f.hits) > 0:
		return m.goToHit(f.at-by, by)
	}
	return nil
}

// findWithin goes to the next line with the words in the item that was gone to
// last, unless the person has gone elsewhere since.
func (m *model) findWithin(by int) bool {
	f, list := &m.finder, m.story.list
	id, ok := list.Selected()
	if !ok || !f.stand.on || id != f.stand.item {
		return false
	}
	match, has := f.looking()
	line, ok := list.FindLine(id, f.stand.line+by, by, match)
	if !ok {
		return false
	}
	if by < 0 {
		f.stand.past += f.stand.has
	} else {
		f.stand.past = max(0, f.stand.past-*has)
	}
	f.stand.line, f.stand.has = line, *has
	list.SelectLine(id, line)
	return true
}

// goToHit shows a hit, coming from a newer one (by < 0) or an older one; its turn
// is paged in if it is not there.
func (m *model) goToHit(i, by int) tea.Cmd {
	m.finder.at = i
	h := &m.finder.hits[i]
	return m.travel(&trip{
		until: h.First, gone: "the turn is not there any more",
		reach: func() bool {
			at, ok := m.pieceOf(h)
			if !ok && m.story.before <= h.First {
				at, ok = m.story.list.FindAnchor(nameOfItem(h.Turn, protocol.HitUser, ""))
			}
			if ok {
				m.found(at, by)
			}
			return ok
		},
	})
}

// pieceOf is the item of a hit. What is long is paged in in pieces, each an item:
// then it is the one with the words, once that is there.
func (m *model) pieceOf(h *protocol.Hit) (transcript.ID, bool) {
	list, name := m.story.list, nameOfHit(h)
	last, ok := list.FindAnchor(name)
	for id := last; ok && id >= list.First(); id-- {
		mark, is := list.Item(id).(transcript.Anchor)
		if !is {
			break
		}
		if _, its := mark.Anchor(); its != name {
			break
		}
		if m.finder.query.Match(wording(list.Item(id))) {
			return id, true
		}
	}
	return last, ok && m.story.before <= h.First
}

// found shows the item at the last line with the words (by < 0) or the first,
// unfolded where that is what shows them.
func (m *model) found(id transcript.ID, by int) {
	f, list := &m.finder, m.story.list
	whole, has := f.looking()
	some := func(line string) bool { return f.query.Index(ansi.Strip(line)) >= 0 }
	from := 0
	if by < 0 {
		from = math.MaxInt
	}
	line, ok := list.FindLine(id, from, by, whole)
	if !ok && list.Collapsed(id) {
		list.SetCollapsed(id, false)
		line, ok = list.FindLine(id, from, by, whole)
	}
	f.stand = stand{}
	if !ok { // the words are on several lines
		line, _ = list.FindLine(id, 0, 1, some)
	} else {
		f.stand = stand{on: true, item: id, line: line, has: *has}
		if by > 0 && len(f.hits) > 0 { // at its oldest
			f.stand.past = max(0, f.counts[f.at]-f.newer(f.at)-*has)
		}
	}
	list.SelectLine(id, line)
}

func (m *model) highlight(line string) string { return m.look.highlight(line, m.finder.query) }

// highlight shows where the words of a query are on a line.
func (l *look) highlight(line string, query *protocol.Query) string {
	bare := ansi.Strip(line)
	var ranges []lipgloss.Range
	for _, s := range query.Spans(bare) {
		from, to := ansi.StringWidth(bare[:s.From]), ansi.StringWidth(bare[:s.To])
		if from < to { // not within one character
			ranges = append(ranges, lipgloss.NewRange(from, to, l.chosen))
		}
	}
	if len(ranges) == 0 {
		return line
	}
	marked := lipgloss.StyleRanges(line, ranges...)
	if ansi.Strip(marked) != bare { // the library cuts otherwise than it measures where a mark that takes a cell joins a letter
		return line
	}
	return marked
}
