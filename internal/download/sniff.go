package download

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf8"
)

// extensions are those of the types that may be opened, except for text.
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
