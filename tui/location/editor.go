package location

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// EditorArguments returns the arguments with which an editor opens a file at a place. command is
// the command line of the editor. Editors that are not known open the file without a line. The file
// must be an absolute path, so that it cannot be taken for an option.
func EditorArguments(command, file string, line, column int) []string {
	if line <= 0 {
		return []string{file}
	}
	at := strconv.Itoa(line)
	switch editorName(command) {
	case "vi", "vim", "nvim", "gvim", "mvim", "view", "neovide", "less", "mg", "joe", "jed", "ne":
		return []string{"+" + at, file}
	case "nano", "pico":
		return []string{"+" + at + withColumn(",", column), file}
	case "emacs", "emacsclient", "kak", "micro":
		return []string{"+" + at + withColumn(":", column), file}
	case "code", "code-insiders", "codium", "vscodium", "cursor", "windsurf":
		return []string{"--goto", file + ":" + at + withColumn(":", column)}
	case "hx", "helix", "zed", "zeditor", "subl":
		return []string{file + ":" + at + withColumn(":", column)}
	}
	return []string{file}
}

// withColumn returns a column after a separator, or "" if it is not known.
func withColumn(separator string, column int) string {
	if column <= 0 {
		return ""
	}
	return fmt.Sprint(separator, column)
}

// editorName returns the name of the program in a command line, without variables before it.
func editorName(command string) string {
	for _, word := range strings.Fields(command) {
		word = strings.Trim(word, `"'`)
		name := strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
		if name == "env" || strings.Contains(word, "=") {
			continue
		}
		return name
	}
	return ""
}
