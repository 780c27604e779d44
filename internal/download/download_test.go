package download

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const png = "\x89PNG\r\n\x1a\n"

func TestOnlyACleanBaseNameIsProposed(t *testing.T) {
	for name, want := range map[string]string{
		"plot.png":                        "plot.png",
		"../../.bashrc":                   "bashrc",
		"/home/ada/.ssh/authorized_keys":  "authorized_keys",
		`C:\Users\ada\run.exe`:            "run.exe",
		"file:///tmp/a b.txt":             "a b.txt",
		"..":                              "file.png",
		"...":                             "file.png",
		"a/":                              "file.png",
		"":                                "file.png",
		"-rf":                             "rf",
		"~root":                           "root",
		"ev\u202egnp.exe":                 "evgnp.exe",
		"a\u200b\u2066b.png":              "ab.png",
		"\x1b[2Ja\nb\x00.png":             "[2Jab.png",
		"a\u00a0b":                        "a b",
		"COM1:stream?":                    "COM1stream",
		"bad\xff.png":                     "bad.png",
		strings.Repeat("x", 300) + ".png": strings.Repeat("x", 96) + ".png",
		strings.Repeat("é", 300):          strings.Repeat("é", 50),
	} {
		if got := Name(name, []byte(png)); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestOnlyHarmlessContentMayBeOpened(t *testing.T) {
	for content, want := range map[string]struct {
		extension string
		ok        bool
	}{
		png:                              {".png", true},
		"\xff\xd8\xff":                   {".jpg", true},
		"RIFF\x00\x00\x00\x00WAVE":       {".wav", true},
		"%PDF-1.4":                       {".pdf", true},
		"some words":                     {".txt", true},
		"\ufeffsome words":               {".txt", true},
		"<html><script>":                 {"", false},
		"<!-- x --><script>":             {"", false},
		" \n<svg onload=x>":              {".txt", false},
		"<?xml version='1.0'?>":          {"", false},
		"#!/bin/sh\nrm -rf ~":            {".txt", false},
		"\ufeff\n#!/bin/sh":              {".txt", false},
		"[Desktop Entry]\nExec=sh":       {".txt", false},
		"[InternetShortcut]\nURL=file:/": {".txt", false},
		"\x7fELF\x02\x01\x01\x00":        {"", false},
		"MZ\x90\x00":                     {"", false},
		"PK\x03\x04":                     {"", false},
		"bad \xff text":                  {".txt", false},
		"":                               {".txt", false},
	} {
		if _, extension, ok := Sniff([]byte(content)); ok != want.ok || extension != want.extension {
			t.Errorf("%q: %q, %v", content, extension, ok)
		}
	}
}

func TestSaveReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	victim, link, dangling := filepath.Join(dir, "victim"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	if err := errors.Join(os.WriteFile(victim, []byte("mine"), 0o644), os.Symlink(victim, link),
		os.Symlink(filepath.Join(dir, "none"), dangling)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{victim, link, dangling, dir} {
		if err := Save(name, []byte("x")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Replace(dir, nil); err == nil {
		t.Error("a directory is replaced")
	}
	if err := Replace(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(victim); string(b) != "mine" {
		t.Errorf("a link was followed: %q", b)
	}
	if b, _ := os.ReadFile(link); string(b) != "new" {
		t.Errorf("replaced by %q", b)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".agentctl-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := Save(filepath.Join(dir, "new"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "new")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestTheViewerOpensAPrivateFileNamedByItsContent(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	seen := filepath.Join(t.TempDir(), "seen")
	script := `{ stat -c '%a %A' "$(dirname "$1")"; basename "$1"; cat "$1"; } >` + seen
	v := Viewer{Command: []string{"sh", "-c", script, "sh"}}
	if err := v.Open(t.Context(), []byte("words")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(seen); string(b) != "700 drwx------\nfile-1.txt\nwords" {
		t.Errorf("the opener saw %q", b)
	}
	if err := v.Open(t.Context(), []byte("<html>")); err == nil || !strings.Contains(err.Error(), "text/html") {
		t.Errorf("HTML: %v", err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := v.OpenURL(t.Context(), "file:///etc/passwd"); err == nil {
		t.Error("a file was opened as a page")
	}
	v.Command = []string{"sh", "-c", `printf %s "$1" >` + seen, "sh"}
	if err := v.OpenURL(t.Context(), "https://example.org/?a=1&b"); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(seen); string(b) != "https://example.org/?a=1&b" {
		t.Errorf("the opener saw %q", b)
	}
	v.Command = []string{"sh", "-c", "echo no display >&2; exit 3"}
	if err := v.Open(t.Context(), []byte("words")); err == nil || !strings.Contains(err.Error(), "no display") {
		t.Errorf("a failed opener: %v", err)
	}
	v.Command = []string{"agentctl-no-such-opener"}
	if err := v.Open(t.Context(), []byte("words")); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("no opener: %v", err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}
