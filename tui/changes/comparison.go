package changes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/review"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// Side is one of two sessions that are compared.
type Side struct {
	Name       string
	Directory  string // paths below it are shown without it
	Session    remote.Session
	Transcript *transcriptview.View
}

// Closed is the intent of a comparison that was closed.
type Closed struct{}

// Comparison is an overlay with the files that two sessions changed: both of them, only the left one, and
// only the right one.
type Comparison struct {
	*ui.Picker[comparedFile]
	styles *ui.Styles
	sides  [2]Side
	known  [2]bool // files has the changes of all turns of a side
	files  []comparedFile
	closed bool
}

// comparedFile is a file with its changes by side.
type comparedFile struct {
	path    string
	changes [2]*diff.File // nil: the side did not change it
	first   bool          // of its group
}

// group returns 0 for a file that both sides changed, or the number of the side.
func (f *comparedFile) group() int {
	switch {
	case f.changes[1] == nil:
		return 1
	case f.changes[0] == nil:
		return 2
	}
	return 0
}

// NewComparison returns the comparison of two sessions, and a command that requests what their transcripts
// have not loaded.
func NewComparison(s *ui.Styles, c *request.Sender, left, right Side) (*Comparison, tea.Cmd) {
	o := &Comparison{styles: s, sides: [2]Side{left, right}}
	o.Picker = ui.NewPicker(s, ui.List[comparedFile]{
		Rows:   func(string) []comparedFile { return o.files },
		ID:     func(f comparedFile) string { return f.path },
		Draw:   o.draw,
		Choose: func(f comparedFile) ui.Response { return ui.Response{Push: o.open(&f)} },
		Title:  func(_, _, _ int) string { return o.title() },
		Empty:  func(string) string { return " no files were changed" },
		Hint:   func() string { return s.Keys.Hint(keymap.Choose, "compare", keymap.Up, "up", keymap.Down, "down") },
		Press: func(key string) (ui.Response, bool) {
			closes := s.Keys.At(keymap.Global, key) == keymap.ShowChanges
			return ui.Response{Close: closes, Intent: Closed{}}, closes
		},
		Leave: Closed{},
	})
	o.read()
	wanted := func() bool { return !o.closed }
	return o, tea.Batch(Load(c, left.Session, left.Transcript, wanted), Load(c, right.Session, right.Transcript, wanted))
}

// Update implements [ui.Overlay].
func (o *Comparison) Update(msg tea.Msg) ui.Response {
	r := o.Picker.Update(msg)
	o.closed = o.closed || r.Close
	return r
}

// View implements [ui.Overlay]. It reads the changes again once more of them are known.
func (o *Comparison) View(width, height int) ([]string, *tea.Cursor) {
	for i := range o.sides {
		if o.sides[i].Transcript.ChangesKnown() != o.known[i] {
			o.read()
		}
	}
	return o.Picker.View(width, height)
}

// read reads the changes of both sides.
func (o *Comparison) read() {
	byPath := map[string]*comparedFile{}
	for i := range o.sides {
		side := &o.sides[i]
		o.known[i] = side.Transcript.ChangesKnown()
		files := filechange.Join(side.Transcript.StepsTo(side.Transcript.List.Last()))
		for at := range files {
			path := filechange.Relative(files[at].Path(), side.Directory)
			if byPath[path] == nil {
				byPath[path] = &comparedFile{path: path}
			}
			byPath[path].changes[i] = &files[at]
		}
	}
	o.files = o.files[:0]
	for _, f := range byPath {
		o.files = append(o.files, *f)
	}
	slices.SortFunc(o.files, func(a, b comparedFile) int {
		return cmp.Or(cmp.Compare(a.group(), b.group()), cmp.Compare(a.path, b.path))
	})
	for i := range o.files {
		o.files[i].first = i == 0 || o.files[i].group() != o.files[i-1].group()
	}
}

// title says how many files there are, and whether those of all turns are among them.
func (o *Comparison) title() string {
	title := "changed files of " + o.sides[0].Name + " and " + o.sides[1].Name
	for i := range o.sides {
		switch {
		case o.known[i]:
		case o.sides[i].Transcript.ChangesLoading():
			return title + keymap.Separator + "loading older turns …"
		default:
			title += keymap.Separator + "older turns of " + o.sides[i].Name + " are not loaded"
		}
	}
	return title
}

// heading names a group of files.
func (o *Comparison) heading(group int) string {
	n := 0
	for i := range o.files {
		if o.files[i].group() == group {
			n++
		}
	}
	if group == 0 {
		return fmt.Sprintf(" both · %d", n)
	}
	return fmt.Sprintf(" only %s · %d", o.sides[group-1].Name, n)
}

// draw draws a file with its lines by side, and the heading of its group before the first one.
func (o *Comparison) draw(f comparedFile, selected bool, width int) (lines []string) {
	if f.first {
		lines = append(lines, o.styles.Accent.Render(ui.Fit(o.heading(f.group()), width)))
	}
	var stats []string
	for _, c := range f.changes {
		if c != nil {
			added, removed := c.Stat()
			stats = append(stats, fmt.Sprintf("%12s", fmt.Sprintf("+%d −%d", added, removed)))
		}
	}
	right := strings.Join(stats, " │") + " "
	path := ui.FitLeft(format.JoinLines(f.path), max(1, width-4-transcript.Width(right)))
	if selected {
		return append(lines, o.styles.Selected.Render(ui.Spread(" ▸ "+path, right, width)))
	}
	return append(lines, ui.Spread("   "+path, o.styles.Dim.Render(right), width))
}

// open returns a view of the changes of a file: against each other, or of the only side that has some.
func (o *Comparison) open(f *comparedFile) ui.Overlay {
	var file diff.File
	title := "− " + o.sides[0].Name + "  + " + o.sides[1].Name
	if group := f.group(); group == 0 {
		file = filechange.Against(f.path, f.changes[0], f.changes[1])
	} else {
		file, title = *f.changes[group-1], "only "+o.sides[group-1].Name
	}
	return review.New(o.styles, title, review.Content{Changes: filechange.New([]diff.File{file})})
}
