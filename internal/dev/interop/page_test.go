//go:build interop

package interop

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/agents.md")

// agentsPage has the table between two comments.
const (
	agentsPage = "../../../docs/agents.md"
	tableBegin = "<!-- begin: internal/dev/interop -->\n"
	tableEnd   = "<!-- end: internal/dev/interop -->\n"
)

// checkAgentsPage compares the table of the page with the features of the agents, or writes it.
func checkAgentsPage(t *testing.T) {
	page, err := os.ReadFile(agentsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(page), tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !begun || !ended {
		t.Fatalf("%s lacks the comments around its table", agentsPage)
	}
	want := before + tableBegin + agentsTable(t) + tableEnd + after
	if *update {
		if err := os.WriteFile(agentsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Errorf("%s differs from the run: use -update", agentsPage)
	}
}

// agentsTable returns the table, features by agents, and the notes.
func agentsTable(t *testing.T) string {
	head, line := "| feature |", "|---|"
	for _, a := range tableAgents {
		head += " " + a.title + " " + installedVersion(t, a.npm) + " |"
		line += "---|"
	}
	var rows, notes strings.Builder
	for _, f := range features {
		rows.WriteString("| " + f.name + " |")
		for _, a := range tableAgents {
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

// installedVersion returns the version of an installed package.
func installedVersion(t *testing.T, npm string) string {
	t.Helper()
	b, err := os.ReadFile("node_modules/" + npm + "/package.json")
	var pkg struct{ Version string }
	if err == nil {
		err = json.Unmarshal(b, &pkg)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pkg.Version
}
