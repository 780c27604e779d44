package attachment

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"agentctl/protocol"
)

// maxMessage bounds the attachments and the text of a message, encoded. The rest of an event is
// room for fields that the server adds.
const maxMessage = protocol.MaxEvent - 8<<10

// sniffLength is the number of bytes that determine the type of a file.
const sniffLength = 512

// File is a file to send with a message.
type File struct {
	Name      string // base name
	MediaType string
	Size      int64
	path      string // absolute; "": it is not on disk
	data      []byte // all of it, or its start if it is larger than a message
}

// Read reads a file. The error does not repeat the name.
func Read(name string) (File, error) {
	info, err := os.Stat(name) // before opening: a pipe would block
	switch {
	case err != nil:
		return File{}, pathCause(err)
	case info.IsDir():
		return File{}, errors.New("is a directory: attach its files, or an archive of it")
	case !info.Mode().IsRegular():
		return File{}, errors.New("is not a regular file")
	case info.Size() == 0:
		return File{}, errors.New("the file is empty")
	}
	a := File{Name: filepath.Base(name), Size: info.Size()}
	if a.path, err = filepath.Abs(name); err != nil {
		return File{}, pathCause(err)
	}
	f, err := os.Open(name)
	if err != nil {
		return File{}, pathCause(err)
	}
	defer f.Close()
	if a.data, err = io.ReadAll(io.LimitReader(f, maxMessage+1)); err != nil {
		return File{}, pathCause(err)
	}
	a.Size = max(a.Size, int64(len(a.data))) // it may have grown
	a.MediaType = mediaType(name, a.data)
	return a, nil
}

// pathCause returns the cause of an error about a path, without the path.
func pathCause(err error) error {
	var e *os.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// mediaType returns the type of a file by its content, or by its name if the content is not
// recognized. Text without a specific type is text/plain: names are not reliable, .ts is also a
// video.
func mediaType(name string, data []byte) string {
	sniffed, _, _ := strings.Cut(http.DetectContentType(data[:min(len(data), sniffLength)]), ";")
	if sniffed == "application/octet-stream" {
		named, _, _ := strings.Cut(mime.TypeByExtension(filepath.Ext(name)), ";")
		if named != "" && !strings.HasPrefix(named, "text/") {
			return named
		}
	}
	return sniffed
}

// isText reports whether the attachment is text that a message can hold as such.
func (a *File) isText() bool {
	return strings.HasPrefix(a.MediaType, "text/") && utf8.Valid(a.data)
}

// Parts returns files as parts of a message with a text. Text and images are part of the message:
// images that are too large are scaled down. With a server on this machine, whose agents have the same
// files, everything else is a link to the file.
func Parts(text string, list []File, local bool) ([]protocol.Part, error) {
	var parts []protocol.Part
	room := maxMessage - len(protocol.MustEncode(text))
	for i := range list {
		a := &list[i]
		p := a.part()
		size := len(protocol.MustEncode(p))
		complete := a.Size == int64(len(a.data)) && size <= room
		if !complete && a.isImage() {
			if scaled, ok := a.scaledDown(room / images(list[i:])); ok {
				p, complete = scaled.part(), true
				size = len(protocol.MustEncode(p))
			}
		}
		switch {
		case complete && (!local || a.path == "" || p.Text != "" || p.Type == "image"):
		case local && a.path != "":
			p.Text, p.URL = "", a.fileURL()
			size = len(protocol.MustEncode(p))
		default:
			return nil, &TooLargeError{a.Name, a.Size}
		}
		room -= size
		parts = append(parts, p)
	}
	return parts, nil
}

// TooLargeError is the error of a file that a message cannot hold.
type TooLargeError struct {
	Name string
	Size int64
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: %d bytes are too many: a message holds about %d KiB of text, or %d KiB of other files",
		e.Name, e.Size, maxMessage>>10, maxMessage*3/4>>10)
}

// part returns the attachment as a part that contains it.
func (a *File) part() protocol.Part {
	p := protocol.Part{Type: "file", Name: a.Name, MediaType: a.MediaType}
	switch {
	case a.isText():
		p.Text = string(a.data)
		return p
	case a.isImage():
		p.Type = "image"
	}
	p.URL = "data:" + a.MediaType + ";base64," + base64.StdEncoding.EncodeToString(a.data)
	return p
}

// fileURL returns the file URL of the attachment.
func (a *File) fileURL() string {
	path := filepath.ToSlash(a.path)
	if !strings.HasPrefix(path, "/") { // a drive letter
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// FromBytes returns data that is in no file as a file to send with a message. If it is more than a
// message holds, [Parts] returns an error.
func FromBytes(name string, data []byte) File {
	return File{Name: name, Size: int64(len(data)), data: data, MediaType: mediaType(name, data)}
}

// storedFile is a file in JSON, with the content that was read.
type storedFile struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Size      int64  `json:"size"`
	Path      string `json:"path,omitempty"`
	Data      []byte `json:"data"`
}

// MarshalJSON returns the file with the content that was read.
func (a File) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedFile{a.Name, a.MediaType, a.Size, a.path, a.data})
}

// UnmarshalJSON sets the file to a stored one. It reads no file.
func (a *File) UnmarshalJSON(b []byte) error {
	var s storedFile
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*a = File{s.Name, s.MediaType, s.Size, s.Path, s.Data}
	return nil
}
