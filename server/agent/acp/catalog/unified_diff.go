package catalog

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// A hunk is a part of a unified diff: the lines from number start on, before and after.
type hunk struct {
	start, count  int // of the old lines
	before, after []string
}

// noLineEnd follows a line without an end.
const noLineEnd = `\ No newline at end of file`

var (
	hunkHead  = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@$`)
	indexLine = regexp.MustCompile(`^index [0-9a-f]+\.\.[0-9a-f]+( 100644)?$`)
	ruler     = regexp.MustCompile(`^=+$`)
)

// isDiffOf reports whether a unified diff has the change of a file and nothing else: it turns the
// old content into the new one, or, if the change is a part of the file, has one hunk in which it
// replaces the old text by the new one.
func isDiffOf(diff string, c *protocol.Content) bool {
	hunks, ok := parseDiff(diff, c)
	if !ok || len(hunks) == 0 {
		return false
	}
	if changed, ok := applyHunks(oldText(c), hunks); ok && changed == c.New {
		return true
	}
	// Some diffs do not show whether the last line has an end.
	cut := func(lines []string) string { return strings.TrimSuffix(strings.Join(lines, ""), "\n") }
	before, after := cut(hunks[0].before), cut(hunks[0].after)
	old, changed := oldText(c), c.New
	return len(hunks) == 1 && (replaces(before, old, changed, after) ||
		replaces(before, strings.TrimSuffix(old, "\n"), strings.TrimSuffix(changed, "\n"), after))
}

// parseDiff reads a unified diff of one file. ok is false for a line that it does not know, or that
// names another file.
func parseDiff(diff string, c *protocol.Content) (hunks []hunk, ok bool) {
	heads := diffHeads(c)
	var kind byte // of the last line
	for line := range strings.Lines(diff) {
		bare := strings.TrimSuffix(line, "\n")
		if m := hunkHead.FindStringSubmatch(bare); m != nil {
			h := hunk{count: 1}
			h.start, _ = strconv.Atoi(m[1])
			if m[2] != "" {
				h.count, _ = strconv.Atoi(m[2])
			}
			hunks = append(hunks, h)
			continue
		}
		if len(hunks) == 0 {
			if !slices.Contains(heads, bare) && !indexLine.MatchString(bare) && !ruler.MatchString(bare) {
				return nil, false
			}
			continue
		}
		h := &hunks[len(hunks)-1]
		if bare == noLineEnd {
			h.trim(kind)
			continue
		}
		kind = line[0]
		switch kind {
		case ' ':
			h.before, h.after = append(h.before, line[1:]), append(h.after, line[1:])
		case '-':
			h.before = append(h.before, line[1:])
		case '+':
			h.after = append(h.after, line[1:])
		default:
			return nil, false
		}
	}
	return hunks, true
}

// trim removes the end of the last line of a kind.
func (h *hunk) trim(kind byte) {
	last := func(lines []string) {
		if n := len(lines); n > 0 {
			lines[n-1] = strings.TrimSuffix(lines[n-1], "\n")
		}
	}
	if kind != '+' {
		last(h.before)
	}
	if kind != '-' {
		last(h.after)
	}
}

// diffHeads returns the lines before the hunks of a diff that name only the changed file.
func diffHeads(c *protocol.Content) []string {
	rooted := "/" + strings.TrimPrefix(c.Path, "/")
	heads := []string{
		"", "Index: " + c.Path, "diff --git a" + rooted + " b" + rooted,
		"--- " + c.Path, "--- a" + rooted, "+++ " + c.Path, "+++ b" + rooted,
	}
	if oldText(c) == "" {
		heads = append(heads, "create file mode 100644", "new file mode 100644", "--- /dev/null", "--- a/dev/null")
	}
	return heads
}

// applyHunks returns a content after the hunks. ok is false if it does not have their lines.
func applyHunks(content string, hunks []hunk) (changed string, ok bool) {
	lines := slices.Collect(strings.Lines(content))
	var b strings.Builder
	next := 0
	for _, h := range hunks {
		first := h.start - 1
		if h.count == 0 {
			first = h.start // the line before
		}
		end := first + len(h.before)
		if h.count != len(h.before) || first < next || end > len(lines) || !slices.Equal(lines[first:end], h.before) {
			return "", false
		}
		b.WriteString(strings.Join(lines[next:first], "") + strings.Join(h.after, ""))
		next = end
	}
	return b.String() + strings.Join(lines[next:], ""), true
}
