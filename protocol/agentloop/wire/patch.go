package wire

import (
	"strings"

	"agentctl/protocol"
)

const (
	patchBegin  = "*** Begin Patch"
	patchEnd    = "*** End Patch"
	patchUpdate = "*** Update File: "
	patchAdd    = "*** Add File: "
	patchDelete = "*** Delete File: "
)

// PatchTool is the command, and the tool, that applies a patch.
const PatchTool = "apply_patch"

// PatchPaths returns the first paths of a patch.
func PatchPaths(patch string) (paths []string) {
	for line := range strings.Lines(patch) {
		for _, mark := range []string{patchUpdate, patchAdd, patchDelete} {
			if path, is := strings.CutPrefix(line, mark); is && len(paths) < 64 && len(path) < 512 {
				paths = append(paths, strings.TrimSpace(path))
			}
		}
	}
	return paths
}

// PatchOf returns the patch of an approval in the form that clients preview; empty: none.
func PatchOf(a *protocol.Approval) string {
	switch {
	case strings.HasPrefix(a.Patch, patchBegin):
		return a.Patch
	case a.Patch != "":
		return patchBegin + "\n" + convertUnified(a.Patch) + patchEnd
	}
	var b strings.Builder
	for _, c := range a.Content {
		if c.Type == "diff" {
			WriteChange(&b, &c)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return patchBegin + "\n" + b.String() + patchEnd
}

// convertUnified replaces the file headers of a unified diff with patch headers. The hunks stay the
// same.
func convertUnified(diff string) string {
	var b strings.Builder
	old := ""
	hunk := false
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "diff --git "):
			hunk = false
			continue
		case !hunk && strings.HasPrefix(line, "--- "):
			old = diffPath(line[4:])
			continue
		case !hunk && strings.HasPrefix(line, "+++ "):
			switch now := diffPath(line[4:]); {
			case old == "":
				line = patchAdd + now
			case now == "":
				line = patchDelete + old
			default:
				line = patchUpdate + now
			}
		case strings.HasPrefix(line, "@@"):
			hunk = true
		case !hunk:
			continue // index and mode lines
		}
		b.WriteString(line + "\n")
	}
	if b.Len() == 0 {
		return strings.TrimSuffix(diff, "\n") + "\n" // of another form: unchanged
	}
	return b.String()
}

// diffPath returns the path of a file header; empty: no file.
func diffPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	if s == "/dev/null" {
		return ""
	}
	if strings.HasPrefix(s, "a/") || strings.HasPrefix(s, "b/") {
		return s[2:]
	}
	return s
}

// contextLines is the number of unchanged lines shown around a change.
const contextLines = 3

// WriteChange writes the change of one file.
func WriteChange(b *strings.Builder, c *protocol.Content) {
	now := splitLines(c.New)
	if c.Old == nil {
		b.WriteString(patchAdd + c.Path + "\n")
		writeLines(b, "+", now)
		return
	}
	old := splitLines(*c.Old)
	head, tail := 0, 0
	for head < min(len(old), len(now)) && old[head] == now[head] {
		head++
	}
	for tail < min(len(old), len(now))-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	b.WriteString(patchUpdate + c.Path + "\n@@\n")
	writeLines(b, " ", old[max(0, head-contextLines):head])
	writeLines(b, "-", old[head:len(old)-tail])
	writeLines(b, "+", now[head:len(now)-tail])
	writeLines(b, " ", old[len(old)-tail:min(len(old), len(old)-tail+contextLines)])
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

func writeLines(b *strings.Builder, mark string, lines []string) {
	for _, l := range lines {
		b.WriteString(mark + l + "\n")
	}
}
