package download

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/internal/atomicfile"
)

// Save writes a new file that only the user can read. The error is fs.ErrExist if there is anything
// of that name, even a link to nothing.
func Save(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("save: %w", err), os.Remove(name))
	}
	return nil
}

// Replace writes a file and replaces an existing one. A link is replaced, not followed.
func Replace(name string, data []byte) error {
	if info, err := os.Lstat(name); err == nil && info.IsDir() {
		return fmt.Errorf("save: %w", &fs.PathError{Op: "replace", Path: name, Err: errors.New("is a directory")})
	}
	if err := atomicfile.Write(name, data, 0o600); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return nil
}

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

// extensions are the file extensions of the types that may be opened, except for text.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp",
	"audio/wave": ".wav", "audio/mpeg": ".mp3", "audio/aiff": ".aiff", "audio/basic": ".au", "audio/midi": ".mid",
	"application/pdf": ".pdf",
}

// Sniff returns the type of a content, and the extension of a file with it. ok reports whether the
// file may be opened: an image, audio, PDF or plain text. Markup, scripts, desktop entries and
// everything else may not.
func Sniff(data []byte) (mediaType, extension string, ok bool) {
	mediaType, _, _ = strings.Cut(http.DetectContentType(data), ";")
	if mediaType != "text/plain" {
		extension, ok = extensions[mediaType]
		return mediaType, extension, ok
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	for _, start := range []string{"#!", "<", "[Desktop Entry]", "[InternetShortcut]"} {
		if bytes.HasPrefix(text, []byte(start)) {
			return mediaType, ".txt", false
		}
	}
	return mediaType, ".txt", len(data) > 0 && utf8.Valid(data)
}
