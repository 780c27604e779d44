package commandline

import (
	"iter"
	"slices"
	"strings"
)

// A File is a word that may name a file.
type File struct {
	Word Word
	Dirs []string // that it may be relative to, absolute; with Unknown: any
}

// Files returns the words of a line that may name files.
func (l *Line) Files() iter.Seq[File] {
	return func(yield func(File) bool) {
		for i := range l.Commands {
			r := &l.Commands[i]
			if quiet(program(r.Words[0])) {
				continue
			}
			for at, w := range r.Words {
				if (at > 0 || strings.Contains(w.Text, "/")) && !yield(File{w, r.Dirs}) {
					return
				}
			}
		}
		for _, r := range l.redirected {
			for _, w := range r.Words {
				if !yield(File{w, r.Dirs}) {
					return
				}
			}
		}
	}
}

// Names returns the parts of the word that may be names of files: all of it, the values of flags
// and settings, and the parts of a text in another language. A home directory is Unknown.
func (f File) Names() []string {
	text := f.Word.Text
	names := []string{text}
	if len(text) > 2 && text[0] == '-' {
		names = append(names, text[2:])
	}
	for i, c := range text {
		if strings.ContainsRune("=:,@", c) {
			names = append(names, text[i+1:])
		}
	}
	if !isLiteralText(strings.ReplaceAll(text, unknownText, "")) {
		names = append(names, Names(text)...)
	}
	for i, name := range names {
		if strings.HasPrefix(name, "~") {
			_, rest, _ := strings.Cut(name, "/")
			names[i] = "/" + unknownText + "/" + rest
		}
		names[i] = strings.TrimPrefix(names[i], "file://")
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
