//go:build release && linux

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// distEnv names the directory dist of a release. These tests read what it has for this system.
const distEnv = "AGENTCTL_TEST_DIST"

// dist returns the path of the only file of a release that matches a pattern.
func dist(t *testing.T, pattern string) string {
	t.Helper()
	dir := os.Getenv(distEnv)
	if dir == "" {
		t.Fatalf("%s names no directory; `.ci/run release` makes one", distEnv)
	}
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s: %q, %v", pattern, dir, found, err)
	}
	return found[0]
}

// forThisSystem returns the path of the file with an extension for this system.
func forThisSystem(t *testing.T, extension string) string {
	t.Helper()
	return dist(t, "agentctl_*_linux_"+runtime.GOARCH+extension)
}

// output returns what a program prints to stdout, and fails the test if it fails.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out, &stderr)
	}
	return string(out)
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	return output(t, exec.CommandContext(t.Context(), name, args...))
}

// A file is an entry of an archive.
type file struct {
	header *tar.Header
	text   []byte
}

// readTar reads compressed archives that follow one another, by name of their files.
func readTar(t *testing.T, path string) map[string]file {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]file{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			files[strings.TrimPrefix(h.Name, "./")] = file{h, text}
		}
	}
}

// The archive has all that the README names, and the same bytes whenever it is built: each file has
// the time of the commit.
func TestTheArchiveHasDocumentsLicencesAndCompletions(t *testing.T) {
	files := readTar(t, forThisSystem(t, ".tar.gz"))
	for name, want := range map[string]string{
		"LICENSE":                         "MIT License",
		"README.md":                       "# agentctl",
		"CONTRIBUTING.md":                 "# Contributing",
		"ARCHITECTURE.md":                 "# Architecture",
		"THIRD_PARTY_LICENSES":            "\ngithub.com/coder/websocket v",
		"sbom.cdx.json":                   `"pkg:golang/github.com/coder/websocket@v`,
		"man/man1/agentctl.1":             ".TH ",
		"man/man1/agentctl-queue-edit.1":  ".TH ",
		"man/man5/agentctl-config.5":      ".TH ",
		"man/man7/agentctl-protocol.7":    ".TH ",
		"completions/agentctl.bash":       "complete ",
		"completions/_agentctl":           "#compdef agentctl",
		"completions/agentctl.fish":       "complete ",
		"completions/agentctl.ps1":        "Register-ArgumentCompleter",
		"docs/protocol.md":                "# ",
		"docs/openapi.json":               `"openapi"`,
		"docs/server.json":                "{",
		"docs/tutorial.script":            `{"on":`,
		"docs/cookbook/nightly-batch.sh":  "agentctl ",
		"docs/dialects/agentloop.md":      "# ",
		"docs/screenshots/session.svg":    "<svg",
		"docs/screenshots/tour.svg":       "<svg",
		"packaging/agentctl@.service":     "ExecStart=agentctl serve",
		"packaging/agentctl.server.plist": "serve",
		"packaging/Containerfile":         "COPY agentctl ",
	} {
		if !strings.Contains(string(files[name].text), want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
	first := files["LICENSE"].header
	for name, f := range files {
		h := f.header
		if !h.ModTime.Equal(first.ModTime) || h.Uname != "root" || h.Gname != "root" {
			t.Errorf("%s is of %s:%s at %s, LICENSE at %s", name, h.Uname, h.Gname, h.ModTime, first.ModTime)
		}
		if (filepath.Ext(name) == ".sh" || name == "agentctl") != (h.Mode&0o111 != 0) {
			t.Errorf("%s has mode %o", name, h.Mode)
		}
	}
}

// TestEverySystemHasAnArchive reads the checksums, which list what a release publishes.
func TestEverySystemHasAnArchive(t *testing.T) {
	text, err := os.ReadFile(dist(t, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{ // .ci/run builds these
		"linux_" + runtime.GOARCH + ".tar.gz", "darwin_arm64.tar.gz", "windows_amd64.zip",
		"linux_" + runtime.GOARCH + ".deb", "linux_" + runtime.GOARCH + ".rpm", "linux_" + runtime.GOARCH + ".apk",
	} {
		if !strings.Contains(string(text), "_"+target+"\n") {
			t.Errorf("the release has no %s", target)
		}
	}
}

// listed are the files of a package, by format.
var listed = map[string]func(t *testing.T, path string) []string{
	".deb": func(t *testing.T, path string) (names []string) {
		for line := range strings.Lines(run(t, "dpkg-deb", "-c", path)) {
			fields := strings.Fields(line)
			names = append(names, strings.TrimPrefix(fields[len(fields)-1], "."))
		}
		return names
	},
	".rpm": func(t *testing.T, path string) []string {
		return strings.Fields(run(t, "rpm", "-qlp", "--nosignature", path))
	},
	".apk": func(t *testing.T, path string) (names []string) {
		for name := range readTar(t, path) {
			names = append(names, "/"+name)
		}
		return names
	},
}

func TestThePackagesHaveTheSameFiles(t *testing.T) {
	var all [][]string
	for _, extension := range []string{".deb", ".rpm", ".apk"} {
		names := listed[extension](t, forThisSystem(t, extension))
		names = slices.DeleteFunc(names, func(name string) bool {
			return strings.HasSuffix(name, "/") || strings.HasPrefix(name, "/.") // directories, records of apk
		})
		slices.Sort(names)
		all = append(all, names)
		for _, want := range []string{
			"/usr/bin/agentctl", "/usr/lib/systemd/system/agentctl@.service",
			"/usr/share/man/man1/agentctl-new.1", "/usr/share/man/man5/agentctl-config.5",
			"/usr/share/bash-completion/completions/agentctl", "/usr/share/zsh/site-functions/_agentctl",
			"/usr/share/fish/vendor_completions.d/agentctl.fish", "/usr/share/doc/agentctl/copyright",
			"/usr/share/doc/agentctl/THIRD_PARTY_LICENSES", "/usr/share/doc/agentctl/sbom.cdx.json",
			"/usr/share/doc/agentctl/README.md", "/usr/share/doc/agentctl/docs/cookbook/fix-tests.sh",
		} {
			if !slices.Contains(names, want) {
				t.Errorf("the %s lacks %s", extension, want)
			}
		}
	}
	for _, names := range all[1:] {
		if !slices.Equal(names, all[0]) {
			t.Errorf("the packages have different files:\n%q\n%q", all[0], names)
		}
	}
}

// The contents of the packages have the time of the commit: the same commit gives the same bytes.
func TestThePackagesHaveTheTimeOfTheCommit(t *testing.T) {
	archive, files := readTar(t, forThisSystem(t, ".tar.gz")), readTar(t, forThisSystem(t, ".apk"))
	commit := archive["LICENSE"].header.ModTime
	for name, f := range files {
		if strings.HasPrefix(name, ".") {
			continue // records of apk
		}
		if !f.header.ModTime.Equal(commit) {
			t.Errorf("%s is of %s, the commit of %s", name, f.header.ModTime, commit)
		}
		program := strings.HasSuffix(name, ".sh") || name == "usr/bin/agentctl"
		if program != (f.header.Mode&0o111 != 0) {
			t.Errorf("%s has mode %o", name, f.header.Mode)
		}
	}
}

func TestTheCaskNamesTheArchivesOfAllSystems(t *testing.T) {
	cask, err := os.ReadFile(dist(t, "homebrew/Casks/agentctl.rb"))
	if err != nil {
		t.Fatal(err)
	}
	checksums, err := os.ReadFile(dist(t, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	archives := 0
	for line := range strings.Lines(string(checksums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if !strings.HasSuffix(name, ".tar.gz") {
			continue
		}
		archives++
		_, system, _ := strings.Cut(name, "_linux_")
		if system == "" {
			_, system, _ = strings.Cut(name, "_darwin_")
		}
		sha := fmt.Sprintf("sha256 %q", sum)
		if !strings.Contains(string(cask), sha) || !strings.Contains(string(cask), system+`"`) {
			t.Errorf("the cask lacks %s %s", sum, name)
		}
	}
	for _, want := range []string{
		`binary "agentctl"`, `manpage "man/man1/agentctl.1"`, "bash_completion", "zsh_completion", "fish_completion",
	} {
		if archives == 0 || !strings.Contains(string(cask), want) {
			t.Errorf("%d archives; the cask lacks %s", archives, want)
		}
	}
}

// The Containerfile copies files of the archive only. CI has no image to build it on.
func TestTheContainerfileCopiesFilesOfTheArchive(t *testing.T) {
	files := readTar(t, forThisSystem(t, ".tar.gz"))
	copied := 0
	for line := range strings.Lines(string(files["packaging/Containerfile"].text)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "COPY" {
			continue
		}
		for _, name := range fields[1 : len(fields)-1] {
			copied++
			if files[name].header == nil {
				t.Errorf("the archive lacks %s", name)
			}
		}
	}
	if copied < 2 {
		t.Errorf("%d files are copied", copied)
	}
}

// manVerb is a verb in the help of the program.
var manVerb = regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`)

// Every verb has a page, and both formatters of man pages read all pages without a warning.
func TestTheManPagesAreCompleteAndWellFormed(t *testing.T) {
	dir := t.TempDir()
	run(t, "tar", "xzf", forThisSystem(t, ".tar.gz"), "-C", dir, "--no-same-owner")
	pages, err := filepath.Glob(filepath.Join(dir, "man/man?/*"))
	if err != nil || len(pages) < 60 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	help := run(t, filepath.Join(dir, "agentctl"), "help", "verbs")
	for _, m := range manVerb.FindAllStringSubmatch(help, -1) {
		if m[1] != "help" && !slices.Contains(pages, filepath.Join(dir, "man/man1/agentctl-"+m[1]+".1")) {
			t.Errorf("%s has no page", m[1])
		}
	}
	run(t, "mandoc", append([]string{"-T", "lint", "-W", "warning,stop"}, pages...)...)
	for _, page := range pages {
		cmd := exec.CommandContext(t.Context(), "groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-z", page)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff: %v\n%s", err, out)
		}
	}
}
