package main

import (
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
)

// maxMessage bounds the attachments and the text of a message, encoded. The rest of an event is for
// what the server adds.
const maxMessage = protocol.MaxEvent - 8<<10

// sniffLength is the number of bytes that tell the type of a file.
const sniffLength = 512

// addAttachFlag adds --attach.
func addAttachFlag(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVar(files, "attach", nil, "attach `FILE`, an image or any other; repeatable")
}

// An attachment is a file to send with a message.
type attachment struct {
	name      string // as the user gave it
	path      string // absolute
	mediaType string
	size      int64
	data      []byte // all of it, or its start if it is larger than a message
}

// readAttachments reads files. An error is wrong usage: nothing was sent.
func readAttachments(names []string) ([]attachment, error) {
	var list []attachment
	for _, name := range names {
		a, err := readAttachment(name)
		if err != nil {
			return nil, exit.Usagef("--attach %s: %w", name, err)
		}
		list = append(list, a)
	}
	return list, nil
}

func readAttachment(name string) (attachment, error) {
	info, err := os.Stat(name) // before opening: a pipe would block
	switch {
	case err != nil:
		return attachment{}, pathCause(err)
	case info.IsDir():
		return attachment{}, errors.New("is a directory: attach its files, or an archive of it")
	case !info.Mode().IsRegular():
		return attachment{}, errors.New("is not a regular file")
	case info.Size() == 0:
		return attachment{}, errors.New("the file is empty")
	}
	a := attachment{name: name, size: info.Size()}
	if a.path, err = filepath.Abs(name); err != nil {
		return attachment{}, pathCause(err)
	}
	f, err := os.Open(name)
	if err != nil {
		return attachment{}, pathCause(err)
	}
	defer f.Close()
	if a.data, err = io.ReadAll(io.LimitReader(f, maxMessage+1)); err != nil {
		return attachment{}, pathCause(err)
	}
	a.size = max(a.size, int64(len(a.data))) // it may have grown
	a.mediaType = mediaType(name, a.data)
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

// mediaType returns the type of a file by its content, or by its name if the content is not known.
// Text without a type of its own is text/plain: names are not reliable, .ts is also a video.
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
func (a *attachment) isText() bool {
	return strings.HasPrefix(a.mediaType, "text/") && utf8.Valid(a.data)
}

// messageParts returns attachments as parts of a message with a text. Text and images are part of
// the message. With a server on this machine, whose agents have the same files, everything else is
// a link to the file.
func messageParts(text string, list []attachment, local bool) ([]protocol.Part, error) {
	var parts []protocol.Part
	room := maxMessage - len(protocol.MustEncode(text))
	for i := range list {
		a := &list[i]
		p := a.part()
		size := len(protocol.MustEncode(p))
		complete := a.size == int64(len(a.data)) && size <= room
		switch {
		case complete && (!local || p.Text != "" || p.Type == "image"):
		case local:
			p.Text, p.URL = "", a.fileURL()
			size = len(protocol.MustEncode(p))
		default:
			return nil, exit.Errorf(exit.Failure, protocol.CodeTooLarge,
				"--attach %s: %d bytes are too many: a message holds about %d KiB of text, or %d KiB of other files",
				a.name, a.size, maxMessage>>10, maxMessage*3/4>>10,
			).WithHint("put the file where the agent can read it, and name it in the message")
		}
		room -= size
		parts = append(parts, p)
	}
	return parts, nil
}

// part returns the attachment as a part that contains it.
func (a *attachment) part() protocol.Part {
	p := protocol.Part{Type: "file", Name: filepath.Base(a.name), MediaType: a.mediaType}
	switch {
	case a.isText():
		p.Text = string(a.data)
		return p
	case strings.HasPrefix(a.mediaType, "image/"):
		p.Type = "image"
	}
	p.URL = "data:" + a.mediaType + ";base64," + base64.StdEncoding.EncodeToString(a.data)
	return p
}

// fileURL returns the file URL of the attachment.
func (a *attachment) fileURL() string {
	path := filepath.ToSlash(a.path)
	if !strings.HasPrefix(path, "/") { // a drive letter
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
