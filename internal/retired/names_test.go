package retired

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestThePageAboutUpgradesListsEveryRetiredName(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "upgrading.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| ") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	want := []string{"| name | kind | removed | in its place |"}
	for _, n := range Names() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", n.Name, n.Kind, n.Since, n.Instead))
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the page has\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}

func TestRowsOfTheTableAreComplete(t *testing.T) {
	month := regexp.MustCompile(`^20\d\d-[01]\d$`)
	kinds := []Kind{Setting, ServerSetting, Action, Verb}
	seen := map[string]bool{}
	for _, n := range Names() {
		key := string(n.Kind) + " " + n.Name
		if seen[key] || !slices.Contains(kinds, n.Kind) || n.Name == "" || !month.MatchString(n.Since) ||
			n.Instead == "" || strings.HasSuffix(n.Instead, ".") {
			t.Errorf("%+v", n)
		}
		seen[key] = true
	}
}
