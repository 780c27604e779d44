package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/retired"
	"agentctl/tui/keymap"
)

func TestMembersWithRetiredNamesAreBlanked(t *testing.T) {
	find := func(name string) (retired.Name, bool) {
		return retired.Name{Name: name}, name == "old" || name == "also_old" || name == "new.old"
	}
	for _, c := range []struct{ text, want, names string }{
		{`{}`, `{}`, ""},
		{`{"a": 1}`, `{"a": 1}`, ""},
		{`{"old": 1}`, `{        }`, "old"},
		{`{"old": {"x": [1, "}"]}, "a": 1}`, `{                        "a": 1}`, "old"},
		{`{"a": 1, "old": "\"", "b": [{"old": 2}]}`, `{"a": 1             , "b": [{"old": 2}]}`, "old"},
		{`{"a": 1, "old": null}`, `{"a": 1             }`, "old"},
		{"{\n \"also_old\":\n  [],\n \"old\": 2,\n \"a\": 1\n}", "{\n            \n     \n          \n \"a\": 1\n}", "also_old old"},
		{`{"new": {"old": 1, "a": 2}, "a": {"old": 3}}`, `{"new": {          "a": 2}, "a": {"old": 3}}`, "new.old"},
		{`[{"old": 1}]`, `[{"old": 1}]`, ""},
		{`{"old": 1, "a"`, `{          "a"`, "old"},
		{`{"old" 1}`, `{"old" 1}`, ""},
		{``, ``, ""},
	} {
		got, names := withoutRetired([]byte(c.text), find)
		var found []string
		for _, n := range names {
			found = append(found, n.Name)
		}
		if string(got) != c.want || strings.Join(found, " ") != c.names {
			t.Errorf("%s:\n%s, %s; want\n%s, %s", c.text, got, found, c.want, c.names)
		}
	}
}

func TestTheKeysOfViAreRetired(t *testing.T) {
	want, ok := retired.Setting.Find("composer")
	if !ok {
		t.Fatal("composer is not retired")
	}
	for _, text := range []string{
		`{"composer": {"keys": "vi"}, "as": "ada"}`, `{"as": "ada", "composer": {"keys": "emacs"}}`,
	} {
		u, problem := parseUser([]byte(text))
		if problem != nil {
			t.Errorf("%s: %v", text, problem.err)
		}
		if u.As != "ada" || !slices.Equal(u.Retired(), []retired.Name{want}) {
			t.Errorf("%s: %+v", text, u)
		}
	}
}

// TestFilesOfEarlierVersionsAreAccepted reads files with every name that a version knew.
func TestFilesOfEarlierVersionsAreAccepted(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join("testdata", "*-*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%v, %v", dirs, err)
	}
	for _, dir := range dirs {
		for _, name := range []string{"config.json", "keys.json"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			u, problem := parseUser(text)
			if problem != nil {
				t.Errorf("%s/%s:%d: %v", dir, name, problem.line, problem.err)
				continue
			}
			for action := range u.Keys {
				n, isRetired := retired.Action.Find(action)
				known := keymap.DefinitionOf(keymap.Action(action)).Action != ""
				if known == isRetired || isRetired != slices.Contains(u.Retired(), n) {
					t.Errorf("%s/%s: action %s: known %v, retired %v", dir, name, action, known, u.Retired())
				}
			}
		}
		if _, err := ReadServer(filepath.Join(dir, "server.json")); err != nil {
			t.Error(err)
		}
	}
}
