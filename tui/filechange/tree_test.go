package filechange

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/ui"
)

func TestFilesStandInTheirDirectories(t *testing.T) {
	paths := []string{"/w/go.mod", "/w/pkg/store/a.go", "/w/pkg/web/b.go", "/w/pkg/store/c.go", "/etc/hosts", "x/y/z/d.go"}
	styles := ui.NewStyles(nil, "")
	var got []string
	rows, _ := Tree(paths, "/w", nil)
	for _, row := range rows {
		if row.Directory == "" && !strings.HasSuffix(paths[row.File], row.name) {
			t.Errorf("%q is not file %d", row.name, row.File)
		}
		got = append(got, strings.TrimRight(ansi.Strip(row.Line(styles, "", 40)), " "))
	}
	want := []string{
		"go.mod", "pkg/", "  store/", "    a.go", "    c.go", "  web/b.go", "/etc/hosts", "x/y/z/d.go",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
