package transcriptview

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Bounds of the lines of a tool call in the transcript. The pager shows all of them.
const (
	headLines            = 3    // first lines of a collapsed output
	outputLines          = 10   // lines of a collapsed output at most
	foundLines           = 3    // of a collapsed output of a search
	collapsedChangeLines = 14   // lines of collapsed file changes
	maxChangeLines       = 400  // of expanded file changes
	maxArgumentLines     = 100  // of expanded arguments
	maxOutputLines       = 1000 // of an expanded output
)

// toolCall is a tool call: its title, status, arguments, file changes and output. When collapsed it
// shows the first lines of the changes and both ends of the output, muted if the call is completed.
type toolCall struct {
	itemAnchor
	interruption
	styles   *ui.Styles
	feed     textFeed[*transcript.Text]
	task     string // title of its task in a plan, or empty
	waiting  bool   // for an approval
	waits    *protocol.Waits
	ended    time.Time // zero: it has not ended
	joined   bool      // it continues a group
	nested   []nestedItem
	revealed revealed

	cache changesCache

	counted bool          // counts is set
	counts  []ChangedFile // of the completed call

	cachedTitle describe.ToolTitle
	titleFor    titleKey

	pictures pictures
}

// titleKey identifies what the title of a tool call is made of.
type titleKey struct {
	name, title, kind string
	input             *byte
	textLen           int
}

// changesCache keeps the result of fileChanges.
type changesCache struct {
	key           changesKey
	changes       *filechange.Changes
	outputIsPatch bool // the output is a patch, shown as changes
}

// changesKey identifies the parts of a tool call that its file changes are read from.
type changesKey struct {
	content    *protocol.Content
	input      *byte
	contentLen int
	textLen    int
}

// apply applies an event to what the call keeps beside its item. It discards the layout of an output
// that was replaced.
func (t *toolCall) apply(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolOutput:
		if bytes.Contains(e.Data, []byte(`"replace"`)) && remote.DecodeData[protocol.ToolOutputData](e.Data).Replace {
			t.feed, t.cache = textFeed[*transcript.Text]{}, changesCache{}
		}
	case protocol.ToolEnded:
		t.ended = e.Time
	}
}

// releaseCache discards the layout of a finished call until the next Block, so that a long list
// keeps only the source texts.
func (t *toolCall) releaseCache() {
	if !t.item.Open {
		t.cache = changesCache{}
	}
}

// Estimate implements transcript.Item.
func (t *toolCall) Estimate(width int, collapsed bool) int {
	if collapsed {
		return min(3+outputLines, 2+estimateLines(len(t.item.Text), width)) + min(len(t.nested), nestedCollapsed)
	}
	size := len(t.item.Text) + len(t.item.Tool.Input) + len(t.item.Tool.InputText)
	return 3 + min(maxOutputLines, estimateLines(size, width)) + len(t.nested)
}

// Block implements transcript.Item.
func (t *toolCall) Block(width int, collapsed bool) transcript.Block {
	defer t.releaseCache()
	b := transcript.Block{
		Header:     append(blankLines(t.joined), t.titleLine(width)),
		RenderLine: func(line string) string { return "   " + t.styles.RenderLine(line) },
	}
	room := max(1, width-ui.Indent)
	if !collapsed {
		b.Header = append(b.Header, t.argumentLines(room)...)
	}
	b.Header = append(b.Header, t.nestedLines(width, collapsed)...)
	if c := t.fileChanges(); c != nil {
		limit := t.revealed.limit(maxChangeLines)
		if collapsed {
			limit = collapsedChangeLines
		}
		header := 0
		if t.namedFile() != nil { // the title line has the path and the counts
			header = c.HeaderLines(room)
		}
		shown, more := c.Lines(room, limit+header, t.styles.SideBySide(width))
		b.Body = append(b.Body, shown[min(header, len(shown)):]...)
		b.Body = t.appendMore(b.Body, more, room, collapsed)
	}
	out := t.output()
	if collapsed {
		b.Body = t.appendOutputEnds(b.Body, out, room)
	} else {
		shown, bytes := out.text.Lines(room)
		hidden := max(0, len(shown)-t.revealed.limit(maxOutputLines))
		if hidden+out.linesBefore > 0 {
			line := "… " + format.Count(hidden+out.linesBefore, "line") + " above"
			b.Body = append(b.Body, t.dim(line, room))
		}
		if len(b.Body) == 0 {
			b.Body, b.Bytes = shown, bytes
		} else {
			b.Body = append(b.Body, shown[hidden:]...)
		}
		if out.linesAfter > 0 {
			line := "… " + format.Count(out.linesAfter, "line") + " below"
			b.Body = append(slices.Clip(b.Body), t.dim(line, room))
		}
	}
	t.pictures = t.pictures.update(t.item.Tool.Content)
	b.Footer = t.appendPictures(b.Footer, room, collapsed)
	return t.appendError(b, width)
}

// appendPictures appends the pictures of the output to dst, or only the first one if the call is
// collapsed.
func (t *toolCall) appendPictures(dst []string, room int, collapsed bool) []string {
	for _, p := range t.pictures {
		lines := p.lines(t.styles, room)
		for _, line := range lines {
			dst = append(dst, "   "+line)
		}
		if collapsed && len(lines) > 0 {
			break
		}
	}
	return dst
}

// appendOutputEnds appends the first and the last lines of the output to dst, or only the last
// lines if the call is running or failed. Of a file that was read it appends nothing.
func (t *toolCall) appendOutputEnds(dst []string, out output, room int) []string {
	first, last := headLines, outputLines-headLines
	end, kind := t.item.Tool.End, t.item.Tool.Kind
	completed := end != nil && end.Status == protocol.ToolCompleted
	switch {
	case !completed && (t.item.Open || end != nil && end.Status == protocol.ToolFailed):
		first, last = 0, outputLines
	case completed && kind == protocol.ToolRead:
		return dst
	case completed && kind == protocol.ToolSearch:
		first, last = foundLines, 0
	}
	line := func(s string) string { return s }
	if completed {
		line = transcript.Muted
	}
	tail, hidden := out.text.Tail(room, max(last, 1))
	if last == 0 {
		tail, hidden = nil, hidden+len(tail)
	}
	if hidden += out.linesBefore; hidden <= first+1 && out.complete {
		all, _ := out.text.Tail(room, first+last+1)
		return appendLines(dst, all, line)
	}
	dst = appendLines(dst, out.head().Head(room, first), line)
	dst = t.appendMore(dst, hidden-first, room, true)
	return appendLines(dst, tail, line)
}

// appendLines appends lines to dst as render returns them.
func appendLines(dst, lines []string, render func(string) string) []string {
	for _, line := range lines {
		dst = append(dst, render(line))
	}
	return dst
}

// appendMore appends to dst the number of hidden lines and the key that shows them.
func (t *toolCall) appendMore(dst []string, n, room int, collapsed bool) []string {
	if n <= 0 {
		return dst
	}
	text := "… " + format.Count(n, "more line")
	if collapsed { // the key works with every focus
		text += ui.Prefixed(keymap.Separator, t.styles.Keys.Hint(keymap.ToggleLast, "shows all"))
	}
	return append(dst, t.dim(text, room))
}

// dim returns text as one faint line of at most room cells.
func (t *toolCall) dim(text string, room int) string {
	r := &transcript.StyledText{}
	r.Append(ui.Fit(text, room), transcript.Faint)
	return r.Lines(room)[0]
}

// argumentLines returns the lines of the arguments, or nil if they show as file changes.
func (t *toolCall) argumentLines(room int) []string {
	if t.fileChanges() != nil && !filechange.HasDiff(t.item.Tool.Content) {
		return nil
	}
	args, _ := ui.AsPreformatted(t.arguments()).Lines(max(1, room-2))
	hidden := max(0, len(args)-t.revealed.limit(maxArgumentLines))
	var out []string
	for _, line := range args[:len(args)-hidden] {
		out = append(out, "   "+t.styles.Dim.Render("» ")+line)
	}
	if hidden > 0 {
		out = append(out, "   "+t.styles.Dim.Render(ui.Fit("… "+format.Count(hidden, "more line"), room)))
	}
	return out
}

// appendError adds the error of the call to the footer of b.
func (t *toolCall) appendError(b transcript.Block, width int) transcript.Block {
	if end := t.item.Tool.End; end != nil && end.Error != "" {
		line := ui.Fit(transcript.CleanLine(end.Error), width-ui.Indent)
		b.Footer = append(b.Footer, "   "+t.styles.Error.Render(line))
	}
	return b
}

// namedFile returns the changed file if the title has its path as a word, else nil.
func (t *toolCall) namedFile() *diff.File {
	c := t.fileChanges()
	if c == nil {
		return nil
	}
	f := c.OnlyFile()
	if f == nil || f.Path() == "" || f.Old != "" && f.Old != f.New {
		return nil
	}
	for word := range strings.FieldsSeq(t.plainTitle()) {
		if strings.Trim(word, "`\"'") == f.Path() {
			return f
		}
	}
	return nil
}

// fileChanges returns the changes to files, or nil. They are read from the structured content, else
// from the arguments, else from an output that is a patch.
func (t *toolCall) fileChanges() *filechange.Changes {
	tool := t.item.Tool
	key := changesKey{content: first(tool.Content), input: first(tool.Input), contentLen: len(tool.Content)}
	if !t.item.Open {
		key.textLen = len(t.item.Text)
	}
	if key == t.cache.key {
		return t.cache.changes
	}
	t.cache = changesCache{key: key}
	files := filechange.FromContent(tool.Content, transcript.Clean)
	if len(files) == 0 {
		files = filechange.FromArguments(tool.Kind, tool.Input, transcript.Clean)
	}
	if start := t.item.Text[:min(key.textLen, 4096)]; len(files) == 0 && bytes.Contains(start, []byte("\n@@ -")) {
		files, t.cache.outputIsPatch = diff.Parse(transcript.Clean(string(t.item.Text)))
		if !t.cache.outputIsPatch {
			files = nil
		}
	}
	if len(files) > 0 {
		t.cache.changes = filechange.New(files)
	}
	return t.cache.changes
}

// first returns the address of the first element, or nil. It identifies data that is only replaced.
func first[T any](s []T) *T {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}

// RunningTool returns the title of the last tool call that runs, and how long it has worked. It
// returns "" if none runs. A call that waits for a decision does not run.
func (v *View) RunningTool(now time.Time) (title string, worked time.Duration) {
	last := v.List.First() - 1
	for it, id := range v.runningTools {
		call, ok := v.List.Item(id).(*toolCall)
		if ok && it.Open && !call.waiting && id > last {
			title, last = call.plainTitle(), id
			worked, _ = call.worked(now)
		}
	}
	return title, worked
}
