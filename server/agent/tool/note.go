package tool

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"agentctl/internal/gitbranch"
	"agentctl/internal/instructions"
	"agentctl/server/agent/llm"
	"agentctl/server/policy"
)

// Notes implements llm.Toolbox.
func (b *Toolbox) Notes(most int) []llm.Note {
	notes := []llm.Note{{Of: "environment", Text: b.environmentText(), Once: true}}
	files, left := instructions.Read(instructions.Place{
		Dir: b.dir.real, Global: b.options.Instructions, Most: most, May: func(path string) error {
			if policy.Internal(path, b.dir.own) {
				return errors.New("it is a file of agentctl's server")
			}
			return b.dir.box.May(path, false)
		},
	})
	for _, f := range files {
		about := "Instructions of the file " + f.Path
		switch {
		case f.By != "":
			about += ", which " + f.By + " imports"
		case f.User:
			about += ", of the user for all directories"
		}
		notes = append(notes, llm.Note{Of: f.Path, Text: about + ":\n\n" + f.Text})
	}
	if left != nil {
		notes = append(notes, llm.Note{Of: "instructions left out", Text: fmt.Sprintf("Instructions have more than "+
			"%d bytes. Left out or cut are: %s. Read what matters for your work.", most, strings.Join(left, ", "))})
	}
	return notes
}

// usefulPrograms are those whose presence decides how a model works.
var usefulPrograms = []string{
	"git", "rg", "fd", "jq", "gh", "make", "go", "node", "npm", "python3", "uv", "cargo", "java", "docker",
}

// environmentText describes where the session works. It runs no program: git would run those that a
// repository names.
func (b *Toolbox) environmentText() string {
	var s strings.Builder
	fmt.Fprintf(&s, "System: %s on %s, shell %s\n", runtime.GOOS, runtime.GOARCH, shellCommand("")[0])
	fmt.Fprintf(&s, "Date: %s\nWorking directory: %s\n", time.Now().Format("Monday, 2 January 2006"), b.dir.path)
	switch branch, operation := gitbranch.Of(b.dir.real), gitbranch.Operation(b.dir.real); {
	case branch == "":
		s.WriteString("Git: not a repository, or without a branch\n")
	case operation != "":
		fmt.Fprintf(&s, "Git: branch %s, in the middle of a %s\n", branch, operation)
	default:
		fmt.Fprintf(&s, "Git: branch %s\n", branch)
	}
	var found []string
	for _, name := range usefulPrograms {
		if b.hasProgram(name) {
			found = append(found, name)
		}
	}
	fmt.Fprintf(&s, "Programs found: %s", strings.Join(found, ", "))
	return s.String()
}

// hasProgram reports whether commands find a program.
func (b *Toolbox) hasProgram(name string) bool {
	path := ""
	for _, variable := range b.options.Env {
		if key, value, _ := strings.Cut(variable, "="); strings.EqualFold(key, "PATH") {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}
