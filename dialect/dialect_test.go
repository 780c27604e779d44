package dialect

import (
	"os"
	"strings"
	"testing"
)

func TestEveryDialectHasAPageThatListsItsOptions(t *testing.T) {
	index, err := os.ReadFile("../docs/dialects.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		d, ok := Find(name)
		if !ok || d.Name != name {
			t.Fatalf("%s is called %q", name, d.Name)
		}
		if !strings.Contains(string(index), "["+name+"](dialects/"+name+".md)") {
			t.Errorf("docs/dialects.md does not lead to %s", name)
		}
		page, err := os.ReadFile("../docs/dialects/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		_, options, found := strings.Cut(string(page), "\n## Options\n")
		options, _, _ = strings.Cut(options, "\n## ")
		if found != (len(d.Options) > 0) {
			t.Errorf("%s has %d options; a section about them: %t", name, len(d.Options), found)
		}
		for _, o := range d.Options {
			row := "| `" + o.Name + "` |"
			_, rest, ok := strings.Cut(options, row)
			line, _, _ := strings.Cut(rest, "\n")
			if !ok {
				t.Errorf("%s.md: no %s", name, row)
			}
			for _, v := range o.Values {
				if !strings.Contains(line, "`"+v+"`") {
					t.Errorf("%s.md: %s may be %s", name, o.Name, v)
				}
			}
			var ends []string
			for _, end := range o.Ends {
				ends = append(ends, string(end))
			}
			if cells := strings.Split(line, "|"); len(cells) < 3 ||
				strings.TrimSpace(cells[1]) != strings.Join(ends, ", ") {
				t.Errorf("%s.md: %s is of the %v", name, o.Name, ends)
			}
		}
	}
	if _, ok := Find("esperanto"); ok {
		t.Error("there is a dialect that there is not")
	}
}
