package download

import (
	"path/filepath"
	"strings"
	"unicode"
)

// maxName bounds a proposed name, in bytes.
const maxName = 100

// Name returns a name to propose for a file: the last element of the agent's name or path, cleaned,
// or else "file" with the extension of the content. It is never hidden and never a path.
func Name(name string, data []byte) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar || !unicode.IsGraphic(r) || strings.ContainsRune(`<>:"|?*`, r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.TrimSpace(name), ".- ~")
	name = strings.TrimRight(name, ". ")
	if extension := filepath.Ext(name); len(name) > maxName && len(extension) < maxName/2 {
		name = strings.ToValidUTF8(name[:maxName-len(extension)], "") + extension
	} else if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	if name == "" {
		_, extension, _ := Sniff(data)
		return "file" + extension
	}
	return name
}
