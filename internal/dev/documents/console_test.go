//go:build documents && unix

package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A command is a line of a document after a prompt, with the output that the document shows.
type command struct {
	number int    // of its line
	host   string // before the prompt: empty, or the name of another machine
	text   string
	output []string
}

func (c command) same(other command) bool { return c.text == other.text }

var prompt = regexp.MustCompile(`^([a-z]*)\$ (.*)$`)

// readConsole returns the commands of the blocks of a document that are marked "console", and those
// marked "sh", of which each line is a command.
func readConsole(t *testing.T, name string) (blocks [][]command) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(), name))
	must(t, err)
	in := ""
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			in = strings.TrimPrefix(line, "```")
			if in == "console" || in == "sh" {
				blocks = append(blocks, nil)
			} else {
				in = ""
			}
			continue
		}
		if in == "" {
			continue
		}
		last := &blocks[len(blocks)-1]
		if in == "sh" {
			*last = append(*last, command{number: number, text: line})
		} else if m := prompt.FindStringSubmatch(line); m != nil {
			*last = append(*last, command{number: number, host: m[1], text: m[2]})
		} else if n := len(*last); n > 0 {
			(*last)[n-1].output = append((*last)[n-1].output, line)
		}
	}
	if len(blocks) == 0 {
		t.Fatalf("%s: no block marked console or sh", name)
	}
	return blocks
}

// A how describes how to run a command. A command without one runs to its end and must exit with 0.
type how struct {
	before  string // bash: makes what the command needs
	stdin   string
	code    int    // exit code
	keys    []step // on a terminal
	follows bool   // does not end: it is interrupted after its first line of output
	serves  bool   // does not end: it runs until the end of the document, as the server of its machine
	instead string // runs in its place
	fresh   bool   // on a separate machine
	skip    string // why it is not run
}

// comment is the explanation of a command in a document.
var comment = regexp.MustCompile(`\s+#\s.*$`)

// A runner runs the commands of one document.
type runner struct {
	t     *testing.T
	hosts map[string]*machine
	net   network
	how   map[string]how // by command without comment
	used  map[string]bool
}

func newRunner(t *testing.T, hows map[string]how) *runner {
	return &runner{t: t, hosts: map[string]*machine{"": newMachine(t)}, how: hows, used: map[string]bool{}}
}

// runPage runs the commands of a page on a machine with the documents, which reaches another one,
// box, by ssh. It returns the number of lines of output that the page shows.
func (r *runner) runPage(name string) (lines int) {
	r.t.Helper()
	box := newMachine(r.t)
	r.hosts["box"] = box
	r.hosts[""].env["BOX"] = box.home
	r.hosts[""].copyDocs()
	for _, block := range readConsole(r.t, name) {
		for i := range block {
			r.run(&block[i])
			lines += len(block[i].output)
		}
	}
	r.done()
	return lines
}

// run runs a command and compares its output and exit code.
func (r *runner) run(c *command) {
	r.t.Helper()
	key := comment.ReplaceAllString(c.text, "")
	h := r.how[key]
	r.used[key] = true
	if h.skip != "" {
		return
	}
	m := r.hosts[c.host]
	if h.before != "" {
		if got := m.run("set -e\n"+r.net.replace(r.t, h.before), ""); got.code != 0 {
			r.t.Fatalf("line %d: before %s: exit code %d\n%s%s", c.number, c.text, got.code, got.stdout, got.stderr)
		}
	}
	line := c.text
	if h.instead != "" {
		line = h.instead
	}
	line = r.net.replace(r.t, m.fill(line))
	var got result
	switch {
	case h.serves:
		stop := m.start(line)
		r.t.Cleanup(func() {
			if got := stop(); got.code != 0 {
				r.t.Errorf("%s: exit code %d after an interrupt\n%s", line, got.code, got.stderr)
			}
		})
		return
	case h.keys != nil:
		got = m.onTerminal(line, h.keys)
	case h.follows:
		got = m.start(line)()
	default:
		got = m.run(line, h.stdin)
	}
	if got.code != h.code {
		r.t.Errorf("line %d: %s: exit code %d, want %d\n%s%s", c.number, line, got.code, h.code, got.stdout, got.stderr)
	}
	compare(r.t, c, got.stdout+got.stderr)
}

// fill replaces the placeholders of a line.
func (m *machine) fill(line string) string {
	m.t.Helper()
	for word, source := range placeholders {
		if !strings.Contains(line, word) {
			continue
		}
		got := m.run(source, "")
		value := strings.TrimSpace(got.stdout)
		if value == "" {
			m.t.Errorf("%s: no value for %s: %s", line, word, got.stderr)
		}
		line = strings.ReplaceAll(line, word, value)
	}
	return line
}

// done reports entries of the table without a command.
func (r *runner) done() {
	r.t.Helper()
	for key := range r.how {
		if !r.used[key] {
			r.t.Errorf("no document has the command %s", key)
		}
	}
}

// compare requires that the lines which a document shows are printed in that order. An ellipsis
// stands for any text.
func compare(t *testing.T, c *command, printed string) {
	t.Helper()
	rest := strings.Split(printed, "\n")
	for _, want := range c.output {
		if want == "…" || want == "" {
			continue
		}
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(spaces(regexp.QuoteMeta(want)), "…", ".*") + "$")
		found := -1
		for i, line := range rest {
			if pattern.MatchString(spaces(strings.TrimRight(line, " "))) {
				found = i
				break
			}
		}
		if found < 0 {
			t.Errorf("line %d: %s: no line %q in\n%s", c.number, c.text, want, printed)
			return
		}
		rest = rest[found+1:]
	}
}

// spaces makes columns comparable, whose width depends on their content.
func spaces(s string) string { return strings.Join(strings.Fields(s), " ") }
