package llm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentctl/internal/picture"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
)

// The bytes of images and other files are blobs of the session. The conversation has their ids: a
// change of the state moves new bytes to blobs, and a request reads them back.

// imageBound is the largest image that a model gets. Providers take files of several megabytes, but a
// request has all images of its conversation.
var imageBound = picture.Bound{Side: picture.MaxSide, Bytes: 1 << 20}

// Limits of the files of a conversation. At a limit the oldest files are left out until three
// quarters remain, so that most requests begin as the one before.
const (
	// In base64 they fit the 20 MB of a request that ai.google.dev/gemini-api/docs/image-understanding
	// allows. Other providers allow more.
	maxFileBytes = 12 << 20

	// As platform.claude.com/docs/en/build-with-claude/vision allows in a request. Other providers allow
	// more.
	maxFileCount = 100
)

// Limits of the files in an exported state, which is part of a message.
const (
	maxExportedBytes = 192 << 10
	maxExported      = 24
)

// A fileEdit changes a file. A note replaces the file; empty: the file stays.
type fileEdit func(f *model.File) (note string)

// apply returns a file after the edit. changed: it is not as before.
func (edit fileEdit) apply(f *model.File) (out *model.File, note string, changed bool) {
	c := *f
	note = edit(&c)
	sameData := len(c.Data) == len(f.Data) && (len(c.Data) == 0 || &c.Data[0] == &f.Data[0])
	return &c, note, note != "" || c.Blob != f.Blob || !sameData
}

// editParts applies an edit to the files of parts and of their results. It returns the same parts if
// nothing has changed, else a copy.
func editParts(parts []model.Part, edit fileEdit) []model.Part {
	out := parts
	for i, p := range parts {
		changed := false
		switch {
		case p.File != nil:
			var note string
			if p.File, note, changed = edit.apply(p.File); note != "" {
				p = model.Part{Type: model.Text, Text: note}
			}
		case p.Result != nil:
			p.Result, changed = editResult(p.Result, edit)
		}
		if !changed {
			continue
		}
		if &out[0] == &parts[0] {
			out = slices.Clone(parts)
		}
		out[i] = p
	}
	return out
}

// editResult is editParts for a result.
func editResult(r *model.Result, edit fileEdit) (out *model.Result, changed bool) {
	c := *r
	c.Files = nil
	for i := range r.Files {
		f, note, edited := edit.apply(&r.Files[i])
		if changed = changed || edited; note != "" {
			c.Text = strings.TrimPrefix(c.Text+"\n"+note, "\n")
		} else {
			c.Files = append(c.Files, *f)
		}
	}
	if !changed {
		return r, false
	}
	return &c, true
}

// editMessages is editParts for messages. It returns a copy.
func editMessages(messages []model.Message, edit fileEdit) []model.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Parts = editParts(out[i].Parts, edit)
	}
	return out
}

// editFiles applies an edit to the files of the conversation, then to the files of the results of the
// current calls.
func (s *state) editFiles(edit fileEdit) {
	for i := range s.Conversation {
		s.Conversation[i].Parts = editParts(s.Conversation[i].Parts, edit)
	}
	if s.Turn == nil {
		return
	}
	for i := range s.Turn.Calls {
		if c := &s.Turn.Calls[i]; c.Result != nil {
			c.Result, _ = editResult(c.Result, edit)
		}
	}
}

// leftOut is the note in the place of a file.
func leftOut(f *model.File, why string) string {
	return fmt.Sprintf("[%s was left out: %s]", f.Name, why)
}

// fitImages returns an edit that scales images down to what models take and leaves out those that it
// cannot. It adds the names of those to left, with the reasons.
func fitImages(ctx context.Context, left *[]string) fileEdit {
	return func(f *model.File) string {
		if !f.IsImage() || len(f.Data) == 0 {
			return ""
		}
		data, mediaType, err := picture.Fit(ctx, f.Data, imageBound)
		if err != nil {
			*left = append(*left, fmt.Sprintf("%s (%v)", f.Name, err))
			return leftOut(f, err.Error())
		}
		f.Data, f.MediaType = data, mediaType
		return ""
	}
}

// takeFiles moves the bytes of files from the state to blobs.
func (s *state) takeFiles() (blobs []agent.Blob) {
	s.editFiles(func(f *model.File) string {
		if len(f.Data) > 0 {
			b := agent.NewBlob(f.MediaType, f.Data)
			blobs = append(blobs, b)
			f.Blob, f.Bytes, f.Data = b.ID, int64(len(f.Data)), nil
		}
		return ""
	})
	return blobs
}

// boundFiles leaves out the oldest files beyond the limits of a conversation, and returns their names.
func (s *state) boundFiles() (left []string) {
	var size, count int64
	s.editFiles(func(f *model.File) string {
		if f.Blob != "" {
			size, count = size+f.Bytes, count+1
		}
		return ""
	})
	if size <= maxFileBytes && count <= maxFileCount {
		return nil
	}
	s.editFiles(func(f *model.File) string {
		if f.Blob == "" || size <= maxFileBytes*3/4 && count <= maxFileCount*3/4 {
			return ""
		}
		size, count, left = size-f.Bytes, count-1, append(left, f.Name)
		return leftOut(f, "newer files need the space. Read it again if you need it")
	})
	return left
}

const lostFile = "it is lost"

// A fileLoader reads the bytes of files from blobs.
type fileLoader struct {
	host agent.Host
	lost map[string]string // ids of blobs that are lost, with names of their files
	err  error
}

// edit returns an edit that reads the bytes of files. Lost files are left out.
func (l *fileLoader) edit(ctx context.Context) fileEdit {
	return func(f *model.File) string {
		if f.Blob == "" || l.err != nil {
			return ""
		}
		b, err := l.host.Blob(ctx, f.Blob)
		switch protocol.CodeOf(err) {
		case "":
			f.Data = b.Data
		case protocol.CodeNotFound, protocol.CodeCorrupt:
			if l.lost == nil {
				l.lost = map[string]string{}
			}
			l.lost[f.Blob] = f.Name
			return leftOut(f, lostFile)
		default:
			l.err = fmt.Errorf("read %s: %w", f.Name, err)
		}
		return ""
	}
}

// loadFiles gives a request the bytes of its files. Lost files are forgotten, and reported once.
func (a *Agent) loadFiles(ctx context.Context, r *model.Request) error {
	l := fileLoader{host: a.host}
	r.Messages = editMessages(r.Messages, l.edit(ctx))
	if l.err != nil || len(l.lost) == 0 {
		return l.err
	}
	err := a.update(a.host, func(s *state) {
		s.editFiles(func(f *model.File) string {
			if _, ok := l.lost[f.Blob]; ok {
				return leftOut(f, lostFile)
			}
			return ""
		})
	})
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Values(l.lost))
	return warn(a.host, "lost, and not sent to the model: "+strings.Join(names, ", "))
}

// warn shows a warning to users.
func warn(host agent.Host, text string) error {
	return host.Emit(agent.Event{
		Type: protocol.Notice, Data: protocol.NoticeData{Level: protocol.LevelWarning, Message: text},
	})
}

// includeFiles gives a state the bytes of its newest files, with images scaled down to what a message
// takes. It leaves out the others, and returns their names. The conversation is copied.
func (s *state) includeFiles(ctx context.Context, host agent.Host) (left []string, err error) {
	s.Conversation = slices.Clone(s.Conversation)
	if s.Turn != nil {
		turn := *s.Turn
		turn.Calls, s.Turn = slices.Clone(turn.Calls), &turn
	}
	count := 0
	s.editFiles(func(f *model.File) string {
		if f.Blob != "" {
			count++
		}
		return ""
	})
	older := max(0, count-maxExported)
	each := picture.Bound{Side: imageBound.Side, Bytes: maxExportedBytes / max(1, count-older)}
	l := fileLoader{host: host}
	load := l.edit(ctx)
	s.editFiles(func(f *model.File) string {
		if f.Blob == "" {
			return ""
		}
		if older--; older >= 0 {
			left = append(left, f.Name)
			return leftOut(f, noSpace)
		}
		note := load(f)
		f.Blob, f.Bytes = "", 0
		if len(f.Data) <= each.Bytes {
			return note
		}
		data, mediaType, err := picture.Fit(ctx, f.Data, each)
		if err != nil { // also of another file
			left = append(left, f.Name)
			return leftOut(f, noSpace)
		}
		f.Data, f.MediaType = data, mediaType
		return ""
	})
	return left, l.err
}

const noSpace = "the exported state had no space for it"

// loadBlobs returns the blobs of the files of a state. It leaves out lost files.
func (s *state) loadBlobs(ctx context.Context, host agent.Host) ([]agent.Blob, error) {
	blobs := s.takeFiles() // of a state from before blobs
	l := fileLoader{host: host}
	load := l.edit(ctx)
	s.editFiles(func(f *model.File) string {
		if slices.ContainsFunc(blobs, func(b agent.Blob) bool { return b.ID == f.Blob }) {
			return ""
		}
		note := load(f)
		if f.Data != nil {
			blobs = append(blobs, agent.Blob{ID: f.Blob, MediaType: f.MediaType, Data: f.Data})
			f.Data = nil
		}
		return note
	})
	return blobs, l.err
}
