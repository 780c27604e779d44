package approval

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"agentctl/protocol"
	"agentctl/tui/diff"
	"agentctl/tui/transcript"
)

// span is a range of bytes of a line.
type span struct{ from, to int }

// risk is a kind of text that deserves a second look before a request is allowed.
type risk struct {
	name    string
	pattern *regexp.Regexp
}

// risks lists the risks in the order in which a card names them. They are hints: a command without
// one may do anything too. Compiled on first use: programs that show no card do not pay for it.
var risks = sync.OnceValue(func() []risk {
	return []risk{
		{"sudo", anyOf(`\b(?:sudo|doas|pkexec|runas|run0)\b`, `\bsu +(?:[\w.-]+ +)?-`)},
		{"deletes", anyOf(
			`\brm["']? +(?:[^\s|;&]+ +)*?(?:-[a-zA-Z]*[rRf]|--recursive|--force)\S*`,
			`\b(?:shred|wipefs|mkfs\S*)\b`, `\bdd +\S*=`, `-delete\b`, `\bgit +clean\b`,
			`(?:\b|_)(?i:delete|destroy|drop|purge|wipe)(?i:[_ ]?[a-z]*)`,
		)},
		{"pipes into sh", anyOf(
			`\|&?\s*(?:(?:\S*/)?`+wrappers+`(?:\s+`+wrapperArguments+`)*\s+)*(?:\S*/)?`+interpreters,
			`>\(\s*(?:\S*/)?`+interpreters, `\bsource +<\(`, `(?:<|\$)\(\s*(?:curl|wget)`,
		)},
		{"runs a text in sh", anyOf(`\b(?:ba|z|da|k)?sh +-\w*c\b`, `\beval\b`, `\bbase64 +(?:-d|-D|--decode)\b`)},
		{"forced", anyOf(
			`--(?:force[\w-]*|insecure|yolo|no-verify|no-preserve-root)\b`, `\bgit +push\b[^\n]* (?:-f\b|\+\w)`,
		)},
		{"more rights", anyOf(
			`--(?:privileged|no-sandbox|dangerously[\w-]*|allow-root)\b`,
			`\bchmod +(?:-R +)?(?:[0-7]*777|[2467][0-7]{3}|\w*\+\w*s|[uao]*[ao][ug]*\+\w*w\w*)\b`,
			`(?i:with_escalated_permissions|require_escalated|dangerouslyDisableSandbox|escalat\w+|bypass\w*)`,
		)},
		{"reads from the network", anyOf(
			`\b[a-z][a-z0-9+.-]*://[^\s"'<>|;)]+`, `\b\d{1,3}(?:\.\d{1,3}){3}\b`, `\b[\w.-]+@[\w-]+\.[\w.-]+`,
			`(?:^|[\s;|&(])(?:curl|wget)\b[^\n|;&]*`,
		)},
		{"sends to the network", anyOf(
			`(?:^|[\s;|&(])(?:nc|ncat|ssh|scp|sftp|telnet|ftp|rsync)\b[^\n|;&]*`,
			`\b(?:curl|wget)\b[^\n|;&]* (?:-d|--data|--data-\w+|-F|--form|-T|--upload-file|--post-\w+|(?:-X|--request)[ =]?P\w+)\b`,
		)},
		{lookAlikeRisk, anyOf(`‹U\+[0-9A-F]{4,6}›`)},
	}
})

// Patterns of programs that run their input, of programs that run another one, and of the arguments
// of these.
const (
	interpreters = `(?:(?:ba|z|da|k|c|tc|fi)?sh|python[\d.]*|perl|ruby|node|php|pwsh)\b`
	wrappers     = `(?:sudo|doas|env|exec|nohup|nice|time|timeout|setsid|stdbuf|command|xargs|busybox)`

	wrapperArguments = `(?:-\S+(?:\s+[\w.:-]+)??|\w+=\S*|[\d.]+[smhd]?)`
)

// anyOf returns a pattern that matches any of the given ones.
func anyOf(patterns ...string) *regexp.Regexp { return regexp.MustCompile(strings.Join(patterns, "|")) }

const (
	outsideRisk   = "outside the directory"
	lookAlikeRisk = "hidden or look-alike letters"
)

// paths matches absolute paths, home directories and paths with steps upwards. One of its two
// groups is the path.
var paths = sync.OnceValue(func() *regexp.Regexp {
	const rest, up = "/[^\\s\"'`;|&)<>,\\]}]*", `[\w.@%+-]+(?:/[\w.@%+-]+)*/\.\.`
	return regexp.MustCompile("(?:^|[\\s\"'`=:(<>,\\[;|&@{])(?:-\\w)?(?:" +
		`((?:~[\w-]*|\$HOME|\$\{HOME\}|\.\.|` + up + `)?` + rest + `)|` +
		`(~|\.\.|` + up + ")(?:$|[\\s\"'`:;|&)>,\\]}]))")
})

// harmlessPaths are paths outside of any directory that most commands name.
var harmlessPaths = []string{"/dev/null", "/dev/stdout", "/dev/stderr", "/bin/sh", "/bin/bash", "/usr/bin/env"}

// blanks matches the marks of tabs and of long runs of blanks.
var blanks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`␉|‹\d+ (?:spaces|tabs)›`) })

// findRisks returns the names of the risks in lines of text, and their spans by line.
func findRisks(lines []string, cwd string) (names []string, spans [][]span) {
	text := blanks().ReplaceAllStringFunc(strings.Join(lines, "\n"), func(mark string) string {
		return strings.Repeat(" ", len(mark))
	})
	var found []span
	for _, r := range risks() {
		if at := r.pattern.FindAllStringIndex(text, -1); len(at) > 0 {
			names = append(names, r.name)
			for _, s := range at {
				found = append(found, span{s[0], s[1]})
			}
		}
	}
	if outside := outsidePaths(text, cwd); len(outside) > 0 {
		names = append(names, outsideRisk)
		found = append(found, outside...)
	}
	return names, splitSpans(lines, found)
}

// outsidePaths returns the paths in a text that are not below a directory.
func outsidePaths(text, cwd string) []span {
	var out []span
	for from := 0; from < len(text); {
		m := paths().FindStringSubmatchIndex(text[from:])
		if m == nil {
			break
		}
		s := span{from + max(m[2], m[4]), from + max(m[3], m[5])}
		from = s.to
		isURL := s.from > 0 && text[s.from-1] == ':' && strings.HasPrefix(text[s.from:], "//")
		if !isURL && isOutside(text[s.from:s.to], cwd) {
			out = append(out, s)
		}
	}
	return out
}

// isOutside reports whether a path is not below a directory. Without a directory, only paths
// upwards and home directories are outside.
func isOutside(file, cwd string) bool {
	switch {
	case slices.Contains(harmlessPaths, file):
		return false
	case strings.HasPrefix(file, "/"):
		clean := path.Clean(file)
		dir := strings.TrimSuffix(path.Clean(cwd), "/")
		return cwd != "" && clean != dir && !strings.HasPrefix(clean, dir+"/")
	case strings.HasPrefix(file, "~"), strings.HasPrefix(file, "$"):
		return true
	}
	clean := path.Clean(file)
	return clean == ".." || strings.HasPrefix(clean, "../")
}

// splitSpans returns the parts of spans of a text in each of its lines, merged and in order, without
// the spaces around them.
func splitSpans(lines []string, found []span) [][]span {
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	out := make([][]span, len(lines))
	start, first := 0, 0
	for i, line := range lines {
		end := start + len(line)
		for first < len(found) && found[first].to <= start {
			first++
		}
		for _, s := range found[first:] {
			if s.from >= end {
				break
			}
			from, to := max(s.from, start)-start, min(s.to, end)-start
			switch last := len(out[i]) - 1; {
			case from >= to:
			case last >= 0 && from <= out[i][last].to:
				out[i][last].to = max(out[i][last].to, to)
			default:
				out[i] = append(out[i], span{from, to})
			}
		}
		for j, s := range out[i] {
			if part := line[s.from:s.to]; strings.Trim(part, " ") != "" {
				out[i][j].from += len(part) - len(strings.TrimLeft(part, " "))
				out[i][j].to -= len(part) - len(strings.TrimRight(part, " "))
			}
		}
		start = end + 1
	}
	return out
}

// Risks returns the names of the risks of a request: those of all that it runs, of its tool, of its
// directory and of the files that it changes. Of the changes themselves only hidden characters and
// the targets of links count. Paths outside of dir, the directory of the session, are a risk; if
// that is not known, dir is "" and the directory of the request counts.
func Risks(r *protocol.Approval, dir string) []string {
	dir = cmp.Or(dir, r.CWD)
	lines, hidden := revealLines(r.Name, true), false
	files, isPatch := diff.Parse(transcript.Reveal(r.Patch))
	if isPatch {
		hidden = transcript.Reveal(r.Patch) != r.Patch
		for i := range files {
			lines = append(lines, files[i].Old, files[i].New)
			lines = append(lines, linkTargets(&files[i])...)
		}
	}
	for _, s := range Sections(r, isPatch) {
		if s.Runs && !s.changes {
			lines = append(lines, revealLines(s.Text, !s.Prose && s.Text != r.Patch)...)
		}
	}
	for i := range r.Content {
		if c := &r.Content[i]; c.Type == "diff" {
			lines = append(lines, revealLines(c.Path, true)...)
			hidden = hidden || transcript.Reveal(c.New) != c.New
		}
	}
	names, _ := findRisks(lines, dir)
	where := strings.Join(revealLines(r.CWD, true), "")
	add := func(name string, found bool) {
		if found && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(outsideRisk, r.CWD != "" && isOutside(r.CWD, dir))
	add(lookAlikeRisk, hidden || strings.Contains(where, "‹U+"))
	return names
}

// linkTargets returns the lines that a change adds to a symbolic link: the file that it names.
func linkTargets(f *diff.File) []string {
	isLink := slices.ContainsFunc(f.Notes, func(s string) bool { return strings.HasSuffix(s, "mode 120000") })
	if !isLink {
		return nil
	}
	var out []string
	for _, h := range f.Hunks {
		for _, line := range h.Lines {
			if line.Op == diff.Added {
				out = append(out, line.Text)
			}
		}
	}
	return out
}
