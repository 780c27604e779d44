//go:build interop

package interop

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	update  = flag.Bool("update", false, "write the table of docs/agents.md")
	changes = flag.String("changes", "", "write to this file how the results differ from the table of docs/agents.md")
)

// agentsPage has the table between two comments.
const (
	agentsPage = "../../../docs/agents.md"
	tableBegin = "<!-- begin: internal/dev/interop -->\n"
	tableEnd   = "<!-- end: internal/dev/interop -->\n"
)

// checkAgentsPage compares the table of the page with the features of the agents, or writes it. With the flag
// -changes it writes the differences to a file.
func checkAgentsPage(t *testing.T, found []results) {
	page, err := os.ReadFile(agentsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(page), tableBegin)
	table, after, ended := strings.Cut(rest, tableEnd)
	if !begun || !ended {
		t.Fatalf("%s lacks the comments around its table", agentsPage)
	}
	made := agentsTable(t, found)
	if *changes != "" {
		lines := append(tableChanges(table, made), "")
		if err := os.WriteFile(*changes, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	switch {
	case t.Failed() || strings.Contains(made, cellNotRun):
	case *update:
		if err := os.WriteFile(agentsPage, []byte(before+tableBegin+made+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case table != made:
		t.Errorf("%s differs from the run: use -update", agentsPage)
	}
}

// Cells of a table that is not for the page.
const (
	cellFails  = " **fails** |"
	cellNotRun = " not run |"
)

// agentsTable returns the table, features by agents, and the notes.
func agentsTable(t *testing.T, found []results) string {
	head, line := "| feature |", "|---|"
	for _, a := range tableAgents {
		head += " " + a.title + " " + installedVersion(t, a.npm) + " |"
		line += "---|"
	}
	var rows, notes strings.Builder
	for _, f := range features {
		rows.WriteString("| " + f.name + " |")
		for i, a := range tableAgents {
			switch passed, tested := found[i][f.name]; {
			case !tested:
				rows.WriteString(cellNotRun)
				continue
			case !passed:
				rows.WriteString(cellFails)
				continue
			}
			cell := "yes"
			if note, ok := a.notes[f.name]; ok {
				cell = "yes, see below"
				if note.lack != nil {
					cell = "no"
				}
				fmt.Fprintf(&notes, "- %s, %s: %s\n", a.title, f.name, note.text)
			}
			rows.WriteString(" " + cell + " |")
		}
		rows.WriteString("\n")
	}
	table := head + "\n" + line + "\n" + rows.String()
	if notes.Len() > 0 {
		table += "\n" + notes.String()
	}
	return table
}

// tableChanges lists the differences of two tables: the versions of agents, then the cells. Cells that were not
// run are left out.
func tableChanges(before, after string) (lines []string) {
	old := tableCells(before)
	for _, c := range tableCells(after) {
		i := slices.IndexFunc(old, func(o tableCell) bool { return o.row == c.row && o.agent == c.agent })
		was := "missing"
		if i >= 0 {
			was = old[i].text
		}
		if c.text != was && c.text != strings.Trim(cellNotRun, " |") {
			lines = append(lines, fmt.Sprintf("%s, %s: %s → %s", c.agent, c.row, was, c.text))
		}
	}
	return lines
}

// A tableCell is a cell of the table. The row of the head is "version".
type tableCell struct{ row, agent, text string }

func tableCells(table string) (cells []tableCell) {
	var agents []string
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.Trim(line, "|\n"), "|")
		row := strings.TrimSpace(fields[0])
		switch {
		case !strings.HasPrefix(line, "| "):
		case row == "feature":
			for _, f := range fields[1:] {
				agent, version, _ := strings.Cut(strings.TrimSpace(f), " ")
				agents = append(agents, agent)
				cells = append(cells, tableCell{"version", agent, version})
			}
		default:
			for i, f := range fields[1:min(len(fields), len(agents)+1)] {
				cells = append(cells, tableCell{row, agents[i], strings.TrimSpace(f)})
			}
		}
	}
	return cells
}

func TestTableChanges(t *testing.T) {
	const before = "| feature | a 1 | b 2 |\n|---|---|---|\n| prompt | yes | no |\n| image | yes | yes |\n\n- b, prompt: why\n"
	after := strings.NewReplacer("a 1", "a 3", "| prompt | yes | no |", "| prompt |"+cellNotRun+cellFails).Replace(before) +
		"| new | yes | yes |\n"
	want := "a, version: 1 → 3; b, prompt: no → **fails**; a, new: missing → yes; b, new: missing → yes"
	if got := strings.Join(tableChanges(before, after), "; "); got != want {
		t.Errorf("got %s", got)
	}
}

// installedVersion returns the version of an installed package.
func installedVersion(t *testing.T, npm string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(*modules, npm, "package.json"))
	var pkg struct{ Version string }
	if err == nil {
		err = json.Unmarshal(b, &pkg)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pkg.Version
}
